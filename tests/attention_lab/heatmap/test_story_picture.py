import io

import numpy as np
from PIL import Image

from attention_lab.heatmap.story import Grid, Step
from attention_lab.heatmap.story_picture import story_png


def grid(values, **options):
    values = np.array(values, float)
    names = [list(map(str, range(count))) for count in values.shape]
    return Grid("numbers", *names, values, **options)


def draw(*steps):
    return np.asarray(Image.open(io.BytesIO(story_png("Title", list(steps)))).convert("L"))


def test_every_step_is_drawn_below_the_one_before():
    one = draw(Step("x", "A sentence."))
    two = draw(Step("x", "A sentence."), Step("y", "Another.", [grid([[1, 2]])]))
    assert two.shape[0] > one.shape[0]
    assert two.shape[1] == one.shape[1]
    np.testing.assert_array_equal(two[: len(one) - 16], one[:-16])


def test_marks_and_warnings_are_seen():
    plain = draw(Step("x", "", [grid([[1, -1]])]))
    for option in ("strong", "wrong"):
        marked = draw(Step("x", "", [grid([[1, -1]], **{option: np.array([[True, False]])})]))
        assert (marked < 128).sum() > (plain < 128).sum()
    assert len(draw(Step("x", "", [grid([[1, -1]])], warning="No."))) > len(plain)


def test_larger_numbers_are_darker():
    picture = draw(Step("x", "", [grid([[0.0, -0.5, 1.0]])]))
    _, counts = np.unique(picture, return_counts=True)
    assert (counts > 400).sum() == 3


def test_many_tables_and_long_words_stay_inside():
    wide = grid(np.ones((2, 40)))
    assert draw(Step("x", "word " * 200, [wide, wide])).shape[1] > 932
    assert draw(Step("x", "word " * 200, [grid([[1]])] * 30)).shape[1] == 932


def test_empty_and_closed_cells():
    assert draw(Step("x", "", [grid([[np.nan, -np.inf]])])).size
