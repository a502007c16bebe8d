"""A study as one page: `python -m somatize.report STORE STUDY -o report.html`.

The page holds the findings in words, every figure, the table, the space and the code to read it all back. It
needs no network: plotly.js is inside it, and its content policy lets nothing out.
"""

from __future__ import annotations

import argparse
import html
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from somatize.errors import SomaError
from somatize.figure.theme import DARK, LIGHT, THEMES, Theme, theme_of
from somatize.figure.words import FONT, count, fit, number, spoken, told_apart, value, visible
from somatize.study.figures import coordinates, history, influence, learning, slices, table, timeline
from somatize.study.figures.read import read, silent
from somatize.study.figures.record import Knob, Record

if TYPE_CHECKING:
    from somatize import Store
    from somatize.figure.drawing import Figure
    from somatize.study import Space

N_ROWS = 2000
"""Rows of the table at most: beyond, a person searches with the code below it."""

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"


def page(store: Store, space: Space | None = None, *, study: str, theme: str = "auto") -> str:
    """The study as one HTML page that needs no network.

    Args:
        store: Holds the study; read only.
        space: What parses the points; None takes the study's own.
        study: The study's name.
        theme: `light`, `dark` or `auto`, which follows the reader and has a button.

    Returns:
        The page.

    Raises:
        StudyNotFoundError: There is no such study; a close name is named.
        ValueError: The theme has no such name.
        ModuleNotFoundError: plotly is not installed.
    """
    theme_of(theme)
    record = read(store, space, study=study, curves=True)
    lost = silent(store, study=study)
    return _page(record, lost, where=str(store.location), theme=theme)


def findings(record: Record, silent: set[int]) -> list[str]:
    """What the study says, a sentence each, the most important first.

    Args:
        record: The study.
        silent: Running trials whose worker has not been heard of for a lease.
    """
    said = [f"{record.counted}."]
    if record.best is not None:
        point = ", ".join(f"{name} = {value(one)}" for name, one in record.best.point.items())
        said.append(f"The best point is {point}.")
    if record.goal is None and record.finished:
        said.append("Nobody said whether a low or a high score is good, so nothing is ranked.")
    if record.importance and len(record.finished) >= 3:
        order = spoken([f"{name} ({much:.2f})" for name, much in record.importance[:3]])
        said.append(f"{record.decision[0].upper()}{record.decision[1:]}: by Spearman's |ρ|, {order}.")
    if record.noise is not None:
        chance = f"knobs that do nothing reach |ρ| {record.noise:.2f} by chance"
        said.append(f"With {len(record.finished):,} finished trials, {chance}.")
    if record.where:
        said.append(f"{record.where[0].upper()}{record.where[1:]}.")
    pruned = len(record.of_state("pruned"))
    if pruned:
        said.append(
            f"{count(pruned, 'trial')} pruned: shown with their state, never ranked with finished ones."
        )
    why = Counter((row.because or "no reason given").split(":")[0] for row in record.of_state("failed"))
    if why:
        named = why.most_common(4)
        others = why.total() - sum(n for _, n in named)
        left = [f"{others:,} × another reason"] if others else []
        reasons = spoken([*(f"{n:,} × {reason}" for reason, n in named), *left])
        said.append(f"{count(why.total(), 'trial')} failed: {reasons}.")
    running = len(record.of_state("running"))
    if running:
        quiet = f", {len(silent):,} of them silent for a lease" if silent else ""
        said.append(f"{count(running, 'trial')} running{quiet}.")
    if record.n_discarded:
        said.append(f"{count(record.n_discarded, 'trial')} discarded: not shown, not counted.")
    return said


