"""The example in which a node asks a real tool over several turns."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

from somatize import Graph
from somatize.errors import DriverError

EXAMPLE = Path(__file__).parents[2] / "examples" / "tool_node.py"
pytestmark = pytest.mark.skipif(
    not (shutil.which("find") and shutil.which("wc")), reason="needs `find` and `wc`"
)


@pytest.fixture
def tool():
    spec = importlib.util.spec_from_file_location("tool_node", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_node_asks_a_tool_until_it_knows(tool, tmp_path, capsys):
    for name, n_lines in (("a.txt", 2), ("b.txt", 5), ("c.txt", 5)):
        (tmp_path / name).write_text("line\n" * n_lines)
    (tmp_path / "folder").mkdir()
    commands = []

    def driver(asked):
        commands.append(asked)
        return tool.shell(asked)

    g = Graph.somatize(tool.Longest())
    assert g.forward(str(tmp_path), driver=driver) == ("b.txt", 5)
    assert [len(asked) for asked in commands] == [1, 3]
    assert commands[0] == [["find", str(tmp_path), "-maxdepth", "1", "-type", "f"]]
    tool.main(str(tmp_path))
    assert capsys.readouterr().out == "b.txt is the longest, with 5 lines\n"


def test_a_node_that_knows_early_asks_no_more(tool, tmp_path, capsys):
    tool.main(str(tmp_path))
    assert capsys.readouterr().out == "there are no files\n"


def test_a_tool_that_fails_says_why(tool, tmp_path):
    with pytest.raises(DriverError, match="the driver failed to answer node `longest`") as caught:
        tool.main(str(tmp_path / "nowhere"))
    assert "nowhere" in str(caught.value.__cause__)


def test_another_driver_needs_no_tool(tool):
    recorded = iter([["x\ny\n"], ["3 x\n", "7 y\n"]])
    assert Graph.somatize(tool.Longest()).forward("f", driver=lambda asked: next(recorded)) == ("y", 7)
