from attention_lab.handin.lesson import Lesson


def test_the_checks_of_a_solution_stand_below_it(lesson):
    double, halve = (slot for slot in lesson.slots if slot.kind == "solution")
    assert [test.name for test in lesson.tests_of(double)] == ["test_double"]
    assert [test.name for test in lesson.tests_of(halve)] == ["test_halve"]
    assert Lesson("one", (double, halve)).tests_of(double) == []


def test_there_and_back_again(lesson):
    assert Lesson.from_json(lesson.to_json()) == lesson
