"""A budget of the study's, with workers that come and go.

Three workers start; one is killed in the middle of a trial; a fourth joins late. `total` belongs to the
study: exactly that many trials are finished, and the killed worker's trial is taken over by whoever finds it
silent for `lease` seconds.
"""

import multiprocessing
import sys
import time

from somatize import Store
from somatize.study import Sampler, Space, in_flight, search, trials

STUDY, TOTAL, LEASE = "budget", 24, 2.0
SPACE = Space().real("x", -1.0, 1.0).real("y", -1.0, 1.0)


def bowl(point):
    """Five reports, a little time apart, of a bowl whose bottom is at (0.3, -0.2)."""
    for step in range(5):
        time.sleep(0.02)
        yield (point["x"] - 0.3) ** 2 + (point["y"] + 0.2) ** 2 + 1.0 / (step + 1)


def work(where):
    search(
        bowl, Store(where), SPACE, Sampler.halton(seed=0), study=STUDY, total=TOTAL, goal="min", lease=LEASE,
        progress=False,
    )  # fmt: skip


def main(where="out/budget"):
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=work, args=(where,)) for _ in range(3)]
    for worker in workers:
        worker.start()
    store = Store(where)
    while not in_flight(store, study=STUDY):
        time.sleep(0.01)
    workers[0].kill()
    workers.append(spawn.Process(target=work, args=(where,)))
    workers[-1].start()
    for worker in workers:
        worker.join()
    rows = trials(store, study=STUDY)
    done = {row["trial"] for row in rows if row["state"] == "done"}
    print(f"{len(done)} of {TOTAL} trials finished by {len({row['who'] for row in rows})} workers")
    return done


if __name__ == "__main__":
    main(*sys.argv[1:])
