import torch

from attention_lab.check.draw import (
    CPU,
    DISTINCT,
    EDGES,
    LESSON,
    THERE,
    Draw,
    as_function,
    elsewhere,
    in_float64,
    sliced,
    transposed,
)
from attention_lab.observation import Call, Probe


def test_sizes_are_told_apart_and_the_lessons_are_not():
    d = DISTINCT
    assert len({d.B, d.T, d.d_model, d.H, d.d_head}) == 5
    assert LESSON.d_head == LESSON.H
    for axis in ("B", "T", "H", "d_head"):
        assert 1 in {getattr(sizes, axis) for sizes in EDGES}


def test_in_float64_shares_nothing_and_keeps_the_rest():
    probe = Probe("project", "x", (Call((torch.ones(2), 3, torch.float32, torch.ones(2).long())),))
    numbers, three, dtype, whole = in_float64(probe).calls[0].args
    assert (numbers.dtype, dtype) == (torch.float64, torch.float64)
    assert three == 3
    assert whole.dtype is torch.int64
    numbers.zero_()
    assert probe.calls[0].args[0].sum() == 2


def test_layouts_hold_the_same_numbers_out_of_order():
    x = Draw(0).normal(2, 3, 4)
    for layout in (transposed, sliced):
        assert torch.equal(layout(x), x)
        assert not layout(x).is_contiguous()
        assert layout(3) == 3


def test_another_device():
    x = torch.ones(2)
    call = elsewhere(Call((x, CPU, 3, None)))
    assert call == Call((x, THERE, 3, None), elsewhere=True)


def test_a_layer_as_a_function():
    layer = Draw(0).layer(4)
    linear = as_function(layer)
    x = torch.ones(2, 4)
    assert torch.allclose(linear(x), x @ layer.weight.T + layer.bias)
    assert linear.weight is layer.weight
    assert as_function(x) is x
