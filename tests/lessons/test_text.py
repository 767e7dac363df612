"""The lesson's prose: what each exercise must have, how it is written, how long it takes."""

import ast
import re
import subprocess
import sys

import pytest

from attention_lab.check import STEPS
from attention_lab.handin.code import defined
from attention_lab.questions import PREDICTIONS, RECALL

from .conftest import LESSONS

PROOFS = ("one_head",)
STRETCH = ("cross_attention", "padded_softmax", "grouped_attention", "attend_next")
TRANSFER = ("fault", "MendedAttention")
EXERCISES = ("one_query", *STEPS, *TRANSFER, *PROOFS, *STRETCH)
HEADER = re.compile(
    r"^((Not graded|Optional) · d|D)ifficulty (?P<difficulty>[1-5]) of 5"
    r"( · importance (?P<importance>[1-5]) of 5)? · about (?P<minutes>\d+) minutes"
    r" · (?P<lines>\d+) lines?( · (?P<points>\d( \+ \d)?) points?)?$",
    re.MULTILINE,
)
PICTURE = re.compile(r"!\[(?P<alt>[^\]]*)\]\((?P<file>[^)]+)\)")
LIVELY = re.compile(
    r"^(show_\w+|beside_yours|play|follow|minilm\.\w+|pretrained\.hunt|experiment\.\w+)\(",
    re.MULTILINE,
)
WORDS_A_MINUTE = 110
MINUTES = re.compile(
    r"about (\d+) minutes, in two sittings of (\d+) and (\d+): .* with them it is (\d+) minutes"
)


@pytest.fixture(scope="session")
def exercises(lesson):
    """What stands before each exercise, by its name: the nearest prose cell above it."""
    found, above = {}, ""
    for cell in lesson.cells:
        if cell.cell_type == "markdown":
            above = cell.source
        elif cell.metadata.get("solution"):
            found[cell.id] = above
    return found


def without_code(text):
    return re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)|<[^>]+>", " ", text, flags=re.DOTALL)


def visible(text):
    """The prose without what is folded away, pictures' descriptions and marks.

    The one idea of a step is read by everybody, also where it is folded until a guess was made.
    """
    text = re.sub(
        r"<details>(<summary><b>[^\n]*the one idea.*?)</details>", r"\1", text, flags=re.DOTALL
    )
    text = re.sub(r"<details>.*</details>", "", text, flags=re.DOTALL)
    return PICTURE.sub("", text)


def region(source):
    """The lines of a solution."""
    body = source.split("### BEGIN SOLUTION\n")[1].split("### END SOLUTION")[0]
    return [line.strip() for line in body.splitlines() if line.strip()]


def test_the_exercises_are_one_query_the_steps_the_proof_and_the_stretch(exercises):
    assert tuple(exercises) == EXERCISES


@pytest.mark.parametrize("name", EXERCISES)
def test_an_exercise_says_how_hard_it_is_and_how_long_it_takes(name, exercises, cells):
    header = HEADER.search(exercises[name])
    assert header
    assert int(header["lines"]) == len(region(cells[name].source))
    assert bool(header["importance"]) == (name not in STRETCH)
    assert bool(header["points"]) == (name in (*STEPS, *TRANSFER))


@pytest.mark.parametrize("name", EXERCISES)
def test_three_hints_open_one_by_one(name, exercises):
    marks = re.findall(r"<summary>(.*?)</summary>|(</details>)", exercises[name])
    opened = [summary for summary, _ in marks if summary]
    assert opened == ["Hint 1", "Hint 2", "Hint 3: nearly the answer"]
    assert exercises[name].rstrip().endswith("</details></details></details>")


@pytest.mark.parametrize("name", EXERCISES)
def test_no_hint_is_a_whole_solution(name, exercises, cells):
    solution = [line.split("  #")[0] for line in region(cells[name].source)]
    shown = [line for line in solution if line in exercises[name]]
    assert len(shown) < len(solution)


@pytest.mark.parametrize("name", [name for name in EXERCISES if name != "fault"])
def test_a_stub_gives_the_shapes(name, names):
    described = names[name].forward if name.endswith("Attention") else names[name]
    assert re.search(r"\(\w[\w ,+]*\)|a list", described.__doc__)


@pytest.mark.parametrize("name", STEPS)
def test_a_step_is_graded_for_shape_and_value_with_hidden_tests(name, cells, exercises):
    points = [int(n) for n in HEADER.search(exercises[name])["points"].split(" + ")]
    for aspect, worth in zip(("shape", "value"), points, strict=True):
        cell = cells[f"test_{name}_{aspect}"]
        call = f'check.{name}({name}, aspect="{aspect}"'
        assert cell.metadata["points"] == worth
        assert cell.source == (
            f"{call})\n### BEGIN HIDDEN TESTS\n{call}, hidden=True)\n### END HIDDEN TESTS"
        )


