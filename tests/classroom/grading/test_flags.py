import pytest

from classroom.grading.flags import flags, mentions


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("F.scaled_dot_product_attention(q, k, v)", "scaled_dot_product_attention"),
        ("from torch import _C", "_C"),
        ("import gc, math", "gc"),
        ("from attention_lab.check import steps", "attention_lab.check"),
        ("import attention_lab . check", "attention_lab.check"),
        ("%%time\nimport ctypes", "ctypes"),
    ],
)
def test_mentions_are_found(source, name):
    assert mentions(source) == {name}


@pytest.mark.parametrize(
    "source",
    [
        "# F.scaled_dot_product_attention",
        '"""threading"""',
        "check.project(project)",
        "ggc = 1",
        "",
    ],
)
def test_words_about_it_are_no_mention(source):
    assert mentions(source) == set()


def test_cell_that_does_not_parse_is_read_as_far_as_it_goes():
    assert mentions("import gc\n'''") == {"gc"}


def test_flags_are_in_words_sorted_and_leave_out_the_courses_own_cells():
    given = frozenset({"nn.MultiheadAttention"})
    cells = ["import threading", "import gc", "nn.MultiheadAttention"]
    assert flags(cells, given, ("limits",)) == [
        "mentions gc",
        "mentions threading",
        "changed its host's limits",
    ]
