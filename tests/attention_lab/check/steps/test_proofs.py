import math

import pytest
from torch import nn

from attention_lab import check
from attention_lab.check import Mistake
from attention_lab.check.steps.multi_head_attention import TorchAttention


def one_query(query, keys, values):
    dots = [sum(a * b for a, b in zip(query, key, strict=True)) for key in keys]
    powers = [math.exp(dot / math.sqrt(len(query))) for dot in dots]
    shares = [power / sum(powers) for power in powers]
    columns = zip(*values, strict=True)
    return [sum(s * v for s, v in zip(shares, column, strict=True)) for column in columns]


def one_head(x, layer, h):
    d_head = layer.out_proj.in_features // layer.num_heads
    rows = slice(h * d_head, (h + 1) * d_head)
    q, k, v = (
        nn.functional.linear(x, part.weight[rows], part.bias[rows])
        for part in (layer.q_proj, layer.k_proj, layer.v_proj)
    )
    return (q @ k.T / math.sqrt(d_head)).softmax(-1) @ v


class Layer(TorchAttention):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads)
        self.num_heads = num_heads


def test_right_proofs_pass(capsys):
    check.one_query(one_query)
    check.one_head(one_head, Layer)
    assert capsys.readouterr().out.count("✓") == 2


@pytest.mark.parametrize(
    ("answer", "aspect"),
    [
        (lambda query, keys, values: values[0], "value"),
        (lambda query, keys, values: values, "shape"),
        (lambda query, keys, values: None, "shape"),
        (None, "shape"),
        (lambda query, keys, values: [math.nan] * len(values[0]), "value"),
    ],
)
def test_a_wrong_query_is_told(answer, aspect):
    with pytest.raises(Mistake) as mistake:
        check.one_query(answer)
    assert mistake.value.aspect == aspect
    assert mistake.value.step == "one_query"


def test_one_key_is_no_keys():
    with pytest.raises(Mistake, match="with 1 key of 2 features"):
        check.one_query(lambda query, keys, values: None)


def test_a_wrong_head_is_told():
    with pytest.raises(Mistake, match="head 1 of 3") as mistake:
        check.one_head(lambda x, layer, h: one_head(x, layer, 0), Layer)
    assert mistake.value.misconception == "every-head-same-slice"


def test_a_head_is_tried_on_the_learners_own_layer():
    class Renamed(Layer):
        def __init__(self, d_model, num_heads):
            super().__init__(d_model, num_heads)
            self.width = d_model // num_heads

        def forward(self, x):
            raise AssertionError("it is not what is tried")

    def of_their_own(x, layer, h):
        layer.d_head = layer.width
        return one_head(x, layer, h)

    check.one_head(of_their_own, Renamed)


def test_a_layer_that_is_none_is_told():
    with pytest.raises(Mistake, match=r"not a\s+class derived from nn\.Module"):
        check.one_head(one_head, object)


def test_a_learners_own_error_is_told():
    with pytest.raises(Mistake, match="ZeroDivisionError"):
        check.one_query(lambda query, keys, values: 1 / 0)