@pytest.mark.parametrize("name", TRANSFER)
def test_the_transfer_is_graded_for_its_value(name, cells, exercises):
    assert HEADER.search(exercises[name])["points"] == "1"
    assert cells[f"test_{name}_value"].metadata["points"] == 1


def test_the_lesson_is_worth_26_points(lesson):
    assert sum(cell.metadata.get("points", 0) for cell in lesson.cells) == 26


def test_every_picture_says_what_it_shows(prose):
    pictures = [picture for text in prose.values() for picture in PICTURE.finditer(text)]
    assert sorted(p["file"] for p in pictures) == sorted(d.name for d in LESSONS.glob("*.svg"))
    for picture in pictures:
        assert 12 <= len(picture["alt"].split()) <= 80
        assert picture["alt"].endswith(".")


@pytest.mark.parametrize("step", range(1, 9))
def test_every_step_has_a_drawing(step, lesson):
    titles = [i for i, cell in enumerate(lesson.cells) if cell.source.startswith("## ")]
    begin = next(i for i in titles if lesson.cells[i].source.startswith(f"## Step {step} · "))
    end = next(i for i in titles if i > begin)
    assert any(PICTURE.search(cell.source) for cell in lesson.cells[begin:end])


def test_every_prediction_is_asked_once(lesson):
    asked = [
        name
        for cell in lesson.cells
        if cell.cell_type == "code"
        for name in re.findall(r'predict\("([\w-]+)"\)', cell.source)
    ]
    assert sorted(asked) == sorted(PREDICTIONS)


def test_no_line_of_code_is_longer_than_88(lesson):
    code = [cell for cell in lesson.cells if cell.cell_type == "code"]
    assert [line for c in code for line in c.source.splitlines() if len(line) > 88] == []


def test_no_line_of_prose_begins_a_list_by_accident(prose):
    """A number and a point at the start of a wrapped line would become a list."""
    for text in prose.values():
        for before, line in zip(text.splitlines(), text.splitlines()[1:], strict=False):
            if re.match(r"(\d+\.|[-+*]) ", line):
                assert not before or re.match(r"(\d+\.|[-+*]|  ) ?", before), line


def test_demonstrations_leave_the_axes_alone(lesson):
    """A variable B or T in the notebook would let a function work by accident."""
    taken = {"B", "T", "H", "S", "d_head", "d_model", "num_heads", "mask", "scores", "weights"}
    taken |= {"x", "q", "k", "v", "causal"}
    for cell in lesson.cells:
        if cell.cell_type == "code":
            assert not taken & _assigned(ast.parse(cell.source)), cell.id


def _assigned(tree):
    """The names that a cell's top level gives a value."""
    functions = (ast.FunctionDef, ast.ClassDef, ast.Lambda, ast.comprehension)
    found, waiting = set(), list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, functions):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        if not isinstance(node, ast.ListComp | ast.GeneratorExp | ast.DictComp | ast.SetComp):
            waiting += ast.iter_child_nodes(node)
    return found


def sections(lesson):
    """The cells below each heading of the second level, by the heading."""
    found, heading = {}, "opening"
    for cell in lesson.cells:
        if cell.source.startswith("## "):
            heading = cell.source.splitlines()[0].removeprefix("## ")
        found.setdefault(heading, []).append(cell)
    return found


def minutes(cell):
    """How long a slow and careful learner is busy with a cell: one to whom attention is new, who
    makes mistakes, and looks at everything.

    The constants give 125 minutes for the lesson of November, as such a reader took.
    """
    if cell.cell_type == "markdown":
        header = HEADER.search(cell.source)
        reading = len(re.findall(r"\S*\w\S*", visible(cell.source))) / WORDS_A_MINUTE
        drawings = 0.75 * len(PICTURE.findall(cell.source))
        return reading + drawings + (int(header["minutes"]) if header else 0)
    if cell.metadata.get("solution") or re.match("(test|check)[_-]", cell.id):
        return 0  # part of the exercise's own minutes
    if cell.id == "recall-questions":
        return 0.5 * len(RECALL)
    if re.search(r"^predict\(", cell.source, re.MULTILINE):
        return 1
    if "setup" in cell.metadata.get("tags", ()):
        return 0.6  # nobody reads it
    lines = [line for line in cell.source.splitlines() if line.strip()]
    return _looking(cell.source) + (0 if cell.metadata.get("folded") else 0.12 * len(lines))


def _looking(source):
    if re.search(r"^(play|follow\w*)\(", source, re.MULTILINE):
        return 2
    return 1.2 if LIVELY.search(source) else 0.65


def in_all(cells):
    return sum(map(minutes, cells))


