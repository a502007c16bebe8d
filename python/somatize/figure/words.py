"""Numbers and names as people read them in a picture, and how much room they take."""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

Scalar: TypeAlias = "bool | int | float | str | None"
"""A point's value or an option, as in a `Space`."""

FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", Arial, sans-serif'

PLAIN = 1e6
"""Below, a number is written without an exponent."""

_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control characters, those that turn the direction of writing among them."""

_WIDE, _NARROW = set("mwMWQGOD@%&—…"), set("ijlftrI.,:;|!'()[]{} ")
_EM = {"wide": 0.95, "upper": 0.72, "narrow": 0.40, "usual": 0.63, "full": 1.05}
"""Widths in ems, those of the widest of the fonts above (DejaVu Sans): a guess that is never too small."""


def width_px(text: str, size_px: float) -> float:
    """About how wide a line of text is drawn; never less than it is.

    Args:
        text: One line, not escaped.
        size_px: The font's size.
    """
    return size_px * sum(map(_em, text))


@lru_cache(maxsize=4096)
def _em(one: str) -> float:
    return _EM[_class(one)]


def _class(one: str) -> str:
    if unicodedata.east_asian_width(one) in "WF":
        return "full"
    if unicodedata.combining(one):
        return "narrow"
    if one in _WIDE:
        return "wide"
    if one in _NARROW:
        return "narrow"
    return "upper" if one.isupper() else "usual"


def fit(text: str, room_px: float, size_px: float, n_lines: int = 1) -> list[str]:
    """The text in at most `n_lines` lines that fit; what does not fit loses its middle to an ellipsis.

    Lines end at a space or behind a separator (`_ - / . ,`) where one is near, else anywhere.

    Args:
        text: Not escaped; line breaks in it count as spaces.
        room_px: Room for a line.
        size_px: The font's size.
        n_lines: At least 1.
    """
    text = " ".join(text.split()) or " "
    if len(text) * size_px * _EM["full"] <= room_px:
        return [text]
    return list(_fit(text, room_px, size_px, n_lines))


@lru_cache(maxsize=4096)
def _fit(text: str, room_px: float, size_px: float, n_lines: int) -> list[str]:
    n_lines = max(n_lines, 1)
    # No more than so many fit, two spaces a line aside: a text of a million characters is cut at once.
    most = n_lines * (max(int(room_px / (size_px * _EM["narrow"])), 1) + 2)
    if len(text) <= most:
        lines = _wrap(text, room_px, size_px)
        if len(lines) <= n_lines:
            return lines
    for kept in range(min(len(text) - 1, most), 0, -1):
        head = (kept + 1) // 2
        cut = text[:head].rstrip() + "…" + text[len(text) - (kept - head) :].lstrip()
        lines = _wrap(cut, room_px, size_px)
        if len(lines) <= n_lines:
            return lines
    return ["…"]


def _wrap(text: str, room_px: float, size_px: float) -> list[str]:
    lines, rest = [], text
    while rest:
        n, used = 0, 0.0
        while n < len(rest) and (used := used + size_px * _em(rest[n])) <= room_px:
            n += 1
        n = max(n, 1)
        if n < len(rest):
            # Not within a number: `0.5` and `1,000` stay whole.
            breaks = [
                i for i in range(n // 2, n) if rest[i] in " _-/.,;|" and not rest[i + 1 : i + 2].isdigit()
            ]
            n = breaks[-1] + 1 if breaks else n
        lines.append(rest[:n].strip())
        rest = rest[n:].lstrip()
    return lines


def safe(text: str) -> str:
    """Text that a figure shows as it is: plotly reads a small HTML in every label, templates and formulas.

    A `color:` is one of the theme's to the script that turns a figure dark.
    """
    one_line = visible(" ".join(text.split()) if "\n" in text else text)
    escaped = html.escape(one_line, quote=False).replace("color:", "color&#58;")
    return escaped.replace("%{", "%&#123;").replace("$", "&#36;")


def visible(text: str) -> str:
    r"""Control characters as Python writes them, line breaks and tabs aside: one may turn a whole sentence.

    >>> visible("a\u202eb")
    'a\\u202eb'
    """
    return _UNSEEN.sub(lambda found: found[0] if found[0].isspace() else ascii(found[0])[1:-1], text)


def hover(facts: list[tuple[str, str]]) -> str:
    """What a pointer is shown: pairs of a name and its words, the first the heading. Long words break."""
    (head, state), *rest = facts
    lines = [f"<b>{safe(head)}</b> · {safe(state)}"]
    for name, words in rest:
        broken = "<br>   ".join(safe(line) for line in fit(words, 420, 12, 8))
        lines.append(f"{safe(fit(name, 260, 12)[0])}  {broken}")
    return "<br>".join(lines)


def number(value: float, digits: int = 4) -> str:
    """A number to read: `digits` significant ones, below a million all that stand before the point.

    >>> number(0.00002771855), number(0.5), number(64), number(12345.6, 3), number(1234567.0)
    ('2.772e-5', '0.5', '64', '12346', '1.235e6')
    """
    if isinstance(value, int):
        return str(value)
    if 10**digits <= abs(value) < PLAIN:
        return f"{value:.0f}"
    text = f"{value:.{digits}g}"
    if "e" not in text:
        return text
    mantissa, exponent = text.split("e")
    return f"{mantissa}e{int(exponent)}"


def rounded(text: str) -> str:
    """A sentence with its long decimals shortened: a reason states them exactly, a picture need not.

    >>> rounded("best is 10.291398620605468, worse than 8.5")
    'best is 10.29, worse than 8.5'
    """
    return re.sub(r"\d+\.\d{5,}(e-?\d+)?", lambda found: number(float(found[0])), text)


def aligned(value: float, digits: int = 4) -> str:
    """As `number`, its zeros kept, so that a column of numbers of one size stands in line.

    >>> aligned(0.223), aligned(3.27), aligned(0.00001)
    ('0.2230', '3.270', '1.000e-5')
    """
    if 10**digits <= abs(value) < PLAIN:
        return f"{value:.0f}"
    text = f"{value:#.{digits}g}".rstrip(".")
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if e else text


def value(one: Scalar, digits: int = 6) -> str:
    """A knob's value to read, not escaped."""
    if isinstance(one, float):
        return number(one, digits)
    # What a line of text would not show as it is (nothing, white space, a turn of direction) is quoted.
    if isinstance(one, str) and (not one or " ".join(one.split()) != one or _UNSEEN.search(one)):
        return repr(one)
    return str(one)


def told_apart(several: Sequence[Scalar]) -> list[str]:
    """As `value` each; those that would read the same, as 64 and "64", as Python writes them.

    >>> told_apart([64, "64", 1, 1.0, "a"])
    ['64', "'64'", '1', '1.0', 'a']
    """
    words = [value(one) for one in several]
    known = Counter(words)
    return [repr(one) if known[word] > 1 else word for one, word in zip(several, words, strict=True)]


def count(n: int, noun: str) -> str:
    """`1 trial`, `3,000 trials`."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def line(*parts: str) -> str:
    """The parts that say something, side by side: a subtitle."""
    return " · ".join(part for part in parts if part)


def spoken(names: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def duration(secs: float) -> str:
    """A time to read: `0.8 s`, `42 s`, `3 min 5 s`, `2 h 10 min`."""
    if secs < 10:
        return f"{secs:.1f} s" if secs >= 0.1 else f"{secs * 1000:.2g} ms"
    if secs < 60:
        return f"{secs:.0f} s"
    minutes = round(secs) // 60
    if minutes < 60:
        return f"{minutes} min" + (f" {round(secs) % 60} s" if round(secs) % 60 else "")
    return f"{minutes // 60} h" + (f" {minutes % 60} min" if minutes % 60 else "")
