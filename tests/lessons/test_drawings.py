"""The drawings: one palette, a colour for each axis, legible in light and dark and to all eyes."""

import math
import re
from itertools import combinations
from xml.etree import ElementTree

import pytest

from .conftest import LESSONS

DRAWINGS = sorted(LESSONS.glob("*.svg"))
AXES = ("T", "H", "d_head", "d_model")
SVG = "{http://www.w3.org/2000/svg}"

# Linear RGB as seen without one kind of cone (Machado, Oliveira and Fernandes 2009, severity 1).
EYES = {
    "trichromat": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanope": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranope": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanope": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def style(drawing):
    return re.search(r"<style>(.*)</style>", drawing.read_text(), re.DOTALL)[1]


def palettes():
    """The colours by class and property, in light and in dark."""
    light, dark = style(DRAWINGS[0]).split("@media (prefers-color-scheme: dark)")
    colours = _colours(light)
    return {"light": colours, "dark": colours | _colours(dark)}


def _colours(css):
    return {
        (selector.strip().lstrip("."), name): colour
        for selector, body in re.findall(r"([.\w-]+) \{([^{}]*)\}", css)
        for name, colour in re.findall(r"(fill|stroke|color): (#\w{6})", body)
    }


@pytest.fixture(params=["light", "dark"])
def palette(request):
    return palettes()[request.param]


def linear(colour):
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]


def luminance(colour):
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(colour), strict=True))


def contrast(one, other):
    """The contrast ratio of the web's accessibility guidelines, 1 to 21."""
    dim, bright = sorted((luminance(one), luminance(other)))
    return (bright + 0.05) / (dim + 0.05)


def lab(rgb):
    rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    white = (0.9505, 1.0, 1.089)
    xyz = [max(sum(a * b for a, b in zip(row, rgb, strict=True)), 0) for row in rows]
    f = [
        v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116
        for v in (a / w for a, w in zip(xyz, white, strict=True))
    ]
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


def distance(one, other, eye):
    """How different two colours look to an eye: CIE 1976; 2 is just noticeable."""
    seen = [
        lab([sum(a * b for a, b in zip(row, linear(colour), strict=True)) for row in EYES[eye]])
        for colour in (one, other)
    ]
    return math.dist(*seen)


def test_every_drawing_has_the_same_style():
    assert len(DRAWINGS) >= 9
    assert {style(drawing) for drawing in DRAWINGS} == {style(DRAWINGS[0])}


@pytest.mark.parametrize("drawing", DRAWINGS, ids=lambda path: path.stem)
def test_colours_stand_in_the_style_and_nowhere_else(drawing):
    body = drawing.read_text().split("</style>")[1]
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b|(?:fill|stroke|style)=", body) == []


@pytest.mark.parametrize("drawing", DRAWINGS, ids=lambda path: path.stem)
def test_an_axis_has_its_own_colour_wherever_it_is_named(drawing):
    tree = ElementTree.parse(drawing)
    groups = [g for g in tree.iter(f"{SVG}g") if g.get("class")]
    assert groups
    for group in groups:
        (label,) = (text.text for text in group.iter(f"{SVG}text"))
        assert label.split(",")[0] == group.get("class")
        assert group.get("class") in AXES


@pytest.mark.parametrize("drawing", DRAWINGS, ids=lambda path: path.stem)
def test_a_drawing_stands_alone(drawing):
    text = drawing.read_text()
    root = ElementTree.fromstring(text)
    assert root.find(f"{SVG}title").text
    assert root.find(f"{SVG}rect").get("class") == "panel"
    assert re.findall(r"(?:href|src)=|@import|@font-face|<script|<image", text) == []
    width, height = int(root.get("width")), int(root.get("height"))
    assert root.get("viewBox") == f"0 0 {width} {height}"
    assert width <= 860
    assert len(text) < 12_000


@pytest.mark.parametrize("drawing", DRAWINGS, ids=lambda path: path.stem)
def test_everything_lies_on_the_panel(drawing):
    root = ElementTree.parse(drawing).getroot()
    width, height = int(root.get("width")), int(root.get("height"))
    for element in root.iter():
        if element.get("x") and element.tag != f"{SVG}pattern":
            x, y = float(element.get("x")), float(element.get("y"))
            assert 0 <= x <= x + float(element.get("width") or 0) <= width
            assert 0 <= y <= y + float(element.get("height") or 0) <= height


@pytest.mark.parametrize("ground", ["panel", "box", "head-0", "head-1"])
def test_text_is_legible_on_every_ground(palette, ground):
    assert contrast(palette["text", "fill"], palette[ground, "fill"]) >= 4.5


@pytest.mark.parametrize("axis", AXES)
def test_names_of_axes_are_legible(palette, axis):
    assert contrast(palette[axis, "color"], palette["panel", "fill"]) >= 4.5


@pytest.mark.parametrize("line", ["line", "shut", "hatch", "box", "head-0", "head-1"])
def test_lines_can_be_seen(palette, line):
    assert contrast(palette[line, "stroke"], palette["panel", "fill"]) >= 3


@pytest.mark.parametrize("eye", EYES)
def test_axes_look_different_to_every_eye(palette, eye):
    for one, other in combinations(AXES, 2):
        assert distance(palette[one, "color"], palette[other, "color"], eye) > 20, (one, other)


@pytest.mark.parametrize("eye", EYES)
def test_heads_look_different_to_every_eye(palette, eye):
    assert distance(palette["head-0", "fill"], palette["head-1", "fill"], eye) > 12


def test_letters_over_a_hatch_stand_on_the_colour_of_the_panel(palette):
    assert palette["halo", "stroke"] == palette["panel", "fill"]
