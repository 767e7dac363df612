import pytest
import torch

from attention_lab.learned import task


@pytest.fixture
def stories():
    return task.draw(50, torch.Generator().manual_seed(0))


def test_six_people_come_twice_each(stories):
    for names in stories.names.tolist():
        assert sorted(map(names.count, set(names))) == [2] * 6


def test_a_colour_is_seen_the_first_time_only(stories):
    for names, colours in zip(stories.names.tolist(), stories.colours.tolist(), strict=True):
        hidden = [name in names[:at] for at, name in enumerate(names)]
        assert [colour == task.HIDDEN for colour in colours] == hidden


def test_the_answers_are_those_of_the_docstring(stories):
    for story in range(50):
        names, colours = stories.names[story].tolist(), stories.colours[story].tolist()
        previous, following, colour = stories.answers[:, story].tolist()
        assert previous == [task.UNASKED, *names[:-1]]
        assert following == [*names[1:], task.UNASKED]
        seen = {}
        for at, name in enumerate(names):
            assert colour[at] == seen.get(name, task.UNASKED)
            seen.setdefault(name, colours[at])


def test_every_question_wants_one_token_that_has_the_answer(stories):
    asked = stories.answers.transpose(0, 1) != task.UNASKED  # (B, J, T)
    wanted = stories.wanted
    assert torch.equal(wanted.sum(-1), asked.long())
    offers = torch.stack([stories.names, stories.names, stories.colours], 1)  # (B, J, T)
    found = (wanted * offers[:, :, None]).sum(-1)
    assert torch.equal(found[asked], stories.answers.transpose(0, 1)[asked])


def test_a_head_that_does_one_job_has_all_its_share_there(stories):
    rest = torch.full((12, 12), 1 / 12)
    wanted = stories.wanted.float()
    weights = torch.where(wanted.sum(-1, keepdim=True) > 0, wanted, rest)
    shares = task.shares(weights, stories)
    assert torch.allclose(shares.diagonal(), torch.ones(3))
    assert (shares - torch.eye(3)).max() < 0.5


def test_tokens_are_words(stories):
    tokens = stories.tokens(3)
    assert len(tokens) == task.T
    name, colour = tokens[0].split()
    assert name == task.NAMES[stories.names[3, 0]]
    assert colour == task.COLOURS[stories.colours[3, 0]]
    assert sum(token.endswith(" ?") for token in tokens) == 6
