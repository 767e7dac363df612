import pytest

from attention_lab.check.steps.multi_head_attention import TorchAttention
from attention_lab.learned import Experiment, experiment, task
from attention_lab.stub import NotWrittenYet


class Shown:
    """Stands in for a notebook: keeps what is displayed."""

    def __init__(self):
        self.html = []

    def display(self, html, display_id):
        self.html.append(html.data)
        return self

    def update(self, html):
        self.html.append(html.data)


@pytest.fixture
def shown(monkeypatch):
    shown = Shown()
    monkeypatch.setattr(experiment, "display", shown.display)
    return shown


@pytest.fixture
def short():
    return Experiment(TorchAttention, steps=20)


class Unwritten(TorchAttention):
    def forward(self, x, causal=False):
        raise NotWrittenYet


def test_a_run_shows_its_progress_then_its_results(short, shown, capsys):
    short.run(seed=3)
    assert list(short.runs) == [1, 2, 4]
    assert '<progress max="20" value="10"' in shown.html[1]
    assert "4 heads" in shown.html[-2]
    assert shown.html[-1].count("<tr>") == 4
    assert 'alt="Loss over 20 steps' in shown.html[-1]
    assert "Try seed 4" in capsys.readouterr().out


def test_heads_before_and_after_with_their_jobs(short, shown):
    short.run()
    picture = short.heads(4)
    assert picture.scene.controls[0].values == ("before", "after")
    assert all(len(frame.labels) == 4 for frame in picture.scene.frames)


def test_a_job_is_named_from_half_of_the_weight(short, shown):
    short.run()
    run = short.runs[2]
    run.shares["after"][:] = 0.1
    run.shares["after"][1, 2] = 0.5
    assert experiment.jobs(run, "after") == ["no single job", f"{task.JOBS[2]} 50 %"]


def test_heads_that_were_not_trained(short, shown, capsys):
    assert short.heads(4) is None
    assert "run the cell above first" in capsys.readouterr().out
    short.run()
    with pytest.raises(ValueError, match="trained were 1, 2, 4 heads, not 3"):
        short.heads(3)


def test_an_unsolved_exercise_says_so(shown):
    with pytest.raises(NotWrittenYet):
        Experiment(Unwritten).run()


def test_grading_trains_nothing(short, shown, monkeypatch, capsys):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    short.run()
    assert short.heads() is None
    assert short.runs == {}
    assert shown.html == []
