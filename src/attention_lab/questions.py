"""The questions of the lesson: those before a cell is run, and ten to recall at the end."""

from attention_lab.quiz import Option, OwnWords, Question


def _right(text, why):
    return Option(text, right=True, why=why)


def _wrong(text, why):
    return Option(text, why=why)


def _mistake(text, step, slug):
    return Option(text, misconception=(step, slug))


PREDICTIONS = {
    "project-rows": Question(
        "With `d_model = 32` and 4 heads: which part of `q_proj.weight` makes the queries of "
        "head 2?",
        (
            _wrong(
                "columns 16 to 23",
                "Columns say which features of x are read. Every head may read all of them.",
            ),
            _right(
                "rows 16 to 23",
                "Row i makes output feature i, and features 16 to 23 are those of head 2: rows "
                "h*d_head:(h+1)*d_head belong to head h.",
            ),
            _mistake("every fourth row", "split_heads", "head-interleaving"),
        ),
    ),
    "split-shape": Question(
        "`x` is `(2, 5, 12)`, and there are 3 heads. What shape should `split_heads(x, 3)` have?",
        (
            _mistake("(2, 5, 3, 4)", "split_heads", "missing-head-transpose"),
            _right(
                "(2, 3, 5, 4)",
                "B, H, T, d_head. A product of (5, 4) tables is repeated over B and H.",
            ),
            _wrong(
                "(6, 5, 4)",
                "A matrix product would do the right thing with it, but B and H could no longer "
                "be told apart: the result has four axes.",
            ),
        ),
    ),
    "split-strides": Question(
        "`x` is `(1, 3, 4)` and lies in memory in order: its strides are `(12, 4, 1)`. What are "
        "the strides after `x.view(1, 3, 2, 2).transpose(1, 2)`?",
        (
            _wrong(
                "(12, 6, 2, 1)",
                "Those would be the strides if the numbers had been put in order. Nothing was "
                "moved here: a transpose swaps strides.",
            ),
            _wrong(
                "(12, 4, 2, 1)",
                "Those are the strides after the view: the next token is 4 numbers on, the next "
                "head 2. Then the transpose swaps those two.",
            ),
            _right(
                "(12, 2, 4, 1)",
                "The next head is 2 numbers further on, the next token 4. Nothing has moved.",
            ),
        ),
    ),
    "scale": Question(
        "`d_model = 512`, 8 heads. By what are the scores divided?",
        (
            _mistake("22.6", "attention_scores", "scale-by-d-model"),
            _right(
                "8",
                "A query and a key have d_head = 512 / 8 = 64 features, and the root of 64 is 8.",
            ),
            _mistake("64", "attention_scores", "scale-without-sqrt"),
            _mistake("2.8", "attention_scores", "scale-by-num-heads"),
        ),
    ),
    "mask-first-row": Question(
        "Five tokens, causal mask. What are the weights of token 0 after softmax?",
        (
            _wrong("0.2, 0.2, 0.2, 0.2, 0.2", "Those are the weights without a mask."),
            _wrong(
                "0.2, 0, 0, 0, 0",
                "That is masking after softmax: the four closed keys took 0.8 with them.",
            ),
            _mistake("NaN, five times", "causal_mask", "mask-diagonal-zero"),
            _right(
                "1, 0, 0, 0, 0",
                "It may look at itself only, and a row sums to 1: closed cells have no part in "
                "the sum.",
            ),
        ),
    ),
    "attend-range": Question(
        "All values lie between -1 and 1. Can a number in the output of `attend` be 3?",
        (
            _wrong(
                "Yes, if the scores are large",
                "Large scores make a weight come near 1, never more.",
            ),
            _wrong(
                "Yes, with many tokens",
                "More tokens share the same 1. The weights do not add up to more.",
            ),
            _right("No", "A weighted mean lies between the smallest and the largest value."),
        ),
    ),
    "merge-view": Question(
        "`h` comes straight from `split_heads`: then `h.transpose(1, 2).view(B, T, d_model)` "
        "works. Does it work on what `attend` returns?",
        (
            _wrong(
                "Yes",
                "The shapes are the same, the memory is not: the product has written its result "
                "head after head.",
            ),
            _right(
                "No, it raises an error",
                "The product has written head after head. What view would have to join is not "
                "adjacent in memory.",
            ),
            _wrong(
                "No, it gives the right shape with the numbers mixed up",
                "A view never does that here: it refuses. Leaving out the transpose does it.",
            ),
        ),
    ),
    "law-causal": Question(
        "Six tokens, `causal=True`. Token 3 is changed. Which rows of the output move?",
        (
            _wrong("all six", "Without a mask, yes: every token sees token 3."),
            _wrong("row 3 only", "Rows 4 and 5 look at token 3 as well."),
            _right("rows 3, 4 and 5", "A token is seen by itself and by those after it."),
            _wrong(
                "rows 0 to 3",
                "With the past closed instead of the future, yes: tokens 0 to 3 see token 3.",
            ),
        ),
    ),
    "law-permutation": Question(
        "No mask. The tokens are put in another order. What happens to the output?",
        (
            _wrong(
                "It stays as it is",
                "Each row belongs to one token, and goes where its token goes.",
            ),
            _right(
                "The same rows, in the new order",
                "Nothing in the layer knows a token's position: it is permutation-equivariant. "
                "Only x itself can say so, which is why transformers add positions to it.",
            ),
            _wrong(
                "Other numbers altogether",
                "A weighted mean does not ask in what order its terms are added.",
            ),
        ),
    ),
    "law-constant": Question(
        "All tokens have the same vector. Then the rows of the output ...",
        (
            _wrong("are zero", "The mean of equal values is that value, not zero."),
            _wrong(
                "depend on the scores",
                "All values are equal. However the weights are spread, the mean is the same.",
            ),
            _right("are all the same", "Any weighted mean of equal values is that value."),
        ),
    ),
    "wrong-mask-late": Question(
        "The future is closed only after softmax: `scores.softmax(-1) * causal_mask(6).exp()`. "
        "What does a row of weights sum to?",
        (
            _wrong("1, as always", "Softmax made it 1. Then part of it was set to 0."),
            _right("less than 1", "What the closed cells had is lost. No other cell gets it."),
            _wrong("NaN", "exp(-inf) is 0, and a weight times 0 is 0. Nothing is divided by it."),
        ),
    ),
    "wrong-diagonal": Question(
        "The diagonal is closed as well: `triu(diagonal=0)`. Which rows become NaN?",
        (
            _wrong("none", "One row has all of its cells closed: look for it."),
            _right("row 0", "It had only itself to look at. Softmax divides 0 by 0."),
            _wrong("all", "All rows but one still have an open cell, and share out 1 among those."),
        ),
    ),
    "wrong-axis": Question(
        "Softmax runs over the queries: `(scores + mask).softmax(-2)`. How much weight does the "
        "last token put on itself?",
        (
            _right(
                "1, whatever its score",
                "Each column shares out 1, and in the last column no other cell is open.",
            ),
            _wrong(
                "as much as before",
                "The scores are the same, but now each is divided by the sum of its column.",
            ),
            _wrong("0", "Only closed cells get 0. A token may always look at itself."),
        ),
    ),
    "wrong-root": Question(
        "The scores of our sentence are not divided by `sqrt(8)`. What will the picture show?",
        (
            _wrong(
                "rows that do not sum to 1",
                "Softmax makes every row sum to 1, whatever the scores.",
            ),
            _wrong(
                "weights that are more even", "Larger scores lie further apart. So do the weights."
            ),
            _right(
                "nearly the same, a little sharper",
                "The largest score wins by more. In this tidy sentence it had won already.",
            ),
        ),
    ),
    "cost": Question(
        "`d_model` stays 64. Going from 1 head to 8, the number of multiplications in the matrix "
        "products ...",
        (
            _wrong("grows eightfold", "Each of the 8 heads has only an eighth of the features."),
            _right("stays the same", "8 heads of 8 features make as many as 1 head of 64."),
            _wrong("falls to an eighth", "Each head does an eighth, and there are 8 of them."),
        ),
    ),
    "one-head": Question(
        "One head of 32 features must do three jobs: previous name, next name, colour. What will "
        "it learn?",
        (
            _wrong(
                "all three, only later",
                "It was given four times as long, with ten seeds, and never got all three.",
            ),
            _wrong(
                "nothing, the jobs spoil each other",
                "It gives up jobs until the rest can be done: one is left, or nearly two.",
            ),
            _right(
                "one of them, or nearly two",
                "One row of weights is one mixture. It can be made to fit one job, and partly a "
                "second.",
            ),
        ),
    ),
}

