"""Replays the same curves through our pruners and Optuna's, and counts the decisions that differ.

    python benches/compare/pruners.py [--studies 20]

Curves are made here, from seeds: power laws with noise, some that diverge, some with NaN. A trial that is
pruned gives no more reports, so each pruner makes its own history. Where both define the same rule every
decision must be the same, or the script ends with an error; where they do not, the difference is shown.

The rules that are the same, and how Optuna's is asked for:

- threshold, with bounds and warm-up; NaN prunes in both.
- halving: `SuccessiveHalvingPruner`, whose steps count from 1 here, as ours do; the curves to compare with
  are those of all trials so far, as far as they went. On finite curves: Optuna's sees a NaN only at a rung.
- patience without a margin: `PatientPruner(None, p)` is our `patience=p + 1`, where no value comes twice.
- median and percentile on curves that never get worse: there the others' value at a step, which Optuna takes,
  and their best so far, which we take, are one.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings

import numpy as np
import optuna

from somatize import Store
from somatize.study import Pruner, Space, report, take
from somatize.study import curves as curves_of

optuna.logging.set_verbosity(optuna.logging.ERROR)
warnings.simplefilter("ignore")

TRIALS = 60
REPORTS = 27


def curves(seed: int, *, falling: bool, with_nan: bool) -> list[list[float]]:
    """One study's curves."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(TRIALS):
        end, gain, rate = rng.uniform(0, 1), rng.uniform(0, 2), rng.uniform(0.2, 1.5)
        values = end + gain * np.arange(1, REPORTS + 1) ** -rate + rng.normal(0, 0.05, REPORTS)
        if rng.random() < 0.1:
            values += np.exp(np.arange(REPORTS) / 6) - 1
        if falling:
            values = np.minimum.accumulate(values)
        if with_nan and rng.random() < 0.2:
            values[rng.integers(REPORTS) :] = math.nan
        made.append([float(v) for v in values])
    return made


def replay_ours(pruner: Pruner, study: list[list[float]], everyone: bool) -> tuple[list[int], float]:
    """Reports of each trial until it was pruned, 0 where it never was; the median seconds of a verdict."""
    store, space, spent, went = Store("memory://"), Space().int("n", 0, TRIALS), [], []
    for trial, curve in enumerate(study):
        others = curves_of(store, study="replay")
        n, why = 0, None
        while n < len(curve) and why is None:
            n += 1
            began = time.perf_counter()
            why = pruner.verdict(curve[:n], others)
            spent.append(time.perf_counter() - began)
        went.append(n if why else 0)
        if (everyone or why is None) and math.isfinite(curve[n - 1]):
            point = space.point({"n": trial})
            take(store, point, study="replay", trial=trial, me="replay", goal="min")
            report(store, point, curve[:n], study="replay", trial=trial, me="replay", state="done")
    return went, float(np.median(spent))


def replay_theirs(
    pruner: optuna.pruners.BasePruner, study: list[list[float]], direction: str
) -> tuple[list[int], float]:
    """The same with Optuna; steps count from 1."""
    theirs = optuna.create_study(direction=direction, pruner=pruner)
    spent, went = [], []
    for curve in study:
        trial, pruned, n = theirs.ask(), False, 0
        while n < len(curve) and not pruned:
            n += 1
            trial.report(curve[n - 1], n)
            began = time.perf_counter()
            pruned = trial.should_prune()
            spent.append(time.perf_counter() - began)
        went.append(n if pruned else 0)
        if pruned:
            theirs.tell(trial, state=optuna.trial.TrialState.PRUNED)
        elif math.isnan(curve[n - 1]):
            theirs.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            theirs.tell(trial, curve[n - 1])
    return went, float(np.median(spent))


def main() -> None:
    """Replay every pair of pruners."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=20)
    parser.add_argument("--smoke", action="store_true", help="two studies: that it runs")
    options = parser.parse_args()
    studies = 2 if options.smoke else options.studies
    p = optuna.pruners
    # Optuna's step s with warm-up w prunes where s >= w; ours where the s-th report is above the warm-up.
    cases = [
        (
            "threshold",
            Pruner.threshold(upper=2.5, warmup=3),
            lambda: p.ThresholdPruner(upper=2.5, n_warmup_steps=4),
            {},
        ),
        (
            "threshold, lower and upper",
            Pruner.threshold(lower=0.1, upper=2.0),
            lambda: p.ThresholdPruner(lower=0.1, upper=2.0),
            {"with_nan": True},
        ),
        (
            "halving 3",
            Pruner.halving(min_steps=1, factor=3),
            lambda: p.SuccessiveHalvingPruner(1, 3),
            {"everyone": True},
        ),
        (
            "halving 2 from 4, max",
            Pruner.halving(min_steps=4, factor=2, goal="max"),
            lambda: p.SuccessiveHalvingPruner(4, 2),
            {"everyone": True, "direction": "maximize"},
        ),
        ("patience 4", Pruner.patience(patience=4), lambda: p.PatientPruner(None, 3), {}),
        (
            "patience 3, max",
            Pruner.patience(patience=3, goal="max"),
            lambda: p.PatientPruner(None, 2),
            {"direction": "maximize"},
        ),
        (
            "median, never worse",
            Pruner.median(warmup=3, startup=5),
            lambda: p.MedianPruner(5, 4, n_min_trials=5),
            {"falling": True},
        ),
        (
            "percentile 25, never worse",
            Pruner.percentile(percentile=25.0, warmup=0, startup=4),
            lambda: p.PercentilePruner(25.0, 4, 0, n_min_trials=4),
            {"falling": True},
        ),
        (
            "median (another rule)",
            Pruner.median(warmup=3, startup=5),
            lambda: p.MedianPruner(5, 4, n_min_trials=5),
            None,
        ),
    ]
    print(
        "| rule | studies | trials | pruned by ours | decisions that differ | µs a verdict, ours | Optuna |"
    )
    print("|---|---|---|---|---|---|---|")
    for name, ours, theirs, options in cases:
        same = options is not None
        options = dict(options or {})
        everyone, direction = options.pop("everyone", False), options.pop("direction", "minimize")
        differ = pruned = 0
        own, other = [], []
        for seed in range(studies):
            study = curves(
                seed, falling=options.get("falling", False), with_nan=options.get("with_nan", False)
            )
            a, seconds = replay_ours(ours, study, everyone)
            b, their_seconds = replay_theirs(theirs(), study, direction)
            own.append(seconds)
            other.append(their_seconds)
            differ += sum(x != y for x, y in zip(a, b, strict=True))
            pruned += sum(x > 0 for x in a)
        print(
            f"| {name} | {studies} | {studies * TRIALS} | {pruned} | {differ} "
            f"| {np.median(own) * 1e6:.1f} | {np.median(other) * 1e6:.1f} |"
        )
        assert differ == 0 or not same, f"{name}: {differ} decisions differ"


if __name__ == "__main__":
    main()
