"""Every number in the prose and the drawings that can be computed is computed here."""

import math
import re
from xml.etree import ElementTree

import pytest
import torch

from attention_lab import example
from attention_lab.check import STEPS, steps

from .conftest import LESSONS
from .test_text import region

SVG = "{http://www.w3.org/2000/svg}"
# The weight of the small out_proj that the drawing shows as lines.
PAPER_OUT = [[1, 0, 0, 1], [0, 1, 1, 0], [1, 0, 1, 0], [0, 1, 0, 1]]


def cells_of(name):
    """The text of a drawing's cells, in the order in which they are drawn."""
    tree = ElementTree.parse(LESSONS / f"{name}.svg")
    texts = [text for text in tree.iter(f"{SVG}text") if "cell" in text.get("class", "").split()]
    return [text.text for text in texts]


def flat(*tables, form="{:.2f}"):
    """The numbers of tables, row by row, as the drawings write them."""
    return [
        "-∞" if number == -math.inf else form.format(number)
        for table in tables
        for row in table
        for number in row
    ]


@pytest.fixture(scope="module")
def paper():
    """The example on paper, from one end to the other."""
    x = example.paper_x.double()
    weight, bias = torch.tensor(example.paper_weight), torch.tensor(example.paper_bias)
    q = x @ weight.double().T + bias
    queries = q[0].tolist()
    q, k, v = (steps.split_heads(part, 2) for part in (q, x, x))
    scores = steps.attention_scores(q, k)
    masked = scores + steps.causal_mask(3)
    weights = steps.masked_softmax(masked)
    mixed = steps.attend(weights, v)
    return {
        "x": x[0].tolist(),
        "weight": weight.tolist(),
        "queries": queries,
        "q": q[0].tolist(),
        "k": k[0].tolist(),
        "v": v[0].tolist(),
        "scores": scores[0].tolist(),
        "masked": masked[0].tolist(),
        "weights": weights[0].tolist(),
        "mixed": mixed[0].tolist(),
    }


