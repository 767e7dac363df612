import ast
import inspect

import pytest
import torch

from attention_lab.check import references, steps
from attention_lab.observation import Layer, Pipeline


def test_the_text_needs_nothing_but_torch():
    tree = ast.parse(inspect.getsource(steps))
    imported = [
        a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names
    ]
    assert sorted(imported) == ["math", "torch"]
    assert not any(isinstance(node, ast.ImportFrom) for node in ast.walk(tree))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("sizes", [(3, 7, 30, 5), (1, 1, 4, 2), (2, 5, 6, 1)], ids=str)
def test_together_they_are_pytorchs_attention(sizes, causal):
    B, T, d_model, H = sizes
    layers = tuple(Layer(torch.randn(d_model, d_model) / 4, torch.randn(d_model)) for _ in range(4))
    pipeline = Pipeline(torch.randn(B, T, d_model), layers, H, causal)
    take = lambda step, *args: getattr(steps, step)(*map(references.as_function, args))  # noqa: E731
    output, weights = references.finish(pipeline, take)
    right_output, right_weights = references.whole(pipeline)
    torch.testing.assert_close(output.double(), right_output, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(weights.double(), right_weights, atol=1e-5, rtol=1e-5)
