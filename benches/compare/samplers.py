"""Our samplers beside SciPy's and Optuna's.

    python benches/compare/samplers.py              # checks, then times
    python benches/compare/samplers.py --fixture    # writes the reference that the Rust tests read

The checks stop with an error where a value is not the one it must be. Times are medians in one process:
compare them with each other and not with another machine's.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import qmc

from somatize.study import Sampler, Space

FIXTURE = Path(__file__).parents[2] / "crates/soma-study/tests/fixtures/sobol-16x1024.u32"
TRIALS = 10_000
MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def reference(d: int, n: int) -> np.ndarray:
    """SciPy's unscrambled Sobol' coordinates as fractions of 2^32: (n, d) uint64."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return (qmc.Sobol(d, scramble=False, bits=32).random(n) * 2**32).astype(np.uint64)


def splitmix64(state: int) -> int:
    """The first output of splitmix64."""
    z = (state + GOLDEN) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def cube(d: int) -> Space:
    """The unit cube."""
    space = Space()
    for i in range(d):
        space = space.real(f"x{i}", 0.0, 1.0)
    return space


def points(sampler: Sampler, d: int, n: int) -> np.ndarray:
    """The first points in the unit cube: (n, d) float64."""
    space = cube(d)
    return np.array([list(sampler.ask(space, t).values()) for t in range(n)])


def check_sobol() -> None:
    """Our points with the shift taken off are SciPy's, bit for bit."""
    for d, n in ((16, 1024), (1111, 128)):
        for seed in (0, 7):
            ours = (points(Sampler.sobol(seed=seed), d, n) * 2**32).astype(np.uint64)
            shift = [splitmix64(seed ^ (i * GOLDEN & MASK)) & 0xFFFFFFFF for i in range(d)]
            assert (ours ^ np.array(shift, dtype=np.uint64) == reference(d, n)).all(), (d, seed)
        print(f"sobol, {d} dimensions, {n} points: equal to scipy.stats.qmc.Sobol, bit for bit")


def quality() -> None:
    """Discrepancy and the largest correlation between two dimensions: less is better."""
    print("\n| sequence | centred discrepancy, d=6 n=256 | largest |r|, d=16 n=64 |\n|---|---|---|")

    def scipy_sobol(d: int, n: int, seed: int) -> np.ndarray:
        return qmc.Sobol(d, rng=np.random.default_rng(seed)).random(n)

    def scipy_halton(d: int, n: int, seed: int) -> np.ndarray:
        return qmc.Halton(d, rng=np.random.default_rng(seed)).random(n)

    made = {
        "random": lambda d, n, s: points(Sampler.random(seed=s), d, n),
        "sobol": lambda d, n, s: points(Sampler.sobol(seed=s), d, n),
        "sobol, owen": lambda d, n, s: points(Sampler.sobol(seed=s, owen=True), d, n),
        "sobol, scipy": scipy_sobol,
        "halton": lambda d, n, s: points(Sampler.halton(seed=s), d, n),
        "halton, scipy": scipy_halton,
    }
    for name, make in made.items():
        seeds = range(8)
        discrepancy = np.mean([qmc.discrepancy(np.clip(make(6, 256, s), 0, 1 - 2**-53)) for s in seeds])
        worst = np.mean([np.max(np.abs(np.corrcoef(make(16, 64, s).T) - np.eye(16))) for s in seeds])
        print(f"| {name} | {discrepancy:.2e} | {worst:.2f} |")


def median_time(call, repeats: int) -> float:
    """The median of single calls, in microseconds."""
    times = []
    for i in range(repeats):
        began = time.perf_counter()
        call(i)
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1e6


def times(n: int) -> None:
    """One `ask` with `n` finished trials, ours and Optuna's."""
    import optuna

    from somatize import Store
    from somatize.study import finished, report, take

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    space = Space().real("lr", 1e-4, 1e-1, log=True).int("width", 8, 64).choice("opt", ["adam", "sgd"])
    draws = Sampler.random(seed=1)
    store = Store("memory://")
    distributions = {
        "lr": optuna.distributions.FloatDistribution(1e-4, 1e-1, log=True),
        "width": optuna.distributions.IntDistribution(8, 64),
        "opt": optuna.distributions.CategoricalDistribution(("adam", "sgd")),
    }
    theirs = []
    for t in range(n):
        point = draws.ask(space, t)
        score = (np.log10(point["lr"]) + 3) ** 2
        take(store, point, study="s", trial=t, me="bench", goal="min")
        report(store, point, [score], study="s", trial=t, me="bench", state="done")
        theirs.append(
            optuna.trial.create_trial(params=dict(point.items()), distributions=distributions, value=score)
        )
    history = finished(store, space, study="s")
    print(f"\n| sampler | one ask with {n} finished trials, µs |\n|---|---|")
    ours = {
        "sobol": Sampler.sobol(seed=0),
        "random": Sampler.random(seed=0),
        "halton": Sampler.halton(seed=0),
        "tpe": Sampler.tpe(seed=0),
    }
    for name, sampler in ours.items():
        print(f"| {name} | {median_time(lambda i, s=sampler: s.ask(space, n + i, history), 300):.1f} |")
    for name, sampler in (
        ("optuna random", optuna.samplers.RandomSampler(seed=0)),
        ("optuna qmc", optuna.samplers.QMCSampler(seed=0)),
        ("optuna tpe", optuna.samplers.TPESampler(seed=0)),
        ("optuna tpe, multivariate", optuna.samplers.TPESampler(seed=0, multivariate=True)),
    ):
        study = optuna.create_study(sampler=sampler)
        study.add_trials(theirs)
        print(f"| {name} | {median_time(lambda _, s=study: s.ask(distributions), 5):.1f} |")


def main() -> None:
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fixture", action="store_true", help="write the reference and stop")
    parser.add_argument(
        "--trials", type=int, default=TRIALS, help="finished trials for the times; 0 for none"
    )
    parser.add_argument("--smoke", action="store_true", help="a hundredth of the trials: that it runs")
    options = parser.parse_args()
    if options.fixture:
        reference(16, 1024).astype("<u4").tofile(FIXTURE)
        return
    check_sobol()
    quality()
    trials = options.trials // 100 if options.smoke else options.trials
    if trials:
        times(trials)
    # Two neighbours in a grid differ in the last dimension.
    grid = [tuple(Sampler.grid(points_per_real=3).ask(cube(2), t).values()) for t in range(9)]
    assert grid == list(itertools.product((0.0, 0.5, 1.0), repeat=2))


if __name__ == "__main__":
    main()
