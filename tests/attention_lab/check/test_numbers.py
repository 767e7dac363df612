import torch

from attention_lab.check.numbers import close, difference, same


def test_close_knows_infinity():
    inf = torch.tensor([torch.inf, -torch.inf])
    assert close(inf, inf, 1e-5)
    assert not close(-inf, inf, 1e-5)
    assert not close(torch.tensor([1e30, -1e30]), inf, 1e-5)
    assert not close(torch.tensor([torch.nan]), torch.tensor([1.0]), 1e9)


def test_same_is_to_the_bit():
    nan = torch.tensor([torch.nan, 0.0])
    assert same(nan, nan.clone())
    assert not same(torch.tensor([0.0]), torch.tensor([-0.0]))
    assert not same(nan, nan.double())
    assert not same(nan, nan.to("meta"))
    assert not same(nan, None)


def test_the_largest_difference():
    assert difference(torch.tensor([1.0, 5.0]), torch.tensor([1.5, 2.0])) == 3
