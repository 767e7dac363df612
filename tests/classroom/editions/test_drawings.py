import re
from base64 import b64decode

import pytest

from classroom.editions.drawings import inline


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.svg").write_text("<svg>’</svg>")
    (tmp_path / "b.png").write_bytes(b"")
    return tmp_path


def test_the_drawing_is_inside(folder):
    (data,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', inline("![A](a.svg)", folder))
    assert b64decode(data).decode() == "<svg>’</svg>"


def test_the_alt_text_stays(folder):
    assert 'alt="Q &lt; K, &quot;so&quot;"' in inline('![Q < K, "so"](a.svg)', folder)


def test_text_around_it_stays(folder):
    assert re.fullmatch(r"See <img [^>]*> here\.", inline("See ![A](a.svg) here.", folder))


def test_a_line_of_text_right_below_is_still_markdown(folder):
    assert re.fullmatch(
        r"<img [^>]*>\n\n\*The caption\*", inline("![A](a.svg)\n*The caption*", folder)
    )


def test_addresses_elsewhere_are_left_alone(folder):
    markdown = "![A](https://example.org/a.svg) [a link](a.svg)"
    assert inline(markdown, folder) == markdown


def test_a_drawing_that_is_missing_is_named(folder):
    with pytest.raises(ValueError, match=r"c\.svg is not beside the lesson"):
        inline("![C](c.svg)", folder)


def test_only_drawings_go_in(folder):
    with pytest.raises(ValueError, match=r"b\.png is no \.svg drawing"):
        inline("![B](b.png)", folder)
