import json

import pytest

from attention_lab import quiz
from attention_lab.check.catalogue import explain
from attention_lab.questions import PREDICTIONS, RECALL
from attention_lab.quiz import Card, Option, OwnWords, Question, Quiz, predict, recall

WIDGET = "application/vnd.jupyter.widget-view+json"


def question(text, right="a"):
    """A question whose options are those of their letters."""
    options = [Option(letter, right=letter == right, why=f"because {letter}") for letter in "ab"]
    made = Question(text, tuple(options))
    object.__setattr__(made, "options", tuple(options))
    return made


@pytest.fixture
def heard(monkeypatch):
    answers = []
    monkeypatch.setattr(quiz, "_listeners", [lambda *answer: answers.append(answer)])
    return answers


def test_exactly_one_option_is_right():
    with pytest.raises(ValueError, match="exactly one"):
        Question("?", (Option("a"), Option("b")))


def test_a_question_reads_as_text():
    assert str(question("Why?")) == "Why?\n  a)  a\n  b)  b"


@pytest.mark.parametrize("letter", ["c", "", "ab", None, 1])
def test_an_option_that_is_not_there_is_refused(letter):
    with pytest.raises(ValueError, match="choose one of a, b"):
        question("?").reply(letter)


@pytest.mark.parametrize("letter", ["b", "B", " b "])
def test_an_option_is_chosen_by_its_letter(letter):
    assert question("?").reply(letter) == (False, "because b")


def test_a_wrong_option_may_take_its_reason_from_the_catalogue():
    option = Option("?", misconception=("split_heads", "view-instead-of-transpose"))
    assert option.explain() == explain("split_heads", "view-instead-of-transpose").means


def test_a_question_that_was_missed_comes_again_after_the_others():
    one, two, three = (question(text) for text in ("1", "2", "3"))
    quiz = Quiz("name", [one, two, three])
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
    quiz = Quiz("name", [])
    with pytest.raises(ValueError, match="all questions"):
        quiz.answer("a")


def test_a_single_question_can_be_tried_again():
    quiz = Quiz("name", [question("1")])
    quiz.answer("b")
    assert quiz.question is not None
    quiz.answer("a")
    assert quiz.question is None


def test_answering_in_words(capsys):
    card = Card(Quiz("name", [question("1"), question("2")]))
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
    assert len(recall().quiz.questions) == len(RECALL) == 10
    assert sum(isinstance(question, OwnWords) for question in RECALL) == 2


def test_options_are_shuffled_always_in_the_same_way():
    options = tuple(Option(text, right=text == "a", why=text) for text in "abcd")
    shuffled = [Question(str(n), options).options for n in range(20)]
    assert len({orders[0] for orders in shuffled}) == 4
    assert Question("3", options[::-1]).options == shuffled[3]


def test_a_sentence_of_ones_own_is_compared_with_a_model_answer(capsys):
    card = Card(Quiz("name", [OwnWords("Why `so`?", "Because.")]))
    assert "Why `so`?" in repr(card)
    card.answer("a")
    assert capsys.readouterr().out == "✓ One way to say it: Because.\n"


def test_answers_are_heard_whether_they_come_in_words_or_from_a_page(heard):
    card = Card(Quiz("name", [question("1"), question("2")]))
    card.answer("b")
    card.answer("a")
    quiz._read(json.dumps({"name": "recall", "index": 3, "right": True, "at": 1}))
    assert heard == [("name/0", False), ("name/1", True), ("recall/3", True)]


def test_a_page_holds_all_questions_and_their_folded_answers():
    html = Card(
        Quiz("name", [question("Is `a` < `b`?", right="b"), OwnWords("Why?", "So.")])
    ).to_html()
    still = html.split("<script>")[0]
    assert "<code>a</code> &lt; <code>b</code>" in still
    assert still.count("<details>") == 2
    assert "because b" in still
    assert "<h" not in still  # JupyterLab would list it in its table of contents
    assert 'mountQuiz(host, "name", [' in html


@pytest.mark.parametrize("text", ["", "a b a", "3", "[]", "{}"])
def test_what_is_no_answer_is_passed_over(text, monkeypatch):
    heard = []
    monkeypatch.setattr(quiz, "_listeners", [lambda *said: heard.append(said)])
    quiz._read(text)
    assert heard == []


def test_a_notebook_gets_a_page_and_one_hidden_field_for_all_answers():
    first, second = quiz._channel(), quiz._channel()
    assert first["model_id"] == second["model_id"]
    assert set(recall()._repr_mimebundle_()) == {"text/html", "text/plain"}


def test_while_grading_there_is_no_page(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert recall()._repr_mimebundle_() == {"text/plain": str(RECALL[0])}
