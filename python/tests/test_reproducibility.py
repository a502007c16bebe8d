"""The same seeds give the same points, on one process and on seven with kills and restarts."""

import multiprocessing
import random
import time

import pytest

from somatize import Store
from somatize.study import Sampler, Space, finished, search, trials

SPACE = (
    Space()
    .real("lr", 1e-5, 1e-1, log=True)
    .int("width", 8, 512, log=True)
    .choice("opt", ["adam", "sgd", None])
    .real("momentum", 0.0, 0.99, when=("opt", "sgd"))
)
STUDY, TOTAL, LEASE = "same", 60, 0.4
SAMPLERS = [Sampler.sobol(seed=7), Sampler.halton(seed=7), Sampler.random(seed=7)]


def trained(point):
    for step in range(3):
        time.sleep(0.002)
        yield point["lr"] * point["width"] / (step + 1)


def work(where, sampler):
    store = Store(where, durable=False, lease=LEASE)
    search(trained, store, SPACE, sampler, study=STUDY, total=TOTAL, goal="min", progress=False)


@pytest.mark.parametrize("sampler", SAMPLERS, ids=repr)
def test_one_process_and_seven_with_kills_and_restarts_see_the_same_points(tmp_path, sampler):
    work(str(tmp_path / "one"), sampler)
    fork = multiprocessing.get_context("fork")
    where = str(tmp_path / "seven")
    workers = [fork.Process(target=work, args=(where, sampler)) for _ in range(7)]
    for worker in workers:
        worker.start()
    store = Store(where, durable=False, lease=LEASE)
    rng = random.Random(0)
    for _ in range(4):
        time.sleep(0.05)
        k = rng.randrange(7)
        workers[k].kill()
        workers[k].join()
        workers[k] = fork.Process(target=work, args=(where, sampler))
        workers[k].start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    alone = finished(Store(str(tmp_path / "one")), study=STUDY)
    together = finished(store, study=STUDY)
    assert [(row.trial, row.point, row.score) for row in together] == [
        (row.trial, row.point, row.score) for row in alone
    ]
    assert [row.trial for row in together] == list(range(TOTAL))
    # Every record can be worked out again from the trial's number.
    assert all(row.point == sampler.ask(SPACE, row.trial) for row in trials(store, study=STUDY) if row.point)


def test_the_points_are_the_same_in_another_process():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        for sampler in SAMPLERS:
            elsewhere = pool.starmap(ask, [(sampler, trial) for trial in range(8)])
            assert elsewhere == [str(sampler.ask(SPACE, trial)) for trial in range(8)]


def ask(sampler, trial):
    return str(sampler.ask(SPACE, trial))
