"""Every figure in a real browser: what it draws, that no label covers another, that it asks nothing."""

from __future__ import annotations

import math
import os
import random
import shutil
from pathlib import Path

import pytest

from somatize.study.figures import coordinates, history, influence, learning, slices, table, timeline
from somatize.study.figures.record import Knob, Record

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SHOTS = Path(os.environ.get("SOMATIZE_SHOTS", "out/figures"))

pytestmark = pytest.mark.skipif(
    CHROMIUM is None,
    reason="lacks a Chromium (`apt-get install chromium`): the figures are not opened in a browser",
)


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="lacks playwright, which drives the browser")
    with sync_api.sync_playwright() as play:
        running = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield running
        running.close()


class Opened:
    """A page and what happened while it loaded."""

    def __init__(self, browser, path, scheme):
        self.page = browser.new_page(color_scheme=scheme)
        self.said, self.asked = [], []
        self.page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.resolve().as_uri())
        self.page.wait_for_selector(".js-plotly-plot .main-svg")
        # Two frames: the theme's script and plotly have drawn.
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def count(self, selector):
        return self.page.locator(selector).count()

    def overlaps(self):
        """Pairs of words that cover each other by more than a pixel; a table's cells are plotly's matter."""
        return self.page.evaluate(
            """() => {
              const words = [...document.querySelectorAll(".main-svg text")].filter(
                one => one.textContent.trim() && !one.closest(".table") && !one.closest(".hoverlayer"));
              const boxes = words.map(one => [one.textContent, one.getBoundingClientRect()])
                .filter(([, box]) => box.width > 0);
              const found = [];
              boxes.forEach(([a, p], i) => boxes.slice(i + 1).forEach(([b, q]) => {
                const wide = Math.min(p.right, q.right) - Math.max(p.left, q.left);
                const high = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
                if (wide > 1 && high > 2.5) found.push([a, b, wide, high]);
              }));
              return found;
            }"""
        )

    def outside(self):
        """Words that the figure's edge cuts."""
        return self.page.evaluate(
            """() => {
              const edge = document.querySelector(".js-plotly-plot").getBoundingClientRect();
              return [...document.querySelectorAll(".main-svg text")].filter(one => {
                const box = one.getBoundingClientRect();
                if (!box.width || one.closest(".table")) return false;
                return box.left < edge.left - 1 || box.right > edge.right + 1 || box.top < edge.top - 1
                  || box.bottom > edge.bottom + 1;
              }).map(one => one.textContent);
            }"""
        )


@pytest.fixture
def opened(browser, tmp_path, request):
    pages = []

    def show(figure, name, scheme="light"):
        path = tmp_path / f"{name}.html"
        figure.write_html(path)
        one = Opened(browser, path, scheme)
        pages.append(one)
        one.page.set_viewport_size(
            {"width": math.ceil(figure.layout.width), "height": math.ceil(figure.layout.height)}
        )
        SHOTS.mkdir(parents=True, exist_ok=True)
        one.page.screenshot(path=SHOTS / f"{name}.png")
        assert one.said == []
        assert [url for url in one.asked if not url.startswith(("file:", "data:", "blob:"))] == []
        assert one.overlaps() == []
        assert one.outside() == []
        return one

    yield show
    for one in pages:
        one.page.close()


def usual(n=30, seed=1):
    """Three knobs, some trials pruned, one failed, one running."""
    rng = random.Random(seed)
    knobs = [
        Knob("lr", "real", 1e-4, 1e-1, log=True),
        Knob("width", "int", 8, 64),
        Knob("opt", "choice", options=("adam", "sgd")),
    ]
    rows, curves = [], {}
    for trial in range(n):
        point = {
            "lr": 10 ** rng.uniform(-4, -1),
            "width": rng.randint(8, 64),
            "opt": rng.choice(["adam", "sgd"]),
        }
        score = abs(math.log10(point["lr"]) + 1.7) + 0.3 * rng.random()
        state = "pruned" if trial > 6 and rng.random() < 0.4 else "done"
        because = "worse than the median 0.4 at report 5" if state == "pruned" else None
        rows.append(
            dict(
                trial=trial,
                state=state,
                point=point,
                score=score,
                who=f"w{trial % 3}",
                took_secs=1 + rng.random(),
                because=because,
            )
        )
        n_reports = 5 if state == "pruned" else 8
        curves[trial, 0] = [score * (1 + 3 * math.exp(-step)) for step in range(n_reports)]
    if n > 9:
        rows[8] |= dict(state="failed", score=None, because="ValueError: <b>no</b> such $loss$")
        rows[n - 1] |= dict(state="running", score=None, took_secs=None)
    ranking = [("lr", 0.91), ("opt", 0.22), ("width", 0.04)]
    return Record.of(rows, knobs, study="widths", goal="min", importance=ranking, curves=curves)


def hard(n=3000, n_knobs=20):
    """Many trials, many knobs, long names and options, a conditional knob, one outlier."""
    rng = random.Random(2)
    kinds = [
        lambda i: Knob(f"learning_rate_of_block_{i}", "real", 1e-5, 1e-1, log=True),
        lambda i: Knob(f"w{i}", "int", 8, 512),
        lambda i: Knob(
            f"dropout {i} of the encoder's attention layers", "real", 0.0, 0.6, when=("c3", (LONG[0],))
        ),
        lambda i: Knob(f"c{i}", "choice", options=LONG),
    ]
    knobs = [kinds[i % 4](i) for i in range(n_knobs)]
    rows = []
    for trial in range(n):
        point = {}
        for knob in knobs:
            if knob.kind == "choice":
                point[knob.name] = rng.choice(knob.options)
            elif knob.kind == "int":
                point[knob.name] = rng.randint(8, 512)
            elif knob.when is None or rng.random() < 0.5:
                point[knob.name] = rng.uniform(knob.low, knob.high)
        state = "pruned" if rng.random() < 0.3 else "done"
        rows.append(
            dict(
                trial=trial,
                state=state,
                point=point,
                score=5000.0 if trial == 7 else rng.random(),
                who="w",
                took_secs=1.0,
            )
        )
    ranking = [(knob.name, 0.9 - 0.04 * i) for i, knob in enumerate(knobs)]
    curves = {(trial, 0): [rows[trial]["score"] + 1 / (1 + step) for step in range(12)] for trial in range(n)}
    return Record.of(rows, knobs, study="a study & its <name>", goal="max", importance=ranking, curves=curves)


