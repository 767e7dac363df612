import pytest
import torch

from attention_lab.check.probes import DISTINCT, EDGES, LESSON, Sizes, probes
from attention_lab.check.references import STEPS
from attention_lab.observation import encode

FUNCTIONS = STEPS[:-1]


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


def test_sizes_are_told_apart_and_the_lessons_are_not():
    d = DISTINCT
    assert len({d.B, d.T, d.d_model, d.H, d.d_head}) == 5
    assert LESSON.d_head == LESSON.H
    assert Sizes(1, 2, 6, 2).known_to("MultiHeadAttention") == "B=1, T=2, d_model=6, 2 heads"
    for axis in ("B", "T", "H", "d_head"):
        assert 1 in {getattr(sizes, axis) for sizes in EDGES}


@pytest.mark.parametrize(
    ("step", "told"),
    {
        "project": "B=1, T=2, d_model=3",
        "split_heads": "B=1, T=2, d_model=3, 1 head",
        "attention_scores": "B=1, 1 head, T=2, d_head=3",
        "causal_mask": "T=2",
        "masked_softmax": "B=1, 1 head, T=2",
        "attend": "B=1, 1 head, T=2, d_head=3",
        "merge_heads": "B=1, 1 head, T=2, d_head=3",
    }.items(),
)
def test_only_sizes_of_a_steps_own_arguments_are_told(step, told):
    assert Sizes(1, 2, 3, 1).known_to(step) == told


@pytest.mark.parametrize("step", STEPS)
def test_all_that_the_contract_names_is_tried(step):
    made = probes(step, 0, hidden=True)
    tried = " | ".join(probe.about for probe in made)
    for about in ("float64", "another device"):
        assert about in tried
    if step == "MultiHeadAttention":
        assert "the CPU, then another device" in tried
    elif step != "causal_mask":
        assert "two inputs of the same size" in tried
    if step != "causal_mask":
        assert "memory is not in order" in tried
        assert any(call.upstream for probe in made for call in probe.calls)
    if step in ("causal_mask", "MultiHeadAttention"):
        assert "a long sequence" in tried
    if step not in ("project", "causal_mask"):
        assert [p.heads for p in made if p.heads] == [2, 4, 8]
    if step in FUNCTIONS:
        assert any(p.pipeline for p in made)


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


def test_no_step_is_unknown():
    with pytest.raises(ValueError, match="no step 'attention'"):
        probes("attention", 0)


def test_making_probes_leaves_torchs_random_state_alone():
    before = torch.get_rng_state()
    probes("MultiHeadAttention", 0, hidden=True)
    assert torch.equal(before, torch.get_rng_state())
