import pytest

from classroom.class_report.findings import headlines, misconceptions, notes, steps, totals
from classroom.class_report.reading import UNNAMED, UNWRITTEN

VIEW, INTERLEAVED, TWICE = "view-instead-of-transpose", "head-interleaving", "softmax-twice"


def test_misconceptions_are_counted_by_step_and_by_student(graded):
    found = misconceptions(
        graded(
            {"split_heads": [VIEW, INTERLEAVED], "attend": [VIEW]},
            {"split_heads": [VIEW]},
            {"attend": [UNWRITTEN], "split_heads": [UNNAMED]},
            {"attend": [UNWRITTEN], "split_heads": [UNWRITTEN]},
            {},
        )
    )
    assert [(m.slug, dict(m.by_step), m.students) for m in found] == [
        (VIEW, {"split_heads": 2, "attend": 1}, 2),
        (INTERLEAVED, {"split_heads": 1}, 1),
        (UNWRITTEN, {"attend": 2, "split_heads": 1}, 2),
        (UNNAMED, {"split_heads": 1}, 1),
    ]
    assert found[0].words == "view instead of transpose"
    assert found[0].meaning.startswith("`view` straight to")
    assert found[-1].meaning == ""


def test_headlines_are_what_several_show_in_one_step(graded):
    students = [{"split_heads": [VIEW]}] * 3 + [{"attend": [TWICE], "split_heads": [UNNAMED]}]
    (one,) = headlines(graded(*students, *[{}] * 4))
    assert (one.step, one.students, one.share) == ("split_heads", 3, 0.375)


def test_headlines_are_few_and_the_most_frequent_first(graded):
    slugs = [f"slug-{i}" for i in range(9)]
    students = [{"attend": slugs[: i + 1]} for i in range(9)]
    found = headlines(graded(*students))
    assert [h.students for h in found] == [9, 8, 7, 6, 5]


def test_steps_count_everybody_once(graded):
    split, attend = steps(
        graded(
            {"split_heads": [VIEW]}, {"split_heads": [UNWRITTEN]}, {"split_heads": None}, {},
        )
    )  # fmt: skip
    assert (split.right, split.wrong, split.unwritten, split.ungraded) == (1, 1, 1, 1)
    assert split.mean == pytest.approx(7 / 3)
    assert (attend.right, attend.mean) == (4, 2)


def test_totals_leave_out_what_is_not_graded(graded):
    found = totals(graded({}, {}, {"attend": [TWICE]}, {"attend": None}))
    assert [(b.start, b.end, b.students) for b in found.bars] == [
        (0, 1, 0), (1, 2, 0), (2, 3, 0), (3, 4, 0), (4, 5, 3)
    ]  # fmt: skip
    assert (found.students, found.median) == (3, 5)


def test_empty_class(graded):
    empty = graded()
    assert misconceptions(empty) == headlines(empty) == notes(empty) == []
    assert totals(empty).mean is None
    assert {step.mean for step in steps(empty)} == {None}


def test_reasons_for_a_human_with_whom_they_concern(graded):
    assert notes(graded({}, {}, notes=("mentions gc", "mentions gc"))) == [
        ("mentions gc", ["student-1", "student-2"])
    ]
