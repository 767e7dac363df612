import sys

import pytest
from torch import nn

from attention_lab import pretrained
from attention_lab.check.steps.multi_head_attention import TorchAttention
from attention_lab.pretrained import Stored, Unreadable, load
from attention_lab.pretrained.files import Unavailable
from attention_lab.stub import NotWrittenYet


class Positional(TorchAttention):
    """Names of its own for everything: the class and its layers are called by position only."""

    def __init__(self, width, count, /):
        super().__init__(width, count)
        self.register_buffer("mask_of_my_own", self.out_proj.bias.detach().clone())

    def forward(self, tokens, /, causal=False):
        return super().forward(tokens, causal)


def test_any_class_with_the_interface_equals_the_original(capsys):
    assert load(Positional).difference() <= 1e-5
    assert "6 layers of 12 heads, 22.6 million parameters" in capsys.readouterr().out


class AlwaysCausal(TorchAttention):
    def forward(self, x, causal=False):
        return super().forward(x, True)


class Doubled(TorchAttention):
    def forward(self, x, causal=False):
        return 2 * super().forward(x)


@pytest.mark.parametrize("wrong", [AlwaysCausal, Doubled])
def test_a_wrong_class_differs_by_more_than_1(wrong):
    assert load(wrong).difference() > 1


def test_the_number_of_heads_is_not_in_the_weights():
    assert load(TorchAttention, 6).difference() > 1


def test_a_class_without_the_four_layers():
    class Fused(nn.Module):
        def __init__(self, d_model, num_heads):
            super().__init__()
            self.qkv = nn.Linear(d_model, 3 * d_model)

    with pytest.raises(ValueError, match=r"has no out_proj\.bias of shape"):
        load(Fused)


def test_a_class_that_is_not_written_yet_says_so_only_when_it_is_used():
    class Unwritten(TorchAttention):
        def forward(self, x, causal=False):
            raise NotWrittenYet

    minilm = load(Unwritten)
    with pytest.raises(NotWrittenYet):
        minilm.difference()


def test_without_the_model_two_sentences_stand_in(monkeypatch, capsys):
    def unavailable():
        raise Unavailable("There is no network.")

    monkeypatch.setattr(pretrained, "find_files", unavailable)
    reading = load(TorchAttention)
    assert not reading.live
    assert capsys.readouterr().out.startswith(
        "The model cannot be had here. There is no network.\nTwo sentences"
    )


@pytest.mark.parametrize("missing", ["safetensors.torch", "tokenizers"])
def test_without_a_reader_two_sentences_stand_in(missing, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, missing, None)
    assert not load(TorchAttention).live
    assert missing in capsys.readouterr().out


def test_grading_reads_no_model(monkeypatch, capsys):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    monkeypatch.setattr(pretrained, "find_files", lambda: pytest.fail("looked for files"))
    assert isinstance(load(TorchAttention), Stored)
    assert capsys.readouterr().out == ""


def test_an_unreadable_sentence_is_one_line_in_a_notebook():
    assert Unreadable("too long")._render_traceback_() == ["too long"]
