"""A study from Python beside Optuna's: ask, take, eight reports, the end; nothing is trained.

Each tool runs the same trials in one process on one file system, and the medians of blocks of trials are
printed as microseconds a trial with the ratio to ours. Run it where nothing else runs:

    python benches/compare/study.py [--trials 300] [--known 10000] [--where /dev/shm]
    python benches/compare/study.py --smoke    a few trials, to see that it runs
"""

import argparse
import statistics
import tempfile
import time
import warnings
from pathlib import Path

from somatize import Store
from somatize.study import DONE, Pruner, Sampler, Space, curves, finished, report, take

N_REPORTS = 8
SPACE = Space().real("lr", 1e-4, 1e-1, log=True).int("width", 8, 64).choice("opt", ["adam", "sgd"])
CURVE = [1.0 / (step + 1) for step in range(N_REPORTS)]


def median_us(run, n, block=1):
    """The median over blocks of calls of `run(k)`, per call, in microseconds.

    Blocks of more than one only where a call is so short that the clock would count: a block is slow as
    soon as one of its calls had to wait for the processor.
    """
    took = []
    for first in range(0, max(n, block), block):
        began = time.perf_counter()
        for k in range(first, first + block):
            run(k)
        took.append((time.perf_counter() - began) / block)
    return statistics.median(took) * 1e6


def ours(store, n, first=0, *, reads=True, judges=True):
    sampler, pruner = Sampler.sobol(seed=0), Pruner.median(goal="min", warmup=4, startup=6)

    def trial(k):
        number = first + k
        known = finished(store, study="bench") if reads else []
        point = sampler.ask(SPACE, number, known)
        which = {"study": "bench", "trial": number, "me": "bench", "goal": "min"}
        assert take(store, point, **which)
        for step in range(1, N_REPORTS + 1):
            report(store, point, CURVE[:step], **which)
            if judges:
                pruner.verdict(CURVE[:step], curves(store, study="bench"))
        report(store, point, CURVE, state=DONE, **which)

    return median_us(trial, n)


def fill(store, n):
    """`n` finished trials of one report."""
    sampler = Sampler.sobol(seed=0)
    for number in range(n):
        point = sampler.ask(SPACE, number)
        which = {"study": "bench", "trial": number, "me": "bench", "goal": "min"}
        take(store, point, **which)
        report(store, point, [float(number)], state=DONE, **which)


def optunas(storage, n):
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
    study = optuna.create_study(
        storage=storage,
        sampler=optuna.samplers.QMCSampler(seed=0, warn_independent_sampling=False),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=6, n_warmup_steps=4),
    )

    def trial(_):
        asked = study.ask()
        asked.suggest_float("lr", 1e-4, 1e-1, log=True)
        asked.suggest_int("width", 8, 64)
        asked.suggest_categorical("opt", ["adam", "sgd"])
        for step, value in enumerate(CURVE):
            asked.report(value, step)
            asked.should_prune()
        study.tell(asked, CURVE[-1])

    return median_us(trial, n)


def optuna_storages(folder):
    from optuna.storages import InMemoryStorage, JournalStorage, RDBStorage
    from optuna.storages.journal import JournalFileBackend

    yield "Optuna, in memory", InMemoryStorage(), 1.0
    yield "Optuna, journal file", JournalStorage(JournalFileBackend(str(folder / "journal.log"))), 1.0
    yield "Optuna, SQLite", RDBStorage(f"sqlite:///{folder / 'optuna.db'}"), 0.2


def calls(n_known, n):
    """What single calls cost with `n_known` finished trials, in microseconds."""
    store = Store("memory://")
    fill(store, n_known)
    known, sampler = finished(store, study="bench"), Sampler.sobol(seed=0)
    hundred = curves(store, study="bench")[:100]
    pruner = Pruner.median(goal="min", startup=6)
    yield "ask, sobol", median_us(lambda k: sampler.ask(SPACE, k, known), n, 100)
    yield "verdict, 100 curves", median_us(lambda _: pruner.verdict([0.5], hundred), n, 100)
    yield "finished, nothing new", median_us(lambda _: finished(store, study="bench"), n, 100)
    yield "curves, nothing new", median_us(lambda _: curves(store, study="bench"), n, 100)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--trials", type=int, default=300)
    arguments.add_argument("--known", type=int, default=10_000)
    shm = Path("/dev/shm")
    arguments.add_argument("--where", type=Path, default=shm if shm.is_dir() else None)
    arguments.add_argument("--smoke", action="store_true", help="a few trials, to see that it runs")
    args = arguments.parse_args()
    if args.smoke:
        args.trials, args.known = 20, 200
    with tempfile.TemporaryDirectory(dir=args.where) as folder:
        here = Path(folder)
        plain = Store(here / "plain", durable=False)
        rows = [("somatize, take and reports", ours(plain, args.trials, reads=False, judges=False))]
        rows += [("somatize, the whole loop", ours(Store(here / "loop"), args.trials))]
        big = Store(here / "big", durable=False)
        fill(big, args.known)
        finished(big, study="bench")
        name = f"after {args.known:,} trials"
        rows += [(f"somatize, {name}, no pruner", ours(big, args.trials, args.known, judges=False))]
        rows += [(f"somatize, {name}", ours(big, args.trials, args.known + args.trials))]
        baseline = rows[1][1]
        for name, storage, share in optuna_storages(here):
            rows.append((name, optunas(storage, max(int(args.trials * share), 20))))
    print(f"{'a trial with eight reports':42} {'us':>10} {'x ours':>8}")
    for name, us in rows:
        print(f"{name:42} {us:10.1f} {us / baseline:8.1f}")
    print(f"\n{f'one call, {args.known:,} trials known':42} {'us':>10}")
    for name, us in calls(args.known, args.trials * 50):
        print(f"{name:42} {us:10.2f}")


if __name__ == "__main__":
    main()
