import pytest

from attention_lab.check.steps.multi_head_attention import TorchAttention
from attention_lab.pretrained import load


@pytest.fixture(scope="session")
def minilm():
    """The model around PyTorch's attention."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("NBGRADER_EXECUTION", raising=False)
        reading = load(TorchAttention)
    assert reading.live, "the weights are missing: make test installs them"
    return reading
