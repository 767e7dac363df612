import pytest
import torch

from attention_lab.check import steps
from attention_lab.check.draw import Sizes
from attention_lab.check.probes import probes
from attention_lab.check.steps import STEPS
from attention_lab.observation import Tag
from attention_lab.observation import encode as encoded

FUNCTIONS = STEPS[:-1]


def encode(probes):
    return encoded(tuple(probe.asked for probe in probes))


@pytest.mark.parametrize("step", STEPS)
def test_a_seed_gives_the_same_probes_and_another_seed_others(step):
    assert encode(probes(step, 1, hidden=True)) == encode(probes(step, 1, hidden=True))
    if step != "causal_mask":
        assert encode(probes(step, 1)) != encode(probes(step, 2))


@pytest.mark.parametrize("step", STEPS)
def test_visible_probes_are_the_first_of_the_hidden_ones(step):
    visible, hidden = probes(step, 1), probes(step, 1, hidden=True)
    assert encode(visible) == encode(hidden[: len(visible)])
    assert len(hidden) > len(visible)


@pytest.mark.parametrize(
    ("step", "told"),
    {
        "project": "B=1, T=2, d_model=3",
        "split_heads": "B=1, T=2, d_model=3, H=1",
        "attention_scores": "B=1, H=1, T=2, d_head=3",
        "causal_mask": "T=2",
        "masked_softmax": "B=1, H=1, T=2",
        "attend": "B=1, H=1, T=2, d_head=3",
        "merge_heads": "B=1, H=1, T=2, d_head=3",
        "MultiHeadAttention": "B=1, T=2, d_model=3, H=1",
    }.items(),
)
def test_only_sizes_of_a_steps_own_arguments_are_told(step, told):
    assert steps.of(step).told(Sizes(1, 2, 3, 1)) == told


@pytest.mark.parametrize("step", STEPS)
def test_all_that_the_contract_names_is_tried(step):
    made = probes(step, 0, hidden=True)
    tried = {tag for probe in made for tag in probe.tags}
    assert Tag.FLOAT64 in tried
    assert any(probe.elsewhere for probe in made)
    if step != "causal_mask":
        assert Tag.STRIDED in tried
        assert any(call.upstream for probe in made for call in probe.calls)
    if step in ("causal_mask", "MultiHeadAttention"):
        assert {Tag.LONG, Tag.NEW_LENGTH} <= tried
    if step not in ("project", "causal_mask"):
        assert [p.heads for p in made if p.heads] == [2, 4, 8]
    if step in FUNCTIONS:
        assert any(p.around for p in made)


def test_the_class_is_tried_in_all_its_ways():
    made = probes("MultiHeadAttention", 0, hidden=True)
    flags = {call.args[1:] for probe in made for call in probe.calls}
    assert flags == {(), (True,), (False,)}
    assert {probe.module.training for probe in made} == {True, False}
    assert {probe.law for probe in made} == {None, "no leak", "permutation", "constant"}


def test_masks_that_are_not_causal_are_tried():
    blocked = [
        call.args[1]
        for probe in probes("masked_softmax", 0, hidden=True)
        for call in probe.calls
        if len(call.args) > 1 and call.args[1] is not None and not call.args[1].is_meta
    ]
    assert any((mask.tril() < 0).any() for mask in blocked)
    assert all((mask == 0).any(-1).all() for mask in blocked), "a row is blocked everywhere"


def test_making_probes_leaves_torchs_random_state_alone():
    before = torch.get_rng_state()
    probes("MultiHeadAttention", 0, hidden=True)
    assert torch.equal(before, torch.get_rng_state())


def kind(probe):
    """What a trial is for, but for its sizes and numbers."""
    elsewhere = tuple(call.elsewhere for call in probe.calls)
    training = probe.module.training if probe.module else None
    return probe.tags, probe.law, probe.tolerance, elsewhere, training


@pytest.mark.parametrize("step", STEPS)
def test_hidden_trials_differ_from_visible_ones_in_numbers_and_sizes_only(step):
    visible, hidden = ({*map(kind, probes(step, 0, h))} for h in (False, True))
    more = {of for of in hidden - visible if Tag.LONG not in of[0] and of[1] != "whole"}
    assert not more
