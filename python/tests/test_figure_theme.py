"""The colours that every picture takes: two themes that pair off, and a scale that anybody can read."""

from __future__ import annotations

import subprocess
import sys

import pytest

from somatize.figure import DARK, LIGHT, theme_of
from somatize.figure.words import aligned, fit, hover, number, rounded, safe, width_px

# What the three kinds of dichromats see, in linear RGB at full severity: Machado, Oliveira, Fernandes, 2009,
# "A physiologically-based model for simulation of color vision deficiency", table 1.
SEEN_BY = {
    "anybody": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def linear(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def luminance(colour, matrix=SEEN_BY["anybody"]):
    seen = [sum(a * b for a, b in zip(row, linear(colour), strict=True)) for row in matrix]
    return max(0.2126 * seen[0] + 0.7152 * seen[1] + 0.0722 * seen[2], 0.0)


def contrast(one, other):
    lower, higher = sorted((luminance(one), luminance(other)))
    return (higher + 0.05) / (lower + 0.05)


def test_the_themes_pair_off_and_no_colour_stands_for_two_things():
    assert len(LIGHT.colours()) == len(DARK.colours())
    for look in (LIGHT, DARK):
        assert len(set(look.colours())) == len(look.colours())


@pytest.mark.parametrize("look", [LIGHT, DARK], ids=lambda look: look.name)
@pytest.mark.parametrize("who", SEEN_BY)
def test_the_scale_grows_away_from_the_paper_for_anybody(look, who):
    light = [luminance(colour, SEEN_BY[who]) for colour in look.scale]
    paper = luminance(look.paper, SEEN_BY[who])
    distances = [abs(one - paper) for one in light]
    assert distances == sorted(distances)
    assert (max(light) + 0.05) / (min(light) + 0.05) > 5


@pytest.mark.parametrize("look", [LIGHT, DARK], ids=lambda look: look.name)
def test_words_can_be_read_on_the_paper(look):
    for colour in (look.ink, look.muted):
        assert contrast(colour, look.paper) >= 4.5
    for colour in (look.best, look.done, look.failed, look.running, look.accent):
        assert contrast(colour, look.paper) >= 3


def test_a_theme_that_is_not_there_names_a_close_one():
    with pytest.raises(
        ValueError, match="`theme` was given `drak`, expected `light`, `dark` or `auto`, did you mean `dark`"
    ):
        theme_of("drak")


def test_numbers_are_read_not_padded():
    assert [number(one) for one in (0.00002771855, 0.5, 64, 12345.6, 1234567.0, 0.0, -1e-5)] == [
        "2.772e-5",
        "0.5",
        "64",
        "12346",
        "1.235e6",
        "0",
        "-1e-5",
    ]
    assert [aligned(one) for one in (0.223, 3.27, 5000.0, 1e-5)] == ["0.2230", "3.270", "5000", "1.000e-5"]
    assert rounded("best is 10.291398620605468, after 5 of 1.5") == "best is 10.29, after 5 of 1.5"


def test_a_long_name_is_fitted_and_keeps_both_its_ends():
    text = "an_option_that_has_a_very_long_name_of_sixty_characters_0001"
    (line,) = fit(text, 120, 12)
    assert line.startswith("an_")
    assert line.endswith("0001")
    assert "…" in line
    assert width_px(line, 12) <= 120
    assert "".join(fit(text, 200, 12, 9)) == text
    assert fit("its best is 10.29, worse", 110, 12, 9) == ["its best", "is 10.29, worse"]


def test_what_a_person_wrote_is_shown_as_it_is():
    assert safe("<b>&amp;</b> %{x} $a$") == "&lt;b&gt;&amp;amp;&lt;/b&gt; %&#123;x} &#36;a&#36;"
    assert safe("a\u202eb\x00") == "a\\u202eb\\x00"
    assert safe("color:#ffffff") == "color&#58;#ffffff"
    assert hover([("trial 1", "rank 1 of 2"), ("opt", "<i>adam</i>")]) == (
        "<b>trial 1</b> · rank 1 of 2<br>opt  &lt;i&gt;adam&lt;/i&gt;"
    )


def test_importing_the_study_loads_no_plotly():
    code = "import sys, somatize.study as s; s.table, s.timeline; assert 'plotly' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
