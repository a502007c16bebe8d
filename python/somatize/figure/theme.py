"""Two themes and the colours every picture takes from them.

A theme is a set of named colours. The two sets pair off one to one and no colour of a theme stands twice in
it, so a drawing made with one can be turned into the other by replacing strings: that is how `auto` follows
its reader.

The scale runs from the bad end to the good end. Its lightness moves one way only, away from the paper, so
that it reads in grey and with any colour deficiency; stops are joined in OKLab (Ottosson, 2020, "A perceptual
color space for image processing"), where equal steps look equal.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, fields
from functools import lru_cache

N_SHADES = 64
"""Steps of the scale. A curve takes the nearest; between two neighbours nobody sees a difference."""

THEMES = ("light", "dark", "auto")


@dataclass(frozen=True)
class Theme:
    """The colours of a picture, as CSS strings, each one used for one thing."""

    name: str
    paper: str
    """Behind everything."""
    halo: str
    """The paper, let through a little: behind labels that stand on curves."""
    ink: str
    """Titles, labels."""
    muted: str
    """Subtitles, notes, ticks."""
    grid: str
    axis: str
    stripe: str
    """Every second row of a table."""
    head: str
    """The head of a table."""
    accent: str
    """A bar, a finished trial where rank is not what colour says."""
    faint: str
    """A bar within the noise, a band."""
    best: str
    """The best trial."""
    done: str
    pruned: str
    failed: str
    running: str
    silent: str
    """A running trial whose worker has not been heard of for a lease."""
    stops: tuple[str, ...]
    """The scale's stops, bad end first."""

    @property
    def scale(self) -> tuple[str, ...]:
        """`N_SHADES` colours from the bad end to the good end."""
        return _scale(self.stops)

    def shade(self, good: float) -> str:
        """The colour of a share.

        Args:
            good: In [0, 1]; 1 is the best of the finished trials, 0 the worst.
        """
        return self.scale[round(min(max(good, 0.0), 1.0) * (N_SHADES - 1))]

    def state(self, state: str) -> str:
        """The colour of a trial's state."""
        return {"done": self.done, "pruned": self.pruned, "failed": self.failed}.get(state, self.running)

    def colours(self) -> tuple[str, ...]:
        """Every colour, in a fixed order: the n-th of one theme stands for the n-th of the other."""
        named = [getattr(self, one.name) for one in fields(self) if one.name not in ("name", "stops")]
        return (*named, *self.scale)


LIGHT = Theme(
    name="light",
    paper="#ffffff",
    halo="rgba(255,255,255,0.78)",
    ink="#1d2433",
    muted="#5d6679",
    grid="#e7eaf0",
    axis="#a3abba",
    stripe="#f7f8fb",
    head="#eef1f6",
    accent="#2f6db5",
    faint="#dbe1ea",
    best="#d9480f",
    done="#2a66a8",
    pruned="#8b93a5",
    failed="#c2255c",
    running="#0b7285",
    silent="#b08900",
    stops=("#d8d4c8", "#a9c9a4", "#4fa7a2", "#2b6ca3", "#3b1f6e"),
)

DARK = Theme(
    name="dark",
    paper="#14171f",
    halo="rgba(20,23,31,0.78)",
    ink="#e8ebf2",
    muted="#a2abbd",
    grid="#262b37",
    axis="#5a6376",
    stripe="#191d27",
    head="#212633",
    accent="#74b3f2",
    faint="#323a4a",
    best="#ff9e64",
    done="#6fb0f0",
    pruned="#79829a",
    failed="#ff6f9c",
    running="#3bc9db",
    silent="#e0b93a",
    stops=("#444652", "#3f6580", "#2d9d9b", "#8ed081", "#fdf2a6"),
)


def theme_of(name: str) -> Theme:
    """The colours a figure is first drawn with: `auto` starts light.

    Args:
        name: `light`, `dark` or `auto`.

    Raises:
        ValueError: Any other name; a close one is named.
    """
    if name not in THEMES:
        close = difflib.get_close_matches(str(name), THEMES, 1)
        meant = f", did you mean `{close[0]}`" if close else ""
        raise ValueError(f"`theme` was given `{name}`, expected `light`, `dark` or `auto`{meant}")
    return DARK if name == "dark" else LIGHT


@lru_cache
def _scale(stops: tuple[str, ...]) -> tuple[str, ...]:
    """The stops joined in OKLab, evenly, into `N_SHADES` colours."""
    known = [_oklab(stop) for stop in stops]
    scale = []
    for i in range(N_SHADES):
        where = i / (N_SHADES - 1) * (len(known) - 1)
        left = min(int(where), len(known) - 2)
        share = where - left
        scale.append(_hex([a + share * (b - a) for a, b in zip(known[left], known[left + 1], strict=True)]))
    return tuple(scale)


def _oklab(colour: str) -> list[float]:
    """`#rrggbb` to OKLab (L, a, b)."""
    r, g, b = (_linear(int(colour[i : i + 2], 16) / 255) for i in (1, 3, 5))
    lms = (
        0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b,
        0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b,
        0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b,
    )
    l_, m_, s_ = (part ** (1 / 3) for part in lms)
    return [
        0.2104542553 * l_ + 0.7936177850 * m_ - 0.0040720468 * s_,
        1.9779984951 * l_ - 2.4285922050 * m_ + 0.4505937099 * s_,
        0.0259040371 * l_ + 0.7827717662 * m_ - 0.8086757660 * s_,
    ]


def _hex(lab: list[float]) -> str:
    """OKLab (L, a, b) to `#rrggbb`, clipped to what a screen shows."""
    lightness, a, b = lab
    l_ = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    m_ = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    s_ = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    rgb = (
        4.0767416621 * l_ - 3.3077115913 * m_ + 0.2309699292 * s_,
        -1.2684380046 * l_ + 2.6097574011 * m_ - 0.3413193965 * s_,
        -0.0041960863 * l_ - 0.7034186147 * m_ + 1.7076147010 * s_,
    )
    return "#" + "".join(f"{round(255 * _gamma(min(max(part, 0.0), 1.0))):02x}" for part in rgb)


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def _gamma(part: float) -> float:
    return 12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055