def main(argv: Sequence[str] | None = None) -> int:
    """Write the page; 0 when it is written, 1 when the store or the study is not there."""
    parser = argparse.ArgumentParser(
        prog="python -m somatize.report", description="Write a study as one HTML page."
    )
    parser.add_argument("store", metavar="STORE", help="a folder or a bucket, as in Store(...)")
    parser.add_argument("study", metavar="STUDY", help="the study's name")
    parser.add_argument("-o", "--output", metavar="FILE", default="report.html", help="default: report.html")
    parser.add_argument(
        "--theme", choices=THEMES, default="auto", help="default: auto, as the reader's system"
    )
    given = parser.parse_args(argv)
    from somatize import Store

    try:
        text = page(Store(given.store, read_only=True), study=given.study, theme=given.theme)
        Path(given.output).write_text(text, encoding="utf-8")
    except UnicodeEncodeError:
        sys.stderr.write(f"error: {given.study!a} was given, expected a study's name that reads as text\n")
        return 1
    except (SomaError, OSError, ModuleNotFoundError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    sys.stderr.write(f"wrote {given.output}\n")
    return 0


def _page(record: Record, silent: set[int], *, where: str, theme: str) -> str:
    from plotly.offline import get_plotlyjs

    said = "".join(f"<li>{_html(one)}</li>" for one in findings(record, silent))
    name = _html(record.study)
    fixed = "" if theme == "auto" else f' data-theme="{theme}"'
    button = '<button type="button" id="turn">light / dark</button>' if theme == "auto" else ""
    figures = "".join(_section(title, draw(record, silent, theme)) for title, draw in _FIGURES)
    return f"""<!DOCTYPE html>
<html lang="en"{fixed}>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width">
<title>{name}</title>
<style>{_style()}</style>
<script>{_SCRIPT}</script>
<script>{get_plotlyjs()}</script>
</head>
<body>
<header><p>study</p><h1>{name}</h1>{button}</header>
<main>
<section><h2>Findings</h2><ul class="findings">{said}</ul></section>
{figures}
<section><h2>Table</h2>{_table(record)}</section>
<section><h2>Space</h2>{_space(record.knobs)}</section>
<section><h2>Read it back</h2><pre>{_html(_code(record, where))}</pre></section>
</main>
</body>
</html>
"""


_FIGURES: tuple[tuple[str, Callable[[Record, set[int], str], Figure]], ...] = (
    ("Coordinates", lambda record, _, theme: coordinates._draw(coordinates._coordinates_data(record), theme)),
    ("Influence", lambda record, _, theme: influence._draw(influence._influence_data(record), theme)),
    ("Slices", lambda record, _, theme: slices._draw(slices._slices_data(record), theme)),
    ("History", lambda record, _, theme: history._draw(history._history_data(record), theme)),
    ("Learning", lambda record, _, theme: learning._draw(learning._learning_data(record), theme)),
    ("Timeline", lambda record, quiet, theme: timeline._draw(timeline._timeline_data(record, quiet), theme)),
)


def _section(title: str, figure: Figure) -> str:
    drawn = figure.to_html(full_html=False, include_plotlyjs=False)
    return f'<section><h2>{title}</h2><div class="figure">{drawn}</div></section>'


def _table(record: Record) -> str:
    data = table._table_data(record)
    if data.nothing:
        return f"<p>{_html(data.nothing)}</p>"
    heads = "".join(map(_head, data.columns))
    rows = []
    for i, (cells, state) in enumerate(zip(data.rows[:N_ROWS], data.states, strict=False)):
        kind = "best" if i == 0 and data.good[0] is not None else state
        words = "".join(_td(cell, i) for i, cell in enumerate(cells))
        rows.append(f'<tr class="{kind}">{words}</tr>')
    hidden = len(data.rows) - len(rows)
    more = f"<p>{hidden:,} more rows are in the store; the code below reads them.</p>" if hidden > 0 else ""
    return _framed(heads, "".join(rows)) + more


def _html(text: str) -> str:
    return html.escape(visible(text))


def _head(name: str) -> str:
    short = "<br>".join(_html(part) for part in fit(name, 200, 13, 3))
    return f'<th title="{_html(name)}">{short}</th>'


def _framed(heads: str, rows: str) -> str:
    body = f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    return f'<div class="scroll" tabindex="0">{body}</div><p class="more" hidden></p>'


def _td(cell: table.Cell, i: int) -> str:
    kind = "n" if isinstance(cell.value, (int, float)) else "t"
    fact = f" c-{table.FACTS[i]}" if i < len(table.FACTS) else ""
    return f'<td class="{kind}{fact}">{_html(cell.text)}</td>'


def _space(knobs: tuple[Knob, ...]) -> str:
    rows = []
    for knob in knobs:
        if knob.kind == "choice":
            holds = ", ".join(told_apart(knob.options))
        else:
            low, high = (value(end) for end in (knob.low, knob.high))
            holds = f"{low} to {high}" + (", log" if knob.log else "")
        cells = (knob.name, knob.kind, holds, knob.condition or "always")
        rows.append("<tr>" + "".join(f"<td>{_html(one)}</td>" for one in cells) + "</tr>")
    heads = "".join(f"<th>{name}</th>" for name in ("knob", "kind", "range", "exists"))
    return _framed(heads, "".join(rows))


def _code(record: Record, where: str) -> str:
    best = f"  # {number(record.best.score or 0.0)}" if record.best else ""
    return f"""from somatize import Store
from somatize.study import best, coordinates, declared, importance, trials

store = Store({where!r}, read_only=True)
space, goal = declared(store, study={record.study!r})
trials(store, study={record.study!r})       # every attempt; polars.DataFrame reads it
best(store, study={record.study!r}){best}
importance(store, study={record.study!r})
coordinates(store, study={record.study!r})
"""


_SCRIPT = """
document.addEventListener("DOMContentLoaded", function () {
  function tell() {
    document.querySelectorAll(".scroll").forEach(function (frame) {
      var more = frame.nextElementSibling, ways = [];
      if (frame.scrollHeight > frame.clientHeight + 1) ways.push("down");
      if (frame.scrollWidth > frame.clientWidth + 1) ways.push("to the right");
      more.hidden = !ways.length;
      more.textContent = "The table goes on: scroll it " + ways.join(" and ") + ".";
    });
  }
  tell();
  window.addEventListener("resize", tell);
  var turn = document.getElementById("turn"), root = document.documentElement;
  if (!turn) return;
  turn.addEventListener("click", function () {
    var dark = root.dataset.theme ? root.dataset.theme === "dark"
      : window.matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
});
"""


def _style() -> str:
    def colours(look: Theme) -> str:
        named = [
            f"--{one.name}:{getattr(look, one.name)}"
            for one in fields(look)
            if one.name not in ("name", "stops")
        ]
        return ";".join([*named, f"color-scheme:{look.name}"])

    return f""":root{{{colours(LIGHT)}}}
@media(prefers-color-scheme:dark){{:root{{{colours(DARK)}}}}}
:root[data-theme=light]{{{colours(LIGHT)}}}
:root[data-theme=dark]{{{colours(DARK)}}}
body{{margin:0;background:var(--paper);color:var(--ink);font:15px/1.55 {FONT}}}
header,main{{max-width:988px;margin:0 auto;padding:0 24px;box-sizing:border-box}}
header{{padding-top:40px;position:relative}}
header p{{margin:0;color:var(--muted);font-size:13px}}
h1{{margin:0 110px 0 0;font-size:30px;line-height:1.2;overflow-wrap:anywhere}}
h2{{margin:48px 0 8px;font-size:13px;font-weight:600;color:var(--muted);letter-spacing:.02em}}
#turn{{position:absolute;right:24px;top:44px;font:inherit;font-size:13px;color:var(--muted);background:none;
border:1px solid var(--grid);border-radius:6px;padding:4px 10px;cursor:pointer}}
#turn:hover{{color:var(--ink);border-color:var(--muted)}}
.findings{{margin:0;padding:0;list-style:none;font-size:16px}}
.findings li{{padding:5px 0;overflow-wrap:anywhere}}
.findings li:first-child{{font-size:20px;font-weight:600}}
.figure{{overflow-x:auto;border:1px solid var(--grid);border-radius:8px}}
.scroll{{overflow:auto;max-height:640px;border:1px solid var(--grid);border-radius:8px}}
.more{{margin:6px 0 0;color:var(--muted);font-size:13px}}
table{{border-collapse:collapse;width:100%;font-size:13px;font-variant-numeric:tabular-nums}}
th{{position:sticky;top:0;background:var(--head);text-align:left;font-weight:600}}
th,td{{padding:6px 12px;border-bottom:1px solid var(--grid);vertical-align:top}}
th{{white-space:nowrap}}
td{{max-width:340px;overflow-wrap:break-word}}
td.n{{white-space:nowrap}}
tbody tr:nth-child(even){{background:var(--stripe)}}
tr.pruned td,tr.failed td,tr.running td{{color:var(--muted)}}
tr.best .c-rank,tr.best .c-score{{color:var(--best);font-weight:600}}
tr.pruned .c-state{{color:var(--pruned)}}tr.failed .c-state{{color:var(--failed)}}
tr.running .c-state{{color:var(--running)}}tr.done .c-state,tr.best .c-state{{color:var(--done)}}
pre{{margin:0;padding:16px 20px;background:var(--stripe);border:1px solid var(--grid);border-radius:8px}}
pre{{overflow-x:auto;font:13px/1.6 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}}
main{{padding-bottom:80px}}"""


if __name__ == "__main__":
    sys.exit(main())
