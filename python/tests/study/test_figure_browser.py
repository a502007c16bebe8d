"""Every figure in a real browser: what it draws, that no label covers another, that it asks nothing."""

from __future__ import annotations

import math
import os
import random
import shutil
import time
from pathlib import Path

import pytest

from somatize.report import _page
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
        self.page.set_default_timeout(120_000)
        self.page.goto(path.resolve().as_uri())
        self.page.wait_for_selector(".js-plotly-plot .main-svg")
        # Two frames: the theme's script and plotly have drawn.
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def shot(self, name):
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SHOTS / f"{name}.png", full_page=True)

    def count(self, selector):
        return self.page.locator(selector).count()

    def overlaps(self):
        """Pairs of words that cover each other by more than a pixel; a table's cells are plotly's matter."""
        return self.page.evaluate(
            """() => [...document.querySelectorAll(".js-plotly-plot")].flatMap(figure => {
              const boxes = [...figure.querySelectorAll(".main-svg text")]
                .filter(one => one.textContent.trim() && !one.closest(".table, .hoverlayer"))
                .map(one => [one.textContent, one.getBoundingClientRect()])
                .filter(([, box]) => box.width > 0);
              const found = [];
              boxes.forEach(([a, p], i) => boxes.slice(i + 1).forEach(([b, q]) => {
                const wide = Math.min(p.right, q.right) - Math.max(p.left, q.left);
                const high = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
                if (wide > 1 && high > 2.5) found.push([a, b, wide, high]);
              }));
              return found;
            })"""
        )

    def outside(self):
        """Words that a figure's edge cuts."""
        return self.page.evaluate(
            """() => [...document.querySelectorAll(".js-plotly-plot")].flatMap(figure => {
              const edge = figure.getBoundingClientRect();
              return [...figure.querySelectorAll(".main-svg text")].filter(one => {
                const box = one.getBoundingClientRect();
                if (!box.width || one.closest(".table")) return false;
                return box.left < edge.left - 1 || box.right > edge.right + 1 || box.top < edge.top - 1
                  || box.bottom > edge.bottom + 1;
              }).map(one => one.textContent);
            })"""
        )

    def holds(self):
        """Nothing was said or asked, no word covers another, none is cut."""
        assert self.said == []
        assert [url for url in self.asked if not url.startswith(("file:", "data:", "blob:"))] == []
        assert self.overlaps() == []
        assert self.outside() == []


@pytest.fixture
def opened(browser, tmp_path):
    pages = []

    def show(html, name, scheme="light", size=(1000, 700)):
        path = tmp_path / f"{name}.html"
        path.write_text(html, encoding="utf-8")
        one = Opened(browser, path, scheme)
        pages.append(one)
        one.page.set_viewport_size({"width": size[0], "height": size[1]})
        one.shot(name)
        one.holds()
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
                score=-5000.0 if trial == 7 else rng.random(),
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
        "timeline": [(".barlayer .point", len(record.attempts)), (".ytick", 3), (".legend .traces", 4)],
    }[name]


@pytest.mark.parametrize("name", DRAW)
def test_a_figure_draws_what_it_counts_and_follows_its_reader(opened, name):
    record = usual()
    figure = DRAW[name](record, "auto")
    size = math.ceil(figure.layout.width), math.ceil(figure.layout.height)
    page = opened(figure.to_html(), name, size=size)
    paper = "getComputedStyle(document.querySelector('.main-svg')).backgroundColor"
    white, night = "rgb(255, 255, 255)", "rgb(20, 23, 31)"
    for scheme, colour in (("light", white), ("dark", night), ("light", white)):
        page.page.emulate_media(color_scheme=scheme)
        page.page.wait_for_function(f"{paper} === '{colour}'")
        for selector, n in expected(name, record):
            assert page.count(selector) == n if n is not None else page.count(selector) > 0, selector
        page.holds()
        page.shot(f"{name}-{scheme}")


def gallery(record):
    """All figures on one page, as a notebook holds them."""
    figures = [draw(record, "auto") for draw in DRAW.values()]
    parts = [figures[0].to_html(full_html=False, include_plotlyjs=True)]
    parts += [figure.to_html(full_html=False, include_plotlyjs=False) for figure in figures[1:]]
    return f"<!DOCTYPE html><html><body>{''.join(parts)}</body></html>"


def test_figures_stay_readable_with_three_trials_and_two_knobs(opened):
    record = usual(3)
    few = Record.of(
        [dict(trial=one.trial, state=one.state, point=one.point, score=one.score) for one in record.rows],
        record.knobs[:2],
        study="few",
        goal="min",
        importance=record.importance[:2],
        curves=record.curves,
    )
    page = opened(gallery(few), "three")
    assert page.count(".js-plotly-plot") == len(DRAW)


def test_figures_stay_readable_with_three_thousand_trials_and_twenty_knobs(opened):
    page = opened(gallery(hard()), "thousands", "dark", size=(2600, 900))
    assert page.count(".js-plotly-plot") == len(DRAW)
    curves = page.page.locator(".js-plotly-plot").nth(list(DRAW).index("coordinates"))
    assert curves.locator(".shapelayer path").count() == 20
    # A gap splits a curve into paths; its trace stays one.
    assert curves.locator(".scatterlayer .trace:has(.js-line)").count() == 400 + 120


