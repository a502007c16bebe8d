"""The plotly figure that every drawing is, and the page it becomes.

This is the one module of the package that imports plotly as it is loaded; the figures load it when they draw.
"""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any

from somatize.figure.theme import DARK, LIGHT, Theme, theme_of
from somatize.figure.words import FONT, fit, safe

try:
    import plotly.graph_objects as go
    import plotly.io as pio
except ModuleNotFoundError as missing:  # pragma: no cover -- plotly is a development dependency
    raise ModuleNotFoundError(
        "the figures are drawn with plotly, which is not installed\nhint: pip install 'somatize[plot]'",
        name="plotly",
    ) from missing

WIDTH_PX = 940
"""A figure's width unless it needs more: what a notebook's column and a report show without scrolling."""

TITLE_PX, SUBTITLE_PX, LABEL_PX, TICK_PX = 18, 13, 13, 11

_CONFIG = {"displaylogo": False, "responsive": False, "modeBarButtonsToRemove": ["lasso2d", "select2d"]}


class Figure(go.Figure):  # type: ignore[misc]
    """A plotly figure whose page needs no network and, drawn with `theme="auto"`, follows its reader's theme.

    Everything a `plotly.graph_objects.Figure` can do it does. `layout.meta` holds `finding`, the title in
    plain words, and `theme`.
    """

    def __repr__(self) -> str:
        """The finding, rather than every number that is drawn."""
        return f"Figure({(self.layout.meta or {}).get('finding', '')!r})"

    def to_html(self, *args: Any, **kwargs: Any) -> str:
        """As plotly's, with the figure's own settings, and the script that follows the reader's theme."""
        kwargs.setdefault("config", _CONFIG)
        theme = (self.layout.meta or {}).get("theme", "light")
        if theme == "auto":
            script = kwargs.pop("post_script", None) or []
            kwargs["post_script"] = [*([script] if isinstance(script, str) else script), _follow()]
        page: str = pio.to_html(self, *args, **kwargs)
        if kwargs.get("full_html", True):
            page = page.replace("<head>", "<head>" + _page_style(theme), 1)
        return page

    def write_html(self, file: str | PathLike[str] | Any, *args: Any, **kwargs: Any) -> None:
        """Write the page, plotly.js inside it.

        Args:
            file: A path, or anything with `write`.
            args: As plotly's.
            kwargs: As plotly's; `auto_open` opens the page in a browser.
        """
        auto_open = kwargs.pop("auto_open", False)
        page = self.to_html(*args, **kwargs)
        if hasattr(file, "write"):
            file.write(page)
            return
        Path(file).write_text(page, encoding="utf-8")
        if auto_open:
            import webbrowser

            webbrowser.open(Path(file).absolute().as_uri())


def figure(
    traces: list[dict[str, Any]],
    theme: str,
    *,
    title: str,
    subtitle: str = "",
    width: float = WIDTH_PX,
    height: float,
    margin: tuple[float, float, float],
    **layout: Any,
) -> Figure:
    """A figure with the look they all share.

    Args:
        traces: Plotly traces as dicts, in drawing order.
        theme: `light`, `dark` or `auto`.
        title: The finding, in plain words: not escaped.
        subtitle: What helps to read it, in plain words.
        width: In pixels.
        height: Of the drawing below the title, its bottom margin included, in pixels.
        margin: Left, right and bottom, in pixels; the top is as high as the title needs.
        layout: More of plotly's layout.

    Raises:
        ValueError: The theme has no such name.
    """
    look = theme_of(theme)
    room = width - 48
    heads = fit(title, room, TITLE_PX, 3)
    subs = fit(subtitle, room, SUBTITLE_PX, 4) if subtitle else []
    head_px = 18 + 24 * len(heads) + 17 * len(subs) + layout.pop("gap", 20)
    left, right, bottom = margin
    base = {
        "template": "none",
        "width": width,
        "height": height + head_px,
        "margin": {"l": left, "r": right, "t": head_px, "b": bottom, "pad": 0},
        "paper_bgcolor": look.paper,
        "plot_bgcolor": look.paper,
        "font": {"family": FONT, "size": LABEL_PX, "color": look.ink},
        "title": {
            "text": "<br>".join(f"<b>{safe(line)}</b>" for line in heads),
            "subtitle": {
                "text": "<br>".join(safe(line) for line in subs),
                "font": {"size": SUBTITLE_PX, "color": look.muted, "family": FONT},
            },
            "x": 0,
            "xref": "container",
            "xanchor": "left",
            # The baseline of the first line: the one place plotly keeps for one line and for several.
            "y": 1 - 34 / (height + head_px),
            "yref": "container",
            "yanchor": "bottom",
            "pad": {"l": 24},
            "font": {"size": TITLE_PX, "color": look.ink, "family": FONT},
        },
        "hoverlabel": {
            "bgcolor": look.paper,
            "font": {"family": FONT, "size": 12, "color": look.ink},
            "align": "left",
            "namelength": 0,
        },
        "hovermode": "closest",
        "showlegend": False,
        "meta": {"finding": title, "theme": theme},
    }
    return Figure({"data": traces, "layout": {**base, **layout}})


