import pytest

from attention_lab.check.catalogue import explain
from attention_lab.questions import PREDICTIONS, RECALL
from attention_lab.quiz import Card, Option, Question, Quiz, predict, recall

WIDGET = "application/vnd.jupyter.widget-view+json"


def question(text, right="a"):
    options = [Option(letter, right=letter == right, why=f"because {letter}") for letter in "ab"]
    return Question(text, tuple(options))


@pytest.fixture
def buttons(monkeypatch):
    """The widgets of a card, as a frontend would get them."""
    made = []
    init = __import__("attention_lab.quiz", fromlist=["_Buttons"])._Buttons

    def remember(quiz):
        made.append(init(quiz))
        return made[-1]

    monkeypatch.setattr("attention_lab.quiz._Buttons", remember)

    def show(card):
        bundle = card._repr_mimebundle_()
        assert bundle[WIDGET]["model_id"] == made[-1].box.model_id
        return made[-1]

    return show


def test_exactly_one_option_is_right():
    with pytest.raises(ValueError, match="exactly one"):
        Question("?", (Option("a"), Option("b")))


def test_a_question_reads_as_text():
    assert str(question("Why?")) == "Why?\n  a)  a\n  b)  b"


@pytest.mark.parametrize("letter", ["c", "", "ab", None, 1])
def test_an_option_that_is_not_there_is_refused(letter):
    with pytest.raises(ValueError, match="choose one of a, b"):
        question("?").choose(letter)


@pytest.mark.parametrize("letter", ["b", "B", " b "])
def test_an_option_is_chosen_by_its_letter(letter):
    assert question("?").choose(letter).text == "b"


def test_a_wrong_option_may_take_its_reason_from_the_catalogue():
    option = Option("?", misconception=("split_heads", "view-instead-of-transpose"))
    assert option.explain() == explain("split_heads", "view-instead-of-transpose").means


def test_a_question_that_was_missed_comes_again_after_the_others():
    one, two, three = (question(text) for text in ("1", "2", "3"))
    quiz = Quiz([one, two, three])
    assert quiz.answer("b") == "✗ because b"
    assert quiz.question == two
    assert quiz.progress == "0 of 3 right, 1 to come again"
    assert quiz.answer("a") == "✓ because a"
    quiz.answer("a")
    assert quiz.question == one
    assert quiz.progress == "2 of 3 right, 1 to come again"
    quiz.answer("a")
    assert quiz.question is None
    assert quiz.progress == "3 of 3 right"


def test_nothing_is_left_to_answer():
    quiz = Quiz([])
    with pytest.raises(ValueError, match="all questions"):
        quiz.answer("a")


def test_a_single_question_can_be_tried_again():
    quiz = Quiz([question("1")])
    quiz.answer("b")
    assert quiz.question is not None
    quiz.answer("a")
    assert quiz.question is None


def test_answering_in_words(capsys):
    card = Card(Quiz([question("1"), question("2")]))
    card.answer("b")
    assert capsys.readouterr().out == (
        "✗ because b\n(0 of 2 right, 1 to come again)\n\n2\n  a)  a\n  b)  b\n"
    )
    card.answer("a")
    card.answer("a")
    assert capsys.readouterr().out.endswith("(2 of 2 right)\n\nAll answered.\n")


def test_predict_answers_with_a_letter(capsys):
    name = next(iter(PREDICTIONS))
    assert isinstance(predict(name), Card)
    letter = "abcd"[[option.right for option in PREDICTIONS[name].options].index(True)]
    assert predict(name, letter) is None
    assert capsys.readouterr().out.startswith("✓ ")


def test_predict_names_the_questions_there_are():
    with pytest.raises(ValueError, match="split-strides"):
        predict("split")


def test_recall_asks_ten_questions():
    assert recall().quiz.count == len(RECALL) == 10


def test_while_grading_there_are_no_widgets(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    bundle = recall()._repr_mimebundle_()
    assert bundle == {"text/plain": str(RECALL[0])}


def test_one_question_with_buttons(buttons):
    shown = buttons(Card(Quiz([question("Is `a` < `b`?", right="b")])))
    assert "<code>a</code> &lt; <code>b</code>" in shown.ask.value
    assert shown.options.index is None
    shown.options.index = 0
    assert "✗ because a" in shown.reply.value
    assert not shown.options.disabled
    shown.options.index = 1
    assert "✓ because b" in shown.reply.value
    assert shown.options.disabled
    assert shown.next.layout.display == "none"


def test_several_questions_with_buttons(buttons):
    shown = buttons(Card(Quiz([question("1"), question("2")])))
    assert "(0 of 2 right)" in shown.ask.value
    shown.options.index = 1
    assert shown.options.disabled
    assert shown.next.layout.display == ""
    shown.next.click()
    assert "2" in shown.ask.value
    assert "1 to come again" in shown.ask.value
    assert shown.reply.value == ""
    assert shown.options.index is None
    assert not shown.options.disabled
    for _ in range(2):
        shown.options.index = 0
        shown.next.click()
    assert "All answered. " in shown.ask.value
    assert "2 of 2 right" in shown.ask.value
    assert shown.options.layout.display == "none"


def test_showing_a_card_twice_goes_on_where_it_was(buttons):
    card = Card(Quiz([question("first"), question("second")]))
    buttons(card).options.index = 0
    assert "second" in buttons(card).ask.value
