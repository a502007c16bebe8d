"""Resuming tomorrow: the store is the state, so going on is calling again.

The first call stops after a few trials, as if the machine had been switched off; the second goes on where
it was.
"""

import sys

from somatize import Store
from somatize.study import Sampler, Space, finished, search

STUDY = "resume"
SPACE = Space().real("x", 0.0, 1.0).int("n", 1, 8)


def score(point):
    yield (point["x"] - 0.5) ** 2 + abs(point["n"] - 3)


def main(where="out/resume"):
    seen = []
    for today, total in (("today", 5), ("tomorrow", 12)):
        store = Store(where)
        search(
            score, store, SPACE, Sampler.sobol(seed=0), study=STUDY, total=total, goal="min", progress=False
        )
        seen.append(len(finished(store, study=STUDY)))
        print(f"{today}: {seen[-1]} finished")
    return seen


if __name__ == "__main__":
    main(*sys.argv[1:])
