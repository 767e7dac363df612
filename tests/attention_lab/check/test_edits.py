import ast

import pytest

from attention_lab.check.edits import edits


def plain(source):
    """The same code without the brackets that nothing depends on."""
    return ast.unparse(ast.parse(source))


def results(source, beside=()):
    return [
        {plain(edit.applied_to(source.encode()).decode()) for edit in group}
        for group in edits(source, beside)
    ]


def function(body, head="def f(q, k, mask=None):"):
    return f"{head}\n    {body}\n"


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("return q.softmax(dim=-2)", "return q.softmax(dim=(-1))"),
        ("return q @ k", "return (k) @ (q)"),
        ("return q @ k", "return q @ (q)"),
        ("return q + k", "return (q)"),
        ("return q - k", "return (q) + (k)"),
        ("return q.mT.contiguous()", "return (q.mT)"),
        ("return q.add_(k)", "return (q.add)(k)"),
        ("q += k", "q = q + (k)"),
        ("return q.permute(0, 2, 1)", "return (q.permute(0, 1, 2))"),
        ("return q, k", "return (k, q)"),
        ("return q if mask is None else k", "return (q)"),
        ("return torch.einsum('ab,cb->ac', q, k)", "return torch.einsum(('ab,cb->ca'), q, k)"),
        ("return q / (k ** 1 / 2)", "return q / ((k) ** ((1) / (2)))"),
        ("return q < k", "return ((q) <= (k))"),
        ("return q.masked_fill(k, -1e9)", "return q.masked_fill(k, (float('-inf')))"),
    ],
)
def test_what_stands_there_is_exchanged_or_dropped(body, wanted):
    exchanged, _, _ = results(function(body))
    assert plain(function(wanted)) in exchanged


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("return q @ k", "return q @ ((k).transpose(-2, -1))"),
        ("return q @ k", "return ((q @ k) / q.shape[-1] ** 0.5)"),
        ("return q.softmax()", "return (q.softmax(dim=-1))"),
        ("torch.add(q, k)", "q = torch.add(q, k)"),
        ("q = q + mask", "if mask is not None: q = q + mask"),
        ("return q.view(2)", "return ((q).contiguous()).view(2)"),
    ],
)
def test_what_is_missing_is_put_in(body, wanted):
    _, put_in, _ = results(function(body))
    assert plain(function(wanted)) in put_in


def test_every_edit_can_be_read_by_python():
    source = function(
        "B, T = q.shape[:2]\n    x = [F.relu(w(k))[..., :T] for w in (q, k)]\n"
        "    with torch.no_grad():\n        q.mul_(-0.5)\n"
        "    return f'{B}', lambda t: not t, {1: -T, **x}, (  # é\n        q\n        .sum(1))"
    )
    assert sum(map(len, results(source))) > 500


def test_an_edit_is_on_the_line_that_it_changes():
    source = function("y = (q\n         .transpose(1, 3))\n    return y @ k")
    lines = {
        e.line
        for e in edits(source)[0]
        if "transpose(1, (2))" in e.applied_to(source.encode()).decode()
    }
    assert lines == {3}


def test_other_functions_of_the_notebook_may_be_called():
    source = function("return attend(q, k)")
    assert not any("merge(q" in text for text in results(source)[0])
    assert plain(function("return (merge)(q, k)")) in results(source, ("merge",))[0]
