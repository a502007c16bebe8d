"""Importance beside SciPy's Spearman and Optuna's evaluators.

The numbers are the same where the rule is the same; times are shown.

python benches/compare/importance.py [--trials 10000]
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from scipy.stats import spearmanr

from somatize import Store
from somatize.study import Sampler, Space, finished, importance, report, take

KNOBS = 10
STUDY = "importance"


def study(n: int) -> tuple[Space, Store, list[dict], np.ndarray]:
    """A finished study over reals, ints and a choice, with ties in its scores."""
    space = Space()
    for i in range(KNOBS - 2):
        space = space.real(f"x{i}", 0.0, 1.0)
    space = space.int("n", 1, 9).choice("opt", ["adam", "sgd", "lion"])
    store = Store("memory://")
    draws = Sampler.random(seed=1)
    rows, scores = [], []
    for t in range(n):
        point = draws.ask(space, t)
        score = round(3 * point["x0"] - point["x1"] ** 2 + 0.05 * point["n"] + (point["opt"] == "sgd"), 3)
        take(store, point, study=STUDY, trial=t, me="bench", goal="min")
        report(store, point, [score], study=STUDY, trial=t, me="bench", state="done")
        rows.append(dict(point.items()))
        scores.append(score)
    finished(store, space, study=STUDY)
    return space, store, rows, np.array(scores)


def timed(call) -> tuple[float, object]:
    """The least of five runs in milliseconds, and what came out."""
    least, made = np.inf, None
    for _ in range(5):
        began = time.perf_counter()
        made = call()
        least = min(least, time.perf_counter() - began)
    return least * 1e3, made


def main() -> None:
    """Compare, then time."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--smoke", action="store_true", help="a hundredth of the trials: that it runs")
    options = parser.parse_args()
    n = options.trials // 100 if options.smoke else options.trials
    space, store, rows, scores = study(n)

    def scipy() -> dict[str, float]:
        options = ["adam", "sgd", "lion"]
        made = {}
        for name in space:
            column = [row[name] if name != "opt" else options.index(row[name]) for row in rows]
            made[name] = abs(float(spearmanr(column, scores).statistic))
        return made

    ours_ms, ours = timed(lambda: importance(store, space, study=STUDY))
    scipy_ms, theirs = timed(scipy)
    worst = max(abs(share - theirs[name]) for name, share in ours)
    print(f"spearman, {n} trials, {KNOBS} dimensions: largest difference from scipy {worst:.1e}")
    assert worst < 1e-12
    print(f"\n| evaluator | {n} trials, ms |\n|---|---|")
    print(f"| spearman | {ours_ms:.2f} |\n| spearman, scipy | {scipy_ms:.1f} |")

    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    d = {f"x{i}": optuna.distributions.FloatDistribution(0.0, 1.0) for i in range(KNOBS - 2)}
    d["n"] = optuna.distributions.IntDistribution(1, 9)
    d["opt"] = optuna.distributions.CategoricalDistribution(("adam", "sgd", "lion"))
    theirs = optuna.create_study()
    theirs.add_trials(
        [
            optuna.trial.create_trial(params=row, distributions=d, value=float(score))
            for row, score in zip(rows, scores, strict=True)
        ]
    )
    evaluator = optuna.importance.PedAnovaImportanceEvaluator()
    began = time.perf_counter()
    optuna.importance.get_param_importances(theirs, evaluator=evaluator)
    print(f"| PED-ANOVA, optuna | {(time.perf_counter() - began) * 1e3:.0f} |")


if __name__ == "__main__":
    main()
