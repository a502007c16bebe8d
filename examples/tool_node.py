"""A node that asks a real tool, over several turns.

`Longest` wants to know which file of a folder is the longest. It cannot look: a node computes. It answers
`Await` with commands instead, the driver runs them as processes, and the node is called again with what they
printed: first the listing, then one count per file, then it is done. By another driver the same graph asks
a remote machine, or a recording in a test.
"""

import subprocess
import sys
from pathlib import Path

from somatize import Await, Done, Graph, Node


class Folder(Node):
    """Says which folder to look at."""

    def __init__(self, where):
        self.where = where

    def forward(self, input, ctx):
        return self.where if input is None else input


class Longest(Node):
    """The file with the most lines, and how many: `("name", 12)`; None for a folder without files."""

    def forward(self, folder, ctx):
        if ctx.turn == 0:
            return Await([["find", folder, "-maxdepth", "1", "-type", "f"]])
        if ctx.turn == 1:
            self.files = sorted(ctx.results[0].splitlines())
            return Await([["wc", "-l", file] for file in self.files]) if self.files else None
        # `wc` prints the count first; of equals the first by name.
        n_lines = [int(printed.split()[0]) for printed in ctx.results]
        most = max(n_lines)
        return Done((Path(self.files[n_lines.index(most)]).name, most))


class Sentence(Node):
    def forward(self, found, ctx):
        return "there are no files" if found is None else f"{found[0]} is the longest, with {found[1]} lines"


def shell(commands):
    """Runs each command and answers what it printed; a command that fails fails the run, and says why."""
    printed = []
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
        if done.returncode != 0:
            raise RuntimeError(f"`{' '.join(command)}` failed: {done.stderr.strip()}")
        printed.append(done.stdout)
    return printed


def main(where="."):
    g = Graph.somatize(Folder(where) >> Longest() >> Sentence())
    print(g.forward(driver=shell))


if __name__ == "__main__":
    main(*sys.argv[1:])