def edge(n=30, goal="min", score=lambda i: 0.9871 + i * 1e-6):
    """Many options, odd ones, whole numbers that no float holds, ends that differ in their last digits."""
    rng = random.Random(3)
    knobs = [
        Knob("seed", "choice", options=tuple(range(60))),
        Knob("data", "choice", options=tuple(f"a/very/long/prefix/of/path_{i}" for i in range(9))),
        Knob("odd", "choice", options=("", " ", "<b>x</b>", "$x$", "\u202eabc", "שלום", "&amp;")),
        Knob("tiny", "real", 1e-300, 1e-299),
        Knob("near", "real", 0.98711, 0.98742),
        Knob("w", "int", -(2**63), 2**63 - 1),
    ]
    rows = []
    for trial in range(n):
        point = {knob.name: rng.choice(knob.options or (knob.low, knob.high)) for knob in knobs}
        rows.append(dict(trial=trial, state="done", score=score(trial), point=point, who=f"w{trial % 3}"))
    curves = {(trial, 0): [score(trial)] for trial in range(n)}
    ranking = [(knob.name, 0.5) for knob in knobs]
    return Record.of(rows, knobs, study="edge", goal=goal, importance=ranking, curves=curves)


@pytest.mark.parametrize(
    ("name", "record"),
    [
        ("one trial", edge(1)),
        ("equal scores", edge(score=lambda _: 1.0)),
        ("no goal", edge(goal=None)),
        ("widest scores", edge(score=lambda i: (-1.7e308, 0.0, 1.7e308)[i % 3])),
        ("all the floats", edge(score=lambda i: (5e-324, 1.7e308)[i % 2])),
    ],
)
def test_figures_stay_readable_at_the_edge_of_what_a_study_may_hold(opened, name, record):
    assert opened(gallery(record), name).count(".js-plotly-plot") == len(DRAW)


HOSTILE = (
    "<img src=x onerror='window.hit=1'>",
    "</script><script>window.hit=1</script>",
    "<a href='javascript:window.hit=1'>x</a>",
    "$\\href{javascript:window.hit=1}{x}$",
)


def test_nothing_a_person_wrote_is_run_or_becomes_a_link(opened):
    knobs = [Knob(name, "choice", options=HOSTILE) for name in HOSTILE]
    rows = [
        dict(trial=i, state=state, score=1.0 * i, point=dict.fromkeys(HOSTILE, one), who=one, because=one)
        for i, (one, state) in enumerate((one, state) for one in HOSTILE for state in ("done", "pruned"))
    ]
    record = Record.of(rows, knobs, study=HOSTILE[1], goal="min", importance=[(one, 0.5) for one in HOSTILE])
    for name, html in (
        ("hostile", gallery(record)),
        ("hostile-report", _page(record, {1}, where="w", theme="auto")),
    ):
        page = opened(html, name)
        assert page.page.evaluate("window.hit") is None
        assert page.count("img") == page.count("a:not(.modebar-btn)") == 0


def test_figures_with_nothing_to_show_say_so(opened):
    page = opened(gallery(Record.of([], usual().knobs, study="widths", goal="min")), "nothing")
    assert page.count(".gtitle") == page.count(".annotation") == len(DRAW)
    assert all("widths" in title for title in page.page.locator(".gtitle").all_text_contents())


def test_a_pointer_over_a_curve_shows_the_whole_point(opened):
    record = usual()
    page = opened(DRAW["coordinates"](record, "light").to_html(), "coordinates-hover")
    best = record.best
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


def until(page, holds):
    """Wait for a JavaScript condition, asked from outside: the page's policy forbids it to poll a text."""
    ends = time.monotonic() + 30
    while not page.page.evaluate(holds):
        assert time.monotonic() < ends, f"never: {holds}"
        page.page.wait_for_timeout(50)


def test_the_report_opens_and_turns(opened):
    record = usual()
    text = _page(record, {29}, where="studies", theme="auto")
    page = opened(text, "report", size=(1040, 900))
    assert page.count(".js-plotly-plot") == 6
    assert page.count("tbody tr") == len(record.rows) + len(record.knobs)
    page.page.click("#turn")
    until(page, "getComputedStyle(document.body).backgroundColor === 'rgb(20, 23, 31)'")
    until(
        page,
        """[...document.querySelectorAll(".js-plotly-plot > .plot-container .main-svg:first-child")]
          .every(one => getComputedStyle(one).backgroundColor === "rgb(20, 23, 31)")""",
    )
    page.holds()
    page.shot("report-dark")


def test_the_report_breaks_no_word_of_its_table_and_says_that_it_scrolls(opened):
    why = "after 2 reports its best is 1.2345, worse than 0.8123, the median of 9 trials by then"
    knobs = [Knob(name, "real", 0.0, 1.0) for name in ("lr", "width", "dropout", "momentum")]
    rows = [
        dict(
            trial=i,
            state="pruned" if i % 3 == 1 else "done",
            score=0.123456 + i,
            point={knob.name: 0.0123456 * (i + 1) for knob in knobs},
            who=f"otherhost_45ef678{i % 2}",
            because=why if i % 3 == 1 else None,
        )
        for i in range(40)
    ]
    record = Record.of(rows, knobs, study="words", goal="min")
    page = opened(_page(record, set(), where="w", theme="light"), "report-words", size=(1280, 900))
    broken = """() => [...document.querySelectorAll(".scroll th, .scroll td")].flatMap(cell => {
      const text = cell.firstChild, words = text ? [...text.data.matchAll(/[^\\s-]+/g)] : [];
      return words.filter(word => {
        const range = document.createRange();
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        return range.getClientRects().length > 1;
      }).map(word => word[0]);
    })"""
    assert page.page.evaluate(broken) == []
    told = page.page.locator(".more")
    assert told.nth(0).text_content() == "The table goes on: scroll it down."
    assert told.nth(1).is_hidden()
    page.page.set_viewport_size({"width": 640, "height": 900})
    told.first.filter(has_text="to the right").wait_for()  # the page's policy forbids a function that polls
    assert page.page.evaluate(broken) == []
