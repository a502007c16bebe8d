"""Both seed documents run as written, with the numbers they print."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

pytest.importorskip("torch")

SEEDS = Path(__file__).parent / "seeds"


def run_cells(name: str) -> tuple[list[object], list[str]]:
    """Runs a document cell by cell in one namespace: each cell's last value, and what it printed."""
    source = (SEEDS / f"{name}.py").read_text()
    scope: dict[str, object] = {"__name__": "__main__"}
    values, printed = [], []
    for cell in source.split("\n# %%\n")[1:]:
        lines: list[str] = []
        scope["print"] = lambda *words, lines=lines: lines.append(" ".join(map(str, words)))
        tree = ast.parse(cell)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, name, "exec"), scope)
        values.append(eval(compile(ast.Expression(last.value), name, "eval"), scope) if last else None)
        printed.append("\n".join(lines))
    return values, printed


@pytest.fixture(scope="module")
def study():
    return run_cells("study")


def test_the_space_prints_as_in_the_document(study):
    values, _ = study
    assert repr(values[1]) == "Space(lr=logreal(0.0001,0.1),width=int(8,64),opt=choice(adam|sgd))"


def test_the_four_sobol_points_are_the_documents_digit_for_digit(study):
    _, printed = study
    assert printed[2].splitlines() == [
        "0 lr=0.002771855228616633,width=44,opt=sgd",
        "1 lr=0.08765375866675294,width=15,opt=adam",
        "2 lr=0.015587287424960756,width=58,opt=sgd",
        "3 lr=0.0004929133080657691,width=29,opt=adam",
    ]


def test_thirty_trials_run_and_sixteen_are_pruned(study):
    _, printed = study
    assert printed[4] == "30 trials, 16 pruned"


def test_importance_is_the_documents_to_the_last_digit(study):
    values, _ = study
    assert values[6] == [
        ("lr", 0.8989010989010989),
        ("opt", 0.2403700850309326),
        ("width", 0.08131868131868132),
    ]


def test_the_three_figures_draw(study):
    values, _ = study
    for figure in (values[5], values[7], values[8]):
        assert figure.to_dict()["data"], "a figure with nothing in it"
