import math

import pytest
from PIL import Image

from attention_lab.heatmap import drawn, text
from attention_lab.heatmap.text import Face

WORDS = "Every head gets its own run of features"


def test_a_line_is_written_with_its_anchor_at_the_nearest_pixel():
    image = Image.new("L", (60, 40))
    text.write(image, (29.6, 20.2), "mm", 255, Face(11), "mm")
    left, top, right, bottom = image.getbbox()
    assert abs((left + right) / 2 - 30) <= 1
    assert abs((top + bottom) / 2 - 20) <= 2


def test_lines_are_as_wide_as_there_is_room_and_lose_no_word():
    face = Face(13)
    lines = text.wrap(WORDS, face, 100)
    assert len(lines) > 2
    assert " ".join(lines) == WORDS
    assert all(text.length(line, face) <= 100 for line in lines)
    assert text.wrap(WORDS, face, math.ceil(text.length(lines[0], face)))[0] == lines[0]
    assert text.length(f"{lines[0]} {lines[1].split()[0]}", face) > 100


@pytest.mark.parametrize("words", ["", "\ud800", "a"])
def test_even_a_word_without_room_is_a_line(words):
    assert text.wrap(words, Face(13), 1) == [words]


def test_bold_and_large_letters_reach_further():
    assert text.length("a", Face(11)) < text.length("a", Face(11, bold=True))
    assert text.length("a", Face(11)) < text.length("a", Face(13))


@pytest.mark.parametrize("anchor", ["la", "mm", "ls"])
def test_a_line_that_was_kept_is_the_same(monkeypatch, anchor):
    seen, kept = [], {}
    for keep in (None, kept, kept):
        monkeypatch.setattr(drawn, "_kept", keep)
        text.lay_out.cache_clear()
        text.length.cache_clear()
        image = Image.new("L", (300, 40))
        text.write(image, (20, 20), WORDS, 255, Face(13), anchor)
        seen.append((image.tobytes(), text.length(WORDS, Face(13))))
    assert len(kept) == 2
    assert seen[0] == seen[1] == seen[2]