@pytest.fixture(scope="session")
def waiting(lesson):
    """The ids of the cells that can wait, each with its part's: a part lasts until the next one
    begins."""
    found, part = {}, None
    for cell in lesson.cells:
        if cell.cell_type == "markdown" and cell.source.startswith(("#", "**")):
            part = cell.id if "(can wait)" in cell.source else None
        if part:
            found[cell.id] = part
    return found


def test_the_lesson_takes_the_minutes_it_says(lesson, prose, waiting):
    spent = sections(lesson)
    needed = {
        heading: in_all(cell for cell in cells if cell.id not in waiting)
        for heading, cells in spent.items()
    }
    steps = [heading for heading in spent if heading.startswith("Step ")]
    table = re.findall(r"^\| (\d) \| `(\w+)`:.*\| (\d+) \|$", prose["title"], re.MULTILINE)
    assert [name for _, name, _ in table] == ["one_query", *STEPS]
    assert [f"Step {number}" for number, *_ in table] == [step.split(" ·")[0] for step in steps]
    assert [int(told) for *_, told in table] == [round(needed[step]) for step in steps]
    of_the_lesson = list(spent)[: list(spent).index("If you want more")]
    main, first, second, whole = map(
        int, MINUTES.search(prose["title"].replace("\n", " ")).groups()
    )
    assert sum(needed[heading] for heading in of_the_lesson) == pytest.approx(main, abs=2.5)
    before = of_the_lesson[: of_the_lesson.index("Step 6 · Attend")]
    assert sum(needed[heading] for heading in before) == pytest.approx(first, abs=2.5)
    assert first + second == main
    assert sum(in_all(spent[heading]) for heading in of_the_lesson) == pytest.approx(whole, abs=2.5)


def test_the_break_is_after_step_5(lesson):
    ids = [cell.id for cell in lesson.cells]
    assert lesson.cells[ids.index("break") + 1].source.startswith("## Step 6")


def test_pages_tell_the_same_minutes(prose):
    main, first, second, whole = MINUTES.search(prose["title"].replace("\n", " ")).groups()
    for page in ("students", "self-learners"):
        text = (LESSONS.parent / f"docs/{page}.md").read_text().replace("\n", " ")
        assert f"about {main} minutes, in two sittings of {first} and {second}" in text
        assert f"with the parts that can wait, {whole}" in text


def test_nothing_needs_what_can_wait(lesson, waiting):
    """A learner who leaves it out meets no NameError further down, in another part that can wait
    either."""
    code = [cell for cell in lesson.cells if cell.cell_type == "code"]
    makers = {}  # None: the main path
    for cell in code:
        for name in defined(cell.source):
            makers.setdefault(name, set()).add(waiting.get(cell.id))
    for cell in code:
        names = [node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Name)]
        written = defined(cell.source) | {n.id for n in names if isinstance(n.ctx, ast.Store)}
        for name in {n.id for n in names} & makers.keys() - written:
            assert makers[name] & {None, waiting.get(cell.id)}, (cell.id, name)


def test_what_is_optional_takes_about_as_long_as_it_says(lesson, prose):
    told = re.findall(r"^\| ([A-Z][\w ]+) \|.*\| (\d+) \|$", prose["more"], re.MULTILINE)
    spent = {heading.split(":")[0]: cells for heading, cells in sections(lesson).items()}
    assert [part for part, _ in told] == [
        "Prove it yourself", "What it costs", "Learned", "Real", "Stretch",
    ]  # fmt: skip
    for part, number in told:
        assert re.search(rf"\*About {number} minutes,", spent[part][0].source)
        assert in_all(spent[part]) <= int(number) <= 2.5 * in_all(spent[part])


def test_sentences_are_short(prose):
    """On average, and none of them endless."""
    lengths = []
    for text in prose.values():
        plain = re.sub(r"^(#|\||- |\d\. ).*$", "", visible(without_code(text)), flags=re.MULTILINE)
        lengths += [len(s.split()) for s in re.split(r"[.!?:](?:\s|$)", plain) if s.split()]
    assert sum(lengths) / len(lengths) < 12
    assert max(lengths) <= 40


def test_spelling():
    texts = [LESSONS, LESSONS.parent / "src/attention_lab/questions.py"]
    codespell = [sys.executable, "-m", "codespell_lib", *map(str, texts)]
    done = subprocess.run(codespell, capture_output=True, text=True)
    assert done.stdout == ""
    assert done.returncode == 0


def test_spelling_is_british(prose):
    american = re.compile(r"\b(\w*colors?|behavior|centers?|gray|labeled|\w{3,}iz(e|ed|es|ing))\b")
    found = [m[0] for text in prose.values() for m in american.finditer(without_code(text))]
    assert set(found) <= {"size", "sized", "sizes"}
