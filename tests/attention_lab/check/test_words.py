import pytest
from tests.attention_lab.check.learner import evidence, mistake

from attention_lab.check import words
from attention_lab.check.judge import KINDS
from attention_lab.observation import Failure


def seen(step, source):
    found = evidence(step, source)
    return words.seen(found, found.verdict.against(None)[0])


def test_the_share_of_wrong_numbers_and_what_agrees():
    told = seen("merge_heads", "y = x.transpose(1, 2).flatten(2); y[:, :, 0] = 0; return y")
    assert "3% of the numbers are wrong; feature 1 and 28 others are right" in told


def test_what_is_wrong_of_three_is_told():
    told = seen("project", "return q_proj(x), k_proj(x), v_proj(x).sin()")
    assert told.endswith("; only v differs.")
    told = seen("project", "return q_proj(x).sin(), k_proj(x), v_proj(x).sin()")
    assert told.endswith("; only q and v differ.")
    assert "only" not in seen("project", "return [p(x).sin() for p in (q_proj, k_proj, v_proj)]")


def test_that_it_is_right_without_the_mask_is_told():
    source = (
        "q, k, v = map(self.heads, (q, k, v))\n"
        "w = (q @ k.mT / self.d_head**0.5).softmax(-1)\n"
        "return self.out_proj(((w * w if causal else w) @ v).transpose(1, 2).flatten(2))"
    )
    assert seen("MultiHeadAttention", source).endswith("; without the mask it is right.")
    source = source.replace("if causal else w", "if causal else 2 * w")
    assert "without the mask" not in seen("MultiHeadAttention", source)


def test_that_no_mask_was_given_is_told():
    told = seen("masked_softmax", "return (scores + mask).softmax(-1)")
    assert told.startswith("with B=2, H=3, T=5, no mask, it raised TypeError")


def test_a_gradient_that_is_no_number_is_told():
    source = "s = scores if mask is None else scores + mask\n"
    told = seen("masked_softmax", f"{source}return (s - s.logcumsumexp(-1)[..., -1:]).exp()")
    assert told.endswith("the result is right, but its gradient is NaN.")


def test_a_relation_to_the_right_numbers_is_told():
    told = seen("attend", "return 1.5 * (weights @ v)")
    assert told.endswith(
        "the shape is right, but not the numbers: each is 1.5 times what it should be."
    )
    found = mistake("attend", "return 1.5 * (weights @ v)")
    assert (found.misconception, found.look) == (None, "what you multiply and divide by.")


def test_of_a_gradient_that_torch_refused_it_is_not_told_that_numbers_are_right():
    assert mistake("attend", "return weights @ v.detach()").means.startswith(
        "The numbers are right"
    )
    found = mistake("attend", "return torch.from_numpy(weights.numpy() @ v.numpy())")
    assert (found.misconception, found.means) == ("gradient-lost", words.NO_WAY_BACK)


def test_numbers_that_show_no_mistake_are_not_explained():
    found = mistake("attend", "return (weights @ v).sin()")
    assert found.misconception is None
    assert found.means == "it is none of the usual mistakes."


@pytest.mark.parametrize(
    ("step", "source", "told"),
    [
        (
            "project",
            "return q_proj(x)",
            "one tensor of shape (3, 7, 30); wanted: 3 tensors of shape (3, 7, 30).",
        ),
        (
            "project",
            "return q_proj(x), x[0]",
            "2 tensors of shapes (3, 7, 30) and (7, 30); wanted: 3 tensors of shape (3, 7, 30).",
        ),
        (
            "attend",
            "return [weights @ v]",
            "one tensor of shape (3, 5, 7, 6) in a list or tuple; "
            "wanted: one tensor of shape (3, 5, 7, 6).",
        ),
        ("project", "pass", "None; wanted: 3 tensors. Is there a `return`?"),
        ("attend", "return {}", "dict; wanted: one tensor."),
        (
            "project",
            "return q_proj, k_proj, v_proj",
            "layers that were not called; wanted: 3 tensors.",
        ),
    ],
)
def test_what_came_back_is_told_as_it_was(step, source, told):
    assert seen(step, source).endswith(f"it returned {told}")