LABELS = [f"{token}{feature}" for token in range(3) for feature in range(4)]
HALVES = sorted(LABELS, key=lambda label: int(label[1]) // 2)  # head 0, then head 1


def test_drawing_of_project(paper):
    tables = paper["x"], paper["weight"], [example.paper_bias], paper["queries"]
    drawn = flat(*tables, form="{:.0f}")
    assert cells_of("project") == drawn


def test_drawing_of_split_heads():
    assert cells_of("split-heads") == [*LABELS, *HALVES, *HALVES, *LABELS]


def test_drawing_of_scores(paper):
    drawn = []
    for head in range(2):
        keys = list(zip(*paper["k"][head], strict=True))
        drawn += flat(paper["q"][head], keys, form="{:.0f}") + flat(paper["scores"][head])
    assert cells_of("scores") == drawn


def test_drawing_of_the_mask(paper):
    mask = steps.causal_mask(3).tolist()
    drawn = [*flat(paper["scores"][1]), *flat(mask, form="{:.0f}"), *flat(paper["masked"][1])]
    assert cells_of("causal-mask") == drawn


def weights_drawn(paper):
    return ["0" if text == "0.00" else text for text in flat(paper["weights"][1])]


def test_drawing_of_softmax(paper):
    assert cells_of("softmax") == flat(paper["masked"][1]) + weights_drawn(paper)


def test_bars_of_softmax_are_as_long_as_the_weights(paper):
    tree = ElementTree.parse(LESSONS / "softmax.svg")
    bars = [r for r in tree.iter(f"{SVG}rect") if r.get("height") == "20"]
    weights = [weight for row in paper["weights"][1] for weight in row if weight]
    assert [float(bar.get("width")) / 120 for bar in bars] == pytest.approx(weights, abs=1e-3)


def test_drawing_of_attend(paper):
    values = flat(paper["v"][1], form="{:.0f}")
    assert cells_of("attend") == weights_drawn(paper) + values + flat(paper["mixed"][1])
    first, second = paper["weights"][1][1][:2]
    (a, _), (b, _), _ = paper["v"][1]
    total = paper["mixed"][1][1][0]
    sum_drawn = f"{first:.2f} × {a:.0f} + {second:.2f} × {b:.0f} = {total:.2f}<"
    assert sum_drawn in (LESSONS / "attend.svg").read_text()
    assert first * a + second * b == pytest.approx(total)


def test_drawing_of_merge_heads():
    assert cells_of("merge-heads") == [*HALVES, *HALVES, *LABELS, *HALVES, *LABELS]


@pytest.fixture(scope="module")
def merged(paper):
    """Every token's features, side by side, as they are written on paper: to two decimals."""
    return [[round(n, 2) for n in a + b] for a, b in zip(*paper["mixed"], strict=True)]


@pytest.fixture(scope="module")
def output(merged):
    return (torch.tensor(merged) @ torch.tensor(PAPER_OUT).float().T).tolist()


def test_drawing_of_the_output_projection(merged, output):
    assert cells_of("out-proj") == flat(merged, output)


def test_lines_of_the_output_projection_are_its_ones():
    drawing = (LESSONS / "out-proj.svg").read_text()
    heights = ("82", "108", "134", "160")
    lines = re.findall(r'class="line" d="M300 (\d+)L430 (\d+)"', drawing)
    drawn = {(heights.index(end), heights.index(begin)) for begin, end in lines}
    weight = torch.tensor(PAPER_OUT)
    assert drawn == set(map(tuple, weight.nonzero().tolist()))
    assert set(weight.flatten().tolist()) == {0, 1}
    for row in weight.view(4, 2, 2):
        assert row.any(-1).all()  # from both heads


def test_on_paper_agrees_with_the_drawings(paper, prose):
    def says(cell, *told):
        text = prose[cell].replace("\n", " ")
        assert [words for words in told if words not in text] == []

    q, k = paper["queries"], paper["x"]
    bias = example.paper_bias[2]
    row, first = example.paper_weight[2], example.paper_x[0, 0].int().tolist()
    says("project-paper", f"`{row} · {first} + {bias} = {q[0][2]:.0f}`")
    (a, b), (c, d) = q[2][2:], k[0][2:]
    score = paper["scores"][1][2][0]
    says("scores-paper", f"`({a:.0f}·{c:.0f} + {b:.0f}·{d:.0f}) / √2 = {score:.2f}`")
    first, second = paper["scores"][1][1][:2]
    e = [math.exp(first), math.exp(second)]
    weights = [f"{weight:.2f}" for weight in paper["weights"][1][1][:2]]
    says(
        "softmax-paper",
        f"`exp` of {first:.2f}, {second:.2f} and -∞ is {e[0]:.2f}, {e[1]:.2f} and 0.",
        f"Their sum is {sum(e):.2f}, so the weights are {weights[0]}, {weights[1]} and 0.",
    )
    values = [row[0] for row in paper["v"][1]]
    mixed = paper["mixed"][1][1][0]
    terms = [f"{w}·{v:.0f}" for w, v in zip(weights, values, strict=False)]
    says("attend-paper", f"`{' + '.join(terms)} = {mixed:.2f}`")
    heads = ["[" + ", ".join(f"{n:.2f}" for n in head[1]) + "]" for head in paper["mixed"]]
    merged = f"[{heads[0][1:-1]}, {heads[1][1:-1]}]"
    says(
        "merge-paper", f"`{heads[0]}` from head 0 and `{heads[1]}` from head 1. Merged: `{merged}`"
    )


def test_exp_overflows_where_it_is_said(prose):
    assert "`exp(89)` is infinite in float32" in prose["softmax-exercise"]
    assert torch.tensor([88.0, 89.0]).exp().isinf().tolist() == [False, True]


def test_one_output_on_paper(merged, output, prose):
    first, *_, last = merged[1]
    told = f"`{PAPER_OUT[0]}`: `1·{first:.2f} + 1·{last:.2f} = {output[1][0]:.2f}`"
    assert told in prose["module-paper"].replace("\n", " ")


def test_the_learners_functions_give_the_paper_numbers(names, paper):
    assert names["paper_scores"][0].double().numpy() == pytest.approx(
        torch.tensor(paper["scores"]).numpy(), abs=1e-6
    )


def test_what_are_finds(names, prose):
    vectors = list(names["vectors"].values())
    query = (torch.tensor(names["to_query"]) @ torch.tensor(names["vectors"]["are"])).tolist()
    assert query == [4, 4, 0]
    noun, plural, _ = names["one_query"](query, vectors, vectors)
    assert names["names_of_features"][:2] == ["noun", "plural"]
    assert f"its mixture is {noun:.2f} noun and {plural:.2f} plural" in prose["one-query-exercise"]


def test_lines_in_all(cells, prose):
    count = sum(len(region(cells[step].source)) for step in STEPS)
    assert f"eight short pieces, {count} lines in all" in prose["title"]
    assert len(STEPS) == 8


def test_points_on_the_students_page(cells):
    page = (LESSONS.parent / "docs/students.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (\d) \| (\d) \|$", page, re.MULTILINE)
    graded = [
        (step, *(str(cells[f"test_{step}_{a}"].metadata["points"]) for a in ("shape", "value")))
        for step in STEPS
    ]
    assert rows == graded
    transfer = [
        int(n) for n in re.findall(r"^\| `(?:fault|MendedAttention)` \| \| (\d) \|$", page, re.M)
    ]
    assert f"{sum(int(n) for row in rows for n in row[1:]) + sum(transfer)} points." in page


def test_strides_after_splitting_and_attending(printed, prose):
    lines = printed["look-at-view"].splitlines()
    assert lines[0] == "after splitting: strides (192, 32, 8, 1), view works"
    assert lines[1] == "after attending: strides (192, 8, 48, 1), view refuses:"
    assert "reshape" in lines[2]
    text = prose["memory-view-answer"]
    assert "the next head is 8 numbers\non" in text
    assert "After attending it is 48 numbers on" in text


def test_sizes_of_the_sentence(prose):
    sizes = re.findall(r"^\| `(\w+)` \|.*\| (\d+) \|$", prose["axes"], re.MULTILINE)
    d_model, H = example.d_model, example.num_heads
    assert dict(sizes) == {
        "B": str(len(example.x)),
        "T": str(len(example.tokens)),
        "d_model": str(d_model),
        "H": str(H),
        "d_head": str(d_model // H),
    }
    assert "*" + " ".join(example.tokens) + "*" in prose["sentence"]
    twice = [word for word in example.vocabulary if example.tokens.count(word) == 2]
    assert len(twice) == 2
    assert "Two of its words occur twice" in prose["sentence"]
    assert (
        f"the four heads get {d_model // H} features each, not {d_model}."
        in prose["why-heads-answer"]
    )
    for head, job in enumerate(example.head_names):
        assert f"| {head} | find the **{job}** |" in prose["sentence"]


def test_features_that_are_1(prose):
    ones = [row.nonzero().flatten().tolist() for row in example.x[0]]
    words, places = zip(*(row[:2] for row in ones), strict=True)
    assert set(words) <= set(range(8))
    assert places == tuple(range(8, 8 + len(example.tokens)))
    assert [row[2:] for row in ones] == [[]] * (len(ones) - 1) + [[21]]
    text = prose["sentence"].replace("\n", " ")
    assert "features 0 to 7 say which word a token is, features 8 to 15 where it stands" in text
    assert "Feature 21 says that it is the last." in text


def test_a_third_each(prose):
    assert example.tokens[-1] == "cat"
    row = example.two_jobs_in_one_head()[0, 0, -1]
    found = [token for token, weight in zip(example.tokens, row, strict=True) if weight > 0.3]
    assert found == ["cat", example.tokens[-2], "cat"] == ["cat", "other", "cat"]
    assert row[row > 0.3].tolist() == pytest.approx([1 / 3] * 3, abs=0.02)
    text = prose["why-heads-answer"].replace("\n", " ")
    assert "A third of its weight lies on *other*, the previous token, and a third on each" in text
    assert "one third *other* and two thirds *cat*" in text


def test_rows_of_head_1(prose):
    rows = example.head(1)
    assert (
        f"Rows {rows.start} to {rows.stop - 1} of the weight belong to head 1"
        in (prose["project-look-rows"])
    )


def test_strides_of_the_small_table(names, prose):
    shape, strides = (tuple(part) for part in (names["small"].shape, names["small"].stride()))
    text = prose["memory"].replace("\n", " ")
    assert f"of shape `{shape}` they are `{strides}`" in text
    sentence, token, feature = strides
    assert f"next feature is {feature} number on, the next token {token}, the next" in text
    assert f"sentence {sentence}." in text


def test_the_root_keeps_scores_near_1(printed, names, prose):
    assert f"a row of {names['scaled'].shape[-1]}," in prose["scores-look"].replace("\n", " ")
    rows = re.findall(
        r"^ *(\d+) +([\d.]+) +([\d.]+) +\| +([\d.]+) +([\d.]+)$",
        printed["look-at-root"],
        re.MULTILINE,
    )
    assert [int(row[0]) for row in rows] == [4, 64, 256]
    for width, spread, top, raw_spread, raw_top in (map(float, row) for row in rows):
        assert spread == pytest.approx(1, abs=0.1)
        assert top < 0.2
        assert raw_spread == pytest.approx(math.sqrt(width), rel=0.1)
        assert raw_top > 0.8 or width == 4


def test_words_that_heads_collect(printed):
    lines = [line.split() for line in printed["look-at-attend"].splitlines()[1:]]
    tokens = example.tokens
    for at, (token, previous, same, first, following) in enumerate(lines):
        assert token == same == tokens[at]
        assert previous == tokens[max(at - 1, 0)]
        assert first == tokens[0]
        assert following == tokens[min(at + 1, len(tokens) - 1)]


def test_a_column_is_torn_apart_without_the_swap(names, prose):
    mixed = names["sentence_mixed"]()
    (first,) = {example.vocabulary.index(example.tokens[0])}
    column = example.head(2).start + first
    assert (steps.merge_heads(mixed)[0, :, column] > 0.9).all()
    torn = mixed.reshape(1, 6, 32)[0, :, column] > 0.9
    assert torn.any()
    assert not torn.all()
    assert "Every token's 32 features now hold four slices of eight" in prose["merge-look"]


def test_the_learners_layer_equals_pytorchs(printed):
    difference = float(printed["against-pytorch"].split()[-1])
    assert "shape (2, 5, 16)" in printed["against-pytorch"]
    assert difference < 1e-6


def test_pytorchs_biases_start_at_0_and_ours_do_not(names):
    fresh = torch.nn.MultiheadAttention(16, 4)
    assert not fresh.in_proj_bias.any()
    assert not fresh.out_proj.bias.any()
    assert names["MultiHeadAttention"](16, 4).out_proj.bias.all()


def test_laws_are_as_predicted(printed):
    assert printed["law-causal"] == "rows that moved: [3, 4, 5]\n"
    first, second = printed["law-permutation"].splitlines()
    assert first.endswith("[0, 1, 2, 3, 4, 5]")
    assert second.endswith("[]")
    assert float(printed["law-constant"].split()[-1]) < 1e-6


def test_what_the_bugs_do(names, prose):
    """As the predictions, too, have it."""
    scores, mask = names["sentence_scores"](), steps.causal_mask(6)
    late = (scores.softmax(-1) * mask.exp()).sum(-1)[0]
    assert (late <= 1).all()
    assert (late[3, :-1] < 0.1).all()
    closed = (scores + torch.full((6, 6), -math.inf).triu(0)).softmax(-1)[0]
    assert closed[:, 0].isnan().all()
    assert not closed[:, 1:].isnan().any()
    columns = (scores + mask).softmax(-2)[0]
    assert torch.allclose(columns.sum(-2), torch.ones(()))
    assert (columns[:, -1, -1] == 1).all()  # whatever its score
    assert "too little" in prose["wrong-axis-answer"]
    assert (columns.sum(-1)[:, 0] < 1).all()
    assert (columns.sum(-1)[:, -1] > 1).all()
    right = steps.masked_softmax(scores, mask)
    sharper = steps.masked_softmax(scores * math.sqrt(8), mask)
    assert ((sharper - right).abs() < 0.04).all()
    before, after = (f"{weights[0, 0, 5, 4]:.2f}" for weights in (right, sharper))
    assert f"{before} has become {after}, and that is all" in prose["wrong-root-answer"]


def test_costs(names):
    T, d = names["cost_x"].shape[1:]
    projections, tables = 4 * 2 * T * d * d, 2 * 2 * T * T * d
    for heads in (1, 4, 16):
        assert names["count_operations"](heads) == projections + tables


def test_a_table_of_100000_tokens(prose):
    cells, half_precision = 100_000**2, 2
    assert cells == 10 * 10**9
    assert cells * half_precision == 20 * 10**9
    assert "100,000 tokens one table alone has ten billion\ncells, 20 GB" in prose["cost-answer"]


def test_the_cache_gives_the_full_pass(printed):
    differences = re.findall(r"difference (\S+)", printed["look-at-cache"])
    assert len(differences) == len(example.tokens)
    assert all(float(difference) < 1e-6 for difference in differences)
