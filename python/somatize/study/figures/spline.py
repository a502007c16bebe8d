"""A curve through its places on evenly spaced axes, which never leaves the range of two neighbours.

The slopes at the axes are those of Fritsch and Butland (1984, "A method for constructing local monotone
piecewise cubic interpolants", equation 5), evenly spaced: zero where a curve turns, the harmonic mean of both
sides elsewhere, so that no piece leaves the range of its two ends.
"""

from __future__ import annotations


def spline(at: list[float | None], n_steps: int) -> list[float | None]:
    """The curve through `at`, one value an axis, sampled `n_steps` times between two axes.

    Args:
        at: A place on each axis; None is a gap, in which the curve is not drawn. Next to a gap the curve
            stays flat for a sixteenth of the way, so that a crossing between two gaps is still seen.
        n_steps: At least 3.

    Returns:
        `(len(at) - 1) * n_steps + 1` places: every `n_steps`-th is exactly that of an axis, those between lie
        between the places at the two axes.
    """
    slopes = [_slope(at, i) for i in range(len(at))]
    points: list[float | None] = []
    for i in range(len(at) - 1):
        left, right = at[i], at[i + 1]
        points.append(left)
        if left is None or right is None:
            gap: list[float | None] = [None] * (n_steps - 1)
            stub = max(n_steps // 16, 1)
            gap[:stub], gap[-stub:] = [left] * stub, [right] * stub
            points.extend(gap)
            continue
        low, high = min(left, right), max(left, right)
        for step in range(1, n_steps):
            t = step / n_steps
            place = (
                (1 + 2 * t) * (1 - t) ** 2 * left
                + t * (1 - t) ** 2 * slopes[i]
                + t * t * (3 - 2 * t) * right
                + t * t * (t - 1) * slopes[i + 1]
            )
            # The cubic keeps within its ends; rounding may not.
            points.append(min(max(place, low), high))
    points.append(at[-1])
    return points


def _slope(at: list[float | None], i: int) -> float:
    """The curve's slope at an axis; flat at an end, where it turns, and beside a gap."""
    if i in (0, len(at) - 1):
        return 0.0
    before, here, after = at[i - 1], at[i], at[i + 1]
    if before is None or here is None or after is None:
        return 0.0
    rise, next_rise = here - before, after - here
    return 0.0 if rise * next_rise <= 0 else 2 * rise * next_rise / (rise + next_rise)