RECALL = (
    Question(
        "`scores = q @ k.transpose(-2, -1)`: what does `scores[b, h, i, j]` compare?",
        (
            _right(
                "the query of token i with the key of token j", "In sentence b, and in head h only."
            ),
            _wrong(
                "the query of token j with the key of token i", "Rows are queries: i is the query."
            ),
            _wrong("head i with head j", "Heads never meet before the output projection."),
        ),
    ),
    Question(
        "When is `.contiguous()` (or `reshape`) needed?",
        (
            _wrong("before every view", "A view of numbers that are in order needs no copy."),
            _wrong("before every transpose", "A transpose only swaps strides."),
            _right(
                "before joining axes that are not adjacent in memory",
                "As in merge_heads, after the product and the swap.",
            ),
        ),
    ),
    Question(
        "`d_model = 64` and 8 heads. To which head do rows 40 to 47 of `k_proj.weight` belong?",
        (
            _right("head 5", "d_head is 8, and head h has rows h*d_head:(h+1)*d_head."),
            _wrong("head 4", "Heads are counted from 0: head 4 has rows 32 to 39."),
            _wrong("to all heads", "Every head reads all features of x, with rows of its own."),
        ),
    ),
    OwnWords(
        "In a sentence of your own: why is the mask added before softmax, and not applied after?",
        "exp(-inf) is 0, so closed cells take no part in the sum that softmax divides by, and the "
        "open cells share all of the 1; masked afterwards, their share would be lost.",
    ),
    Question(
        "`view` straight to `(B, H, T, d_head)`: what happens?",
        (
            _wrong("an error", "The number of elements fits, so view raises nothing."),
            _wrong("the same as view and transpose", "Only the shape is the same."),
            _right(
                "right shape, wrong tokens",
                "Each head gets whole tokens instead of its features of every token.",
            ),
        ),
    ),
    Question(
        "A model grows from `d_model = 256` with 8 heads to `d_model = 1024` with 32 heads. What "
        "are the scores divided by, before and after?",
        (
            _right("both times by √32", "d_head has stayed 32: 256 / 8 and 1024 / 32."),
            _wrong(
                "by 16, then by 32", "Those are the roots of d_model. The sum has d_head terms."
            ),
            _wrong("by √8, then by √32", "Those are the roots of the numbers of heads."),
        ),
    ),
    OwnWords(
        "In a sentence of your own: why several heads rather than one wide head?",
        "A head has one row of weights for each token and so gives one mixture, in which several "
        "needs blur into each other; several heads give several mixtures, each in a place of its "
        "own, for about the same work.",
    ),
    Question(
        "Why does `split_heads` swap two axes after the `view`?",
        (
            _right(
                "so that one batched product serves all heads",
                "A product works on the last two axes, T and d_head, and repeats over B and H.",
            ),
            _wrong("to put the numbers in order in memory", "No number moves; strides do."),
            _wrong("because view cannot make four axes", "It can. The order is the point."),
        ),
    ),
    Question(
        "Where do the heads meet?",
        (
            _wrong("in the softmax", "Every head has a softmax of its own."),
            _wrong("in merge_heads", "There they are only put side by side."),
            _right(
                "in the output projection",
                "Each of its outputs is a sum over the features of all heads.",
            ),
        ),
    ),
    Question(
        "What is one row of `weights @ v`?",
        (
            _wrong(
                "the value of the key that fits best",
                "That would be a hard choice. Softmax mixes them all.",
            ),
            _right("a mean of all values, weighted by one query's row", "One mixture per head."),
            _wrong(
                "a sum over all heads",
                "Heads stay separate until the output projection mixes them.",
            ),
        ),
    ),
)
