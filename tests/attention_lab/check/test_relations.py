import pytest
import torch

from attention_lab.check.relations import relation

RIGHT = torch.tensor([[3.0, -1.0, 2.0], [0.5, 4.0, -2.5]], dtype=torch.float64)


@pytest.mark.parametrize(
    ("got", "seen"),
    [
        (RIGHT * 0.99, ": each is 0.99 times what it should be"),
        (RIGHT * 0.99996, ": each is 0.99996 times what it should be"),
        (-RIGHT, ": each is -1 times what it should be"),
        (RIGHT + 1e-3, ": each is off by 0.001"),
        (RIGHT.flip(0), ": the right ones are there, in other places"),
    ],
)
def test_what_holds_is_told(got, seen):
    assert relation(got.float(), RIGHT)[0] == seen


@pytest.mark.parametrize(
    "got",
    [
        RIGHT.sin(),
        RIGHT.clamp(max=3.9999),
        torch.zeros_like(RIGHT),
        torch.full_like(RIGHT, torch.nan),
    ],
)
def test_else_nothing_is(got):
    assert relation(got, RIGHT) is None