def test_one_is_one_and_others_are_several():
    assert [words.counted(n, "key") for n in (0, 1, 2)] == ["0 keys", "1 key", "2 keys"]
    assert words.counted(2, "query", "queries") == "2 queries"


CALLED = """
q, k, v = (split_heads(t, self.num_heads) for t in (q, k, v))
w = masked_softmax(attention_scores(q, k), causal_mask(T) if causal else None)
return self.out_proj(merge_heads(attend(w, self.v_proj(x))))
"""


def test_an_error_in_a_step_names_it_and_the_line_that_called_it():
    found = mistake("MultiHeadAttention", CALLED)
    assert "it raised RuntimeError in `attend`, called in `return self.out_proj(" in found.seen
    assert found.means == "even a right `attend` cannot work with what it is given there."
    assert found.look == "print the shapes that go into `attend`."


@pytest.mark.parametrize(
    ("inside", "told"),
    [
        ("attend", "raised TypeError in `attend`, called in `a = b`: no"),
        ("<img src=x>", "raised TypeError in `a = b`: no"),
    ],
)
def test_only_the_name_of_a_step_is_believed(inside, told):
    assert words._raised(Failure("TypeError", "no", "a = b", inside)) == told


def test_infinity_is_near_infinity_alone():
    assert "43% of the numbers are wrong" in seen("causal_mask", "return torch.zeros(T, T)")
    told = seen("causal_mask", "return torch.full((T, T), -torch.inf).triu(2)")
    assert "12% of the numbers are wrong; not right: row 0, column 1 and 5 others" in told


def test_a_row_without_an_open_cell_is_told():
    told = seen("causal_mask", "return torch.full((T, T), -torch.inf).triu()")
    assert "row 0 is fully masked" in told
    told = seen("causal_mask", "return torch.full((T, T), -torch.inf).tril(1)")
    assert "rows 5, 6 are fully masked" in told
    told = seen("causal_mask", "return torch.full((T, T), torch.inf).triu(1)")
    assert "masked" not in told


def test_nan_rows_are_told():
    told = seen("masked_softmax", "w = scores.softmax(-1); w[:, :, 0] = torch.nan; return w")
    assert told.endswith("14% of the numbers are NaN: all in query 0.")


def test_torchs_own_advice_is_kept():
    told = seen("merge_heads", "return x.transpose(1, 2).view(x.size(0), x.size(2), -1)")
    assert told.endswith("Use .reshape(...) instead.")


def test_a_long_message_ends_at_a_word():
    told = seen("attend", "raise ValueError('word ' * 100)")
    assert told.endswith(f"word {words.ELLIPSIS}")


@pytest.mark.parametrize(
    ("step", "source", "look"),
    [
        ("split_heads", "return x.view(B, T, num_heads, -1)", "sizes come from the arguments"),
        ("project", "return x @ q_proj", "call it like a function"),
        ("masked_softmax", "return (scores + mask).softmax(-1)", "ask `is not None` first"),
        ("attention_scores", "return q / torch.sqrt(q.size(-1))", "`math` has the same function"),
        ("attention_scores", "s = 0.5\nreturn s(q @ k.mT)", "is an operator missing"),
        ("causal_mask", "return torch.ones(T, T).triu(1.0)", "the argument that the message names"),
        ("causal_mask", "return torch.full(T, T)", "what `help(...)` says"),
        ("split_heads", "T, d = x.shape", "how many axes has it?"),
        ("attend", "return weights.matmult(v)", "the spelling"),
        ("attend", "return weights @ v[0, 0, 0, 0]", "print them"),
    ],
)
def test_advice_suits_what_was_raised(step, source, look):
    assert look in mistake(step, source).look


def test_every_kind_of_symptom_has_its_words():
    assert set(words.SEEN) == set(words.MEANING) == set(KINDS)
    assert all(means and look for means, look in words.MEANING.values())