LONG = tuple(
    f"an option whose name is {word} than sixty characters, which is much too long"[:60]
    for word in ("longer", "wider", "larger")
)

DRAW = {
    "table": lambda record, theme: table._draw(table._table_data(record), theme),
    "influence": lambda record, theme: influence._draw(influence._influence_data(record), theme),
    "coordinates": lambda record, theme: coordinates._draw(coordinates._coordinates_data(record), theme),
    "history": lambda record, theme: history._draw(history._history_data(record), theme),
    "learning": lambda record, theme: learning._draw(learning._learning_data(record), theme),
    "slices": lambda record, theme: slices._draw(slices._slices_data(record), theme),
    "timeline": lambda record, theme: timeline._draw(timeline._timeline_data(record, [29]), theme),
}


def expected(name, record):
    """Selector and number: what the DOM must hold."""
    finished, pruned = len(record.finished), len(record.of_state("pruned"))
    knobs = len(record.knobs)
    lines = ".scatterlayer .trace .js-line"
    return {
        "table": [(".table .column-block", None)],
        "influence": [(".barlayer .point", knobs), (".ytick", knobs)],
        # A line a trial; a shape an axis; the score's is the colour bar.
        "coordinates": [(lines, finished + pruned), (".shapelayer path", knobs), (".colorbar", 1)],
        "history": [(".scatterlayer .trace", 5), (".xaxislayer-above, .xaxislayer-below", None)],
        "learning": [(lines, len(record.curves)), (".colorbar", 1)],
        "slices": [(".subplot.xy, .subplot.x2y2, .subplot.x3y3", knobs)],
        "timeline": [(".barlayer .point", len(record.attempts)), (".ytick", 3), (".legend .traces", 5)],
    }[name]


@pytest.mark.parametrize("name", DRAW)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_figure_draws_what_it_counts(opened, name, theme):
    record = usual()
    page = opened(DRAW[name](record, theme), f"{name}-{theme}")
    for selector, n in expected(name, record):
        assert page.count(selector) == n if n is not None else page.count(selector) > 0, selector


@pytest.mark.parametrize("name", DRAW)
def test_a_figure_stays_readable_with_three_trials_and_two_knobs(opened, name):
    record = usual(3)
    few = Record.of(
        [dict(trial=one.trial, state=one.state, point=one.point, score=one.score) for one in record.rows],
        record.knobs[:2],
        study="few",
        goal="min",
        importance=record.importance[:2],
        curves=record.curves,
    )
    opened(DRAW[name](few, "auto"), f"{name}-three")


@pytest.mark.parametrize("name", DRAW)
def test_a_figure_stays_readable_with_three_thousand_trials_and_twenty_knobs(opened, name):
    page = opened(DRAW[name](hard(), "auto"), f"{name}-thousands", "dark")
    if name == "coordinates":
        assert page.count(".shapelayer path") == 20
        # Beside a gap a line is broken, not left out: one path a curve all the same.
        assert page.count(".scatterlayer .trace .js-line") == 400 + 120


@pytest.mark.parametrize("name", DRAW)
def test_a_figure_with_nothing_to_show_says_so(opened, name):
    nothing = Record.of([], usual().knobs, study="widths", goal="min")
    page = opened(DRAW[name](nothing, "auto"), f"{name}-nothing")
    assert "widths" in page.page.locator(".gtitle").text_content()
    assert page.count(".annotation") == 1


@pytest.mark.parametrize("name", DRAW)
def test_auto_follows_its_reader_and_comes_back(opened, name):
    page = opened(DRAW[name](usual(), "auto"), f"{name}-auto", "dark")
    paper = "getComputedStyle(document.querySelector('.main-svg')).backgroundColor"
    assert page.page.evaluate(paper) == "rgb(20, 23, 31)"
    page.page.evaluate("document.documentElement.dataset.theme = 'light'")
    page.page.wait_for_function(f"{paper} === 'rgb(255, 255, 255)'")
    page.page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.page.wait_for_function(f"{paper} === 'rgb(20, 23, 31)'")
    assert page.said == []


def test_a_pointer_over_a_curve_shows_the_whole_point(opened):
    record = usual()
    page = opened(DRAW["coordinates"](record, "light"), "coordinates-hover")
    best = record.best
    box = page.page.locator(".scatterlayer .trace").last.bounding_box()
    page.page.mouse.move(box["x"] + 2, box["y"] + 1)
    lr = best.point["lr"]
    axis = page.page.locator(".nsewdrag").bounding_box()
    height = 1 - (math.log10(lr) + 4) / 3
    page.page.mouse.move(axis["x"] + 1, axis["y"] + height * axis["height"])
    page.page.wait_for_selector(".hovertext")
    said = page.page.locator(".hovertext").first.text_content()
    assert f"trial {best.trial}" in said
    assert f"width  {best.point['width']}" in said
    assert f"opt  {best.point['opt']}" in said
    page.page.screenshot(path=SHOTS / "coordinates-hover.png")
