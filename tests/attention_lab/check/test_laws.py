import pytest
import torch

from attention_lab.check.laws import LAWS
from attention_lab.check.probes import probes
from attention_lab.observation import Call, Probe


def probe(*inputs):
    return Probe("MultiHeadAttention", "a law", tuple(Call((x,)) for x in inputs))


def test_every_law_is_tried():
    made = [p for step in ("attend", "MultiHeadAttention") for p in probes(step, 0, hidden=True)]
    assert {p.law for p in made} - {None} == set(LAWS)


def test_no_leak():
    before = torch.randn(2, 5, 4)
    after = before.clone()
    after[:, -1] += 1
    assert LAWS["no leak"](probe(before, after), [before, after]) is None
    after[:, 1] += 0.5
    assert LAWS["no leak"](probe(before, after), [before, after]) == pytest.approx(0.5, abs=1e-5)


def test_permutation():
    x = torch.randn(2, 5, 4)
    order = [3, 0, 4, 1, 2]
    law = LAWS["permutation"]
    assert law(probe(x, x[:, order]), [x.cumsum(-1), x[:, order].cumsum(-1)]) is None
    assert law(probe(x, x[:, order]), [x.cumsum(1), x[:, order].cumsum(1)]) > 0
    both = tuple(Call((t, False)) for t in (x, x[:, order]))
    said = Probe("MultiHeadAttention", "a law", both)
    assert law(said, [x.cumsum(-1), x[:, order].cumsum(-1)]) is None


def test_constant():
    same = torch.randn(2, 1, 4).expand(2, 5, 4).clone()
    assert LAWS["constant"](probe(same), [same]) is None
    same[0, 3, 1] += 1
    assert LAWS["constant"](probe(same), [same]) == pytest.approx(1, abs=1e-5)


def test_nan_breaks_every_law():
    nan = torch.full((2, 5, 4), torch.nan)
    x = torch.randn(2, 5, 4)
    inside = next(p for p in probes("attend", 0, hidden=True) if p.around)
    for name, law in LAWS.items():
        outputs = {"constant": [nan], "whole": [torch.full((3, 5, 7, 6), torch.nan)]}
        tried = inside if name == "whole" else probe(x, x)
        assert law(tried, outputs.get(name, [nan, nan])) is not None
