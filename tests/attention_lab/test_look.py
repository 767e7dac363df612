import torch

from attention_lab.check.steps.multi_head_attention import TorchAttention
from attention_lab.look import head_weights


def test_the_weights_are_those_that_pytorch_reports():
    torch.manual_seed(0)
    layer, x = TorchAttention(12, 3), torch.randn(2, 5, 12)
    _, reported = layer.with_weights(x)
    found = head_weights(layer, 3, x)
    assert not found.requires_grad
    assert torch.allclose(found, reported, atol=1e-6)
