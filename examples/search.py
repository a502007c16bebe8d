"""The same study as `widths.py`, in the sugar: an objective is a generator of reports."""

import sys

from widths import SPACE, trained

from somatize import Store
from somatize.study import Pruner, Sampler, best, search


def main(where="out/search", total=30):
    store = Store(where)
    search(
        trained, store, SPACE, Sampler.sobol(seed=0), study="widths", total=total, goal="min",
        pruner=Pruner.median(warmup=4, startup=6),
    )  # fmt: skip
    print(best(store, study="widths"))


if __name__ == "__main__":
    main(*sys.argv[1:])