def statement(theme: str, *, title: str, words: str) -> Figure:
    """A figure with nothing to draw, which says so and what would change it."""
    look = theme_of(theme)
    lines = fit(words, WIDTH_PX * 0.7, 15, 6)
    note = {
        "text": "<br>".join(safe(line) for line in lines),
        "x": 0.5,
        "y": 0.55,
        "xref": "paper",
        "yref": "paper",
        "showarrow": False,
        "font": {"size": 15, "color": look.muted, "family": FONT},
        "align": "center",
    }
    blank = {"visible": False, "range": [0, 1], "fixedrange": True}
    return figure(
        [{"type": "scatter", "x": [], "y": [], "mode": "markers", "hoverinfo": "skip"}],
        theme,
        title=title,
        height=220,
        margin=(24, 24, 24),
        annotations=[note],
        xaxis=blank,
        yaxis=blank,
    )


def marks(
    name: str, x: list[float], y: list[float], said: list[str], marker: dict[str, Any], **more: Any
) -> dict[str, Any]:
    """A trace of marks; `said` is what a pointer over each is shown, escaped by the caller."""
    return {
        "type": "scatter",
        "name": name,
        "mode": "markers",
        "x": x,
        "y": y,
        "marker": marker,
        "cliponaxis": False,
        "hoverinfo": "text",
        "text": said,
        **more,
    }


def axis(look: Theme, *, title: str = "", title_gap: float | None = None, **more: Any) -> dict[str, Any]:
    """A plotly axis in the theme's look: quiet grid, outside ticks, no zero line.

    Args:
        look: The theme.
        title: What the axis counts; empty for none.
        title_gap: Between ticks and title, in pixels; None takes plotly's.
        more: More of plotly's axis.
    """
    return {
        "title": {"text": title, "font": {"size": 12, "color": look.muted}, "standoff": title_gap},
        "gridcolor": look.grid,
        "linecolor": look.axis,
        "showline": True,
        "zeroline": False,
        "ticks": "outside",
        "ticklen": 4,
        "tickcolor": look.axis,
        "tickfont": {"size": TICK_PX, "color": look.muted, "family": FONT},
        **more,
    }


def names(look: Theme, several: list[str], size: float) -> dict[str, Any]:
    """A plotly axis of names, the first on top and each one around its index; escaped here."""
    return axis(
        look,
        range=[len(several) - 0.5, -0.5],
        tickvals=list(range(len(several))),
        ticktext=[safe(name) for name in several],
        ticks="",
        ticklabelstandoff=6,
        tickfont={"size": size, "color": look.ink},
        showgrid=False,
        fixedrange=True,
    )


def label(
    text: str, look: Theme, *, size: float = LABEL_PX, colour: str | None = None, **where: Any
) -> dict[str, Any]:
    """An annotation without an arrow; `text` is plotly's markup, escaped by the caller."""
    return {
        "text": text,
        "showarrow": False,
        "font": {"size": size, "color": colour or look.ink, "family": FONT},
        **where,
    }


def _follow() -> str:
    """The script that turns a light figure dark and back, as its page or notebook says.

    It asks, in this order: `data-theme` of the page, JupyterLab's and VS Code's own marks, the reader's
    system.
    """
    pairs = json.dumps(dict(zip(LIGHT.colours(), DARK.colours(), strict=True)))
    return (
        """(function () {
  var gd = document.getElementById("{plot_id}"), there = """
        + pairs
        + """, back = {}, now = "light";
  Object.keys(there).forEach(function (k) { back[there[k]] = k; });
  var system = window.matchMedia("(prefers-color-scheme: dark)");
  function wanted() {
    var root = document.documentElement, body = document.body;
    if (root.dataset.theme === "dark" || root.dataset.theme === "light") return root.dataset.theme;
    if (body.dataset.jpThemeLight) return body.dataset.jpThemeLight === "false" ? "dark" : "light";
    var code = body.dataset.vscodeThemeKind;
    if (code) return /dark|black/.test(code) ? "dark" : "light";
    return system.matches ? "dark" : "light";
  }
  // What a person wrote is never taken for a colour: inside words only the markup's own `color:` turns.
  var words = /^(text|hovertext|ticktext|values|name|customdata|meta)$/, inside = /color:(#[0-9a-f]{6})/g;
  function turned(one, map, said) {
    if (typeof one === "string") {
      if (!said && map[one]) return map[one];
      return one.replace(inside, function (all, c) { return map[c] ? "color:" + map[c] : all; });
    }
    if (Array.isArray(one)) return one.map(function (part) { return turned(part, map, said); });
    if (one && one.constructor === Object) {
      var made = {};
      Object.keys(one).forEach(function (k) { made[k] = turned(one[k], map, said || words.test(k)); });
      return made;
    }
    return one;
  }
  function follow() {
    var next = wanted();
    if (next === now) return;
    var map = next === "dark" ? there : back;
    now = next;
    Plotly.react(gd, turned(gd.data, map), turned(gd.layout, map));
  }
  follow();
  system.addEventListener("change", follow);
  new MutationObserver(follow).observe(document.documentElement, {attributes: true});
  new MutationObserver(follow).observe(document.body, {attributes: true});
})();"""
    )


def _page_style(theme: str) -> str:
    """The page around a lone figure takes the figure's paper."""
    dark = f"html,body{{background:{DARK.paper};color-scheme:dark}}"
    rules = {
        "light": f"html,body{{background:{LIGHT.paper};color-scheme:light}}",
        "dark": dark,
        "auto": f"html,body{{background:{LIGHT.paper}}}@media(prefers-color-scheme:dark){{{dark}}}",
    }
    return f'<meta name="viewport" content="width=device-width"><style>body{{margin:0}}{rules[theme]}</style>'
