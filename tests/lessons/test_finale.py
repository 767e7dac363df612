"""The last parts, learned and real, as they run for a learner: what the prose says is so."""

import contextlib
import io
import re

import pytest

from attention_lab import pretrained
from attention_lab.learned.experiment import SEEDS
from attention_lab.learned.train import SOLVED
from attention_lab.pretrained.relations import pronouns, relations

from .conftest import LESSONS

PARTS = ("learned", "real")
KEYS = "The keys to the old cabinet are on the table."


def of_the_finale(cell):
    return cell.id.split("-")[0] in PARTS


@pytest.fixture(scope="module")
def live(lesson, names):
    """(names, printed) of the finale's cells, run as a learner runs them."""
    names, printed = dict(names), {}
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("NBGRADER_EXECUTION", raising=False)
        for cell in lesson.cells:
            wanted = of_the_finale(cell) or cell.id == "look-at-loop"
            if cell.cell_type == "code" and wanted:
                out = io.StringIO()
                with contextlib.redirect_stdout(out):
                    exec(compile(cell.source, cell.id, "exec"), names)
                printed[cell.id] = out.getvalue()
    return names, printed


@pytest.fixture(scope="module")
def minilm(live):
    names, _ = live
    assert names["minilm"].live
    return names["minilm"]


@pytest.fixture(scope="module")
def experiment(live):
    return live[0]["experiment"]


def percents(text):
    return [int(number) / 100 for number in re.findall(r"(\d+)%", text)]


def test_it_costs_nothing_while_grading(lesson, printed):
    for cell in lesson.cells:
        if cell.cell_type == "code" and of_the_finale(cell):
            assert "largest difference" not in printed[cell.id]
            assert "all-MiniLM" not in printed[cell.id]
    assert printed["learned-run"] == "(Nothing is trained while a notebook is graded.)\n"
    assert printed["real-tally"] == ""


def test_four_heads_learn_what_one_and_two_do_not(live, experiment):
    assert "4 heads learned all three jobs" in live[1]["learned-run"]
    assert [run.solved for run in experiment.runs.values()] == [False, False, True]
    assert len({run.parameters for run in experiment.runs.values()}) == 1
    assert max(experiment.runs[1].losses[-10:]) > 1
    assert 0.2 < min(experiment.runs[2].losses[-10:]) < 0.4


def test_stairs(experiment):
    """How many jobs each number of heads has learned with this seed."""
    learned = [
        sum(accuracy >= SOLVED for accuracy in run.accuracy) for run in experiment.runs.values()
    ]
    assert learned == [1, 2, 3]


def test_each_job_has_a_head_of_its_own_and_had_none_before(experiment):
    shares = experiment.runs[4].shares
    best, by = shares["after"].max(0)
    assert (best > 0.9).all()
    assert len(set(by.tolist())) == 3
    assert shares["before"].max() < 0.5


def test_the_tally_is_that_of_the_docs(prose):
    page = (LESSONS.parent / "docs/finale.md").read_text()
    rows = re.findall(r"^\| (\d) \| (\d+ of 10) \| (\d+ of 10)? ?\|$", prose["learned-why"], re.M)
    assert [heads for heads, *_ in rows] == ["1", "2", "4"]
    for heads, soon, late in rows:
        assert f"| {heads} | 400 | {soon} |" in page
        assert not late or f"| {heads} | 1600 | {late} |" in page
    assert len(SEEDS) == 10


def test_the_learners_class_equals_the_original_and_wrong_ones_do_not(live):
    yours, causal = re.findall(r"difference.*: +([\d.]+)", live[1]["real-same"])
    assert float(yours) <= 1e-5
    assert float(causal) > 1
    (six,) = re.findall(r"six heads: ([\d.]+)", live[1]["real-count"])
    assert float(six) > 1


def test_sizes(live, prose):
    assert "6 layers of 12 heads, 22.6 million parameters" in live[1]["real-load"]
    assert "6 layers of 12 heads" in prose["real-idea"]
    assert "22.6 million weights" in prose["real-idea"]


def test_keys_cabinet_are(minilm, prose):
    words, weights = minilm.tokens(KEYS), minilm.weights(KEYS)
    row = words.index("are")
    assert f"{weights[3, 1, row, words.index('keys')]:.0%}" == "78%"
    assert "`L3.H1` puts 78 % of the weight of *are* on *keys*" in prose["real-show-answer"]
    assert weights[3, 1, row, words.index("cabinet")] < 0.05
    assert weights[0, 2, row, words.index("cabinet")] > 0.99


def test_sentences_of_the_tally(prose):
    measured = {case.words for cases in relations().values() for case in cases}
    assert f"{len(measured) + len(pronouns())} sentences" in prose["real-tally-idea"]


def test_only_the_first_line_of_the_tally_is_clear_cut(live):
    lines = pretrained.tally(live[0]["minilm"]).splitlines()[1:]
    best = [percents(line)[0] for line in lines]
    assert best[0] == 1
    assert max(best[1:-1]) < 0.7
    assert percents(lines[-1])[2] == pytest.approx(0.5, abs=0.02)


def test_heads_rest_on_cls(live):
    layers = [percents(line)[0] for line in live[1]["real-rest"].splitlines()]
    assert all(0.45 <= share <= 0.6 for share in layers[1:5])
    assert layers[0] < 0.25
    assert "evenly shared, 8%" in live[1]["real-rest"]


def test_tired_and_wide_do_not_flip_but_for_one_quiet_head(live):
    rows = [percents(line) for line in live[1]["real-wide"].splitlines()[1:]]
    animal_tired, street_tired, animal_wide, street_wide = rows
    for head in (0, 1):
        assert animal_tired[head] > 2 * street_tired[head]
        assert animal_wide[head] > 2 * street_wide[head]
    assert animal_wide[0] < animal_tired[0] / 2
    assert animal_tired[2] > street_tired[2]
    assert animal_wide[2] < street_wide[2] < 0.25


def test_without_a_pretty_head_hardly_anything_changes(live):
    *without, other = [float(line.split()[-1]) for line in live[1]["real-without"].splitlines()]
    assert len(without) == 3
    assert all(near > 0.99 for near in without)
    assert other < 0.2


def test_the_loop_gives_the_same_numbers(live):
    first, second = live[1]["look-at-loop"].splitlines()
    assert first == "same numbers: True"
    assert re.fullmatch(r"the loop takes \d+\.\d times as long", second)
