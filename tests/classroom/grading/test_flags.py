# ruff: noqa: E501 (a line a case)
import pytest

from classroom.grading.flags import flags, mentions


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("F.scaled_dot_product_attention(q, k, v)", "scaled_dot_product_attention"),
        ("F.ｓcaled_dot_product_attention(q, k, v)", "scaled_dot_product_attention"),
        ("from torch import _C", "_C"),
        ("import gc, math", "gc"),
        ("import torch.jit as j", "jit"),
        ("from torch.jit import script", "jit"),
        ("nn.TransformerEncoder(layer, 2)", "TransformerEncoder"),
        ("nn.Transformer()", "Transformer"),
        ("torch._scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_flash_attention_for_cpu"),
        ("from attention_lab.check import steps", "attention_lab.check"),
        ("from attention_lab import observation", "attention_lab.observation"),
        ("import attention_lab . check", "attention_lab.check"),
        ("attention_lab.check.split_heads = print", "attention_lab.check"),
        ('sys.modules["attention_lab.observation.observe"]._counting = 0', "attention_lab.observation"),
        ('importlib.import_module("attention_lab." + "check")', "attention_lab.check"),
        ('getattr(F, "scaled_dot_product" + "_attention")(q, k, v)', "scaled_dot_product_attention"),
        ('getattr(F, "".join(["scaled_dot", "_product_attention"]))', "scaled_dot_product_attention"),
        ("getattr(nn, f\"{'Multihead'}Attention\")", "MultiheadAttention"),
        ('vars(F)["scaled_dot_product_attention"]', "scaled_dot_product_attention"),
        ("__import__(name='gc')", "gc"),
        ("%%time\nimport ctypes", "ctypes"),
        ("%%writefile answers.py\nimport ctypes", "ctypes"),
        ("%%time\n%%capture\nimport ctypes", "ctypes"),
        ("%env A='''\nimport ctypes\n", "ctypes"),
        ("%time import ctypes", "ctypes"),
        ("x = %timeit -o F.scaled_dot_product_attention(q, k, v)", "scaled_dot_product_attention"),
        ("exec('import gc')", "gc"),
        ("exec('exec(\"import gc\")')", "gc"),
    ],
)  # fmt: skip
def test_mentions_are_found(source, name):
    assert mentions(source) == {name}


@pytest.mark.parametrize(
    "source",
    [
        "# F.scaled_dot_product_attention",
        '"""threading"""',
        "'gc'",
        "print('as scaled_dot_product_attention does')",
        "check.project(project)",
        "from attention_lab import check",
        "class TransformerBlock(nn.Module): ...",
        "ggc = 1",
        "import gc\n'''",  # no Python: it never runs
        "x." * 10_000 + "y",
        "",
    ],
)
def test_words_about_it_are_no_mention(source):
    assert mentions(source) == set()


def test_what_was_changed_is_said_in_words():
    assert flags(("limits",)) == ["changed its host's limits"]
