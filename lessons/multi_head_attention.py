# ---
# jupyter:
#   assignment: mha
# ---

# %% [markdown] id="title"
# # Multi-head attention from scratch
#
# Every transformer has this layer at its heart. By the end of this notebook you will have written
# it: eight short pieces, 22 lines in all, no loop over heads. Your layer will give the same
# numbers as PyTorch's own `nn.MultiheadAttention`, and you will be able to say why each line is
# there.
#
# You should know tensors, matrix products and softmax. Attention itself need not be familiar.
#
# | step | you write | minutes |
# |---:|---|---:|
# | 0 | `one_query`: one token, in plain Python | 7 |
# | 1 | `project`: queries, keys and values of all heads | 5 |
# | 2 | `split_heads`: cut the features into heads | 12 |
# | 3 | `attention_scores`: compare every query with every key | 9 |
# | 4 | `causal_mask`: close the future | 5 |
# | 5 | `masked_softmax`: scores become weights | 7 |
# | 6 | `attend`: mix the values | 4 |
# | 7 | `merge_heads`: put the heads side by side | 6 |
# | 8 | `MultiHeadAttention`: the whole layer | 11 |
#
# Allow about 90 minutes, in two sittings of 57 and 33: the break is after step 5. Parts marked *can
# wait* can be skipped; with them it is 138 minutes.
#
# What follows after that is *optional*: what heads cost, your layer learning a small task, your
# layer inside a real, trained model, and more.

# %% [markdown] id="why"
# ## Why attention?
#
# In *The keys to the old cabinet are on the table*, the word *are* goes with *keys*, five words
# back, and not with *cabinet* beside it. A model that looks at each word by itself cannot know
# that. One that reads word by word must carry all it has read in one vector, and what is far back
# fades. **Attention** lets every token look at all the others directly, and take from each as
# much as is relevant to it. What is relevant is computed from the tokens themselves, with weights
# that are learned.
#
# > **Attention(Q, K, V) = softmax(Q Kᵀ / √d) V**
#
# | symbol | one row per token |
# |---|---|
# | `Q` | its **query**: what it looks for |
# | `K` | its **key**: how it can be found |
# | `V` | its **value**: what it hands over |
# | `d` | how many features a query and a key have |
#
# `Q Kᵀ` compares every query with every key. Softmax makes weights of each row of these scores:
# positive, and summing to 1. The weights mix the values.

# %% [markdown] id="how-it-works"
# ## How this notebook works
#
# Every step has **the idea**, a number or two **on paper**, **your turn**: a function to write
# with two **checks** below it, and a **look** at what it does. Now and then you are asked to
# **predict** what will come out: guessing first makes things stick.
#
# - Write your code in place of `raise NotWrittenYet`, run the cell, then the checks below it. A
#   check that fails says what came back, what that usually means, and where to look.
# - Stuck? Three **hints** open one by one. Or go on: cells that need a missing step say so.
# - Grading runs the checks again with fresh numbers and other sizes, and tries more of each kind.
#
# <details><summary>More about answers, points and starting over</summary>
#
# - Any correct way of writing a step is accepted, except calling PyTorch's own attention or
#   looping over heads in Python. Each step is graded by itself.
# - *1 + 2 points*: 1 for shapes, 2 for values.
# - To start a step over, put `progress.reset("split_heads")` into its cell and run it.
# - Folded cells only show something. You don't have to read their code.
#
# </details>

# %% id="setup" tags=["setup"]
import math
import os

import torch
import torch.nn as nn
import torch.nn.functional as F

folder = os.path.dirname(globals().get("__vsc_ipynb_file__", ""))
if os.path.isdir(folder):  # VS Code's kernel may have started in the one above
    os.chdir(folder)
try:
    from attention_lab import NotWrittenYet, check, example, show_heads
    from attention_lab.quiz import predict, recall
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"{missing.name} is missing. The folder attention_lab belongs beside this "
        "notebook: run the notebook's Set-up section, or, if it has none, download the "
        "assignment again, whole, and open the notebook there."
    ) from None

torch.set_printoptions(precision=2, sci_mode=False, linewidth=100)

# %% [markdown] id="progress-idea"
# **How far am I?** This table follows every check you run.

# %% id="progress" folded=true
from attention_lab import progress

progress.panel()

# %% [markdown] id="one-query-idea"
# ## Step 0 · One query, whole
#
# Three tokens with three hand-made features: noun, plural, verb. The query of *are* asks for a
# noun and for a plural. (The 4 sets how sharp the weights will be.) Press *Next*, and say
# beforehand which token will get most of the weight.

# %% id="follow-one-query" folded=true
from attention_lab.heatmap import follow_query

names_of_features = ["noun", "plural", "verb"]
vectors = {"keys": [1, 1, 0], "cabinet": [1, 0, 0], "are": [0, 1, 1]}
to_query = [[0, 0, 4], [0, 4, 0], [0, 0, 0]]  # verbs ask for nouns, plurals for plurals

def dot(a, b):
    return sum(left * right for left, right in zip(a, b))


follow_query(vectors, names_of_features, "are", to_query)

# %% [markdown] id="one-query-exercise"
# *are* has found a plural noun: its mixture is 0.92 noun and 0.92 plural, nearly all of it from
# *keys*.
#
# ### Your turn: `one_query`
#
# Not graded · difficulty 2 of 5 · importance 4 of 5 · about 4 minutes · 6 lines
#
# The same for any token, in plain Python. `query` is a list of numbers; `keys` and `values` are
# lists of such lists, one per token. Here loops are welcome. You have `dot(a, b)` for the dot
# product of two lists, `math.exp` and `math.sqrt`.
#
# <details><summary>Hint 1</summary>
#
# Four lines of thought: a score for each key, its `exp`, its share of the sum, and then for
# each feature the sum of share times value.
#
# <details><summary>Hint 2</summary>
#
# `dot(query, key) / math.sqrt(len(query))` is the score of a key.
#
# <details><summary>Hint 3: nearly the answer</summary>
#
# With the shares in a list, feature `f` of the result is
# `sum(share * value[f] for share, value in zip(shares, values))`.
#
# </details></details></details>

# %% grade_id="one_query" solution=true
def one_query(query, keys, values):
    """What one token gets from attention: a list as long as each of the values."""
    ### BEGIN SOLUTION
    powers = [math.exp(dot(query, key) / math.sqrt(len(query))) for key in keys]
    shares = [power / sum(powers) for power in powers]
    mixture = []
    for column in zip(*values):  # one feature of all values
        mixture.append(dot(shares, column))
    return mixture
    ### END SOLUTION


# %% id="check-one-query"
check.one_query(one_query)
everything = list(vectors.values())
print([round(number, 2) for number in one_query([4, 4, 0], everything, everything)])

# %% [markdown] id="axes"
# ## Five names
#
# That was one token in one head. The eight steps do the same for all tokens, heads and sentences
# at once. Most mistakes are mixed-up axes. These are their names, here and in most papers. (`T` is
# also called `L` or `seq_len`, and `d_head` is also `d_k`.)
#
# | name | meaning | in our sentence |
# |---|---|---:|
# | `B` | sentences in the batch | 1 |
# | `T` | tokens in a sentence | 6 |
# | `d_model` | features of a token | 32 |
# | `H` | heads | 4 |
# | `d_head` | features per head: `d_model / H` | 8 |
#
# `T` can appear twice: in `(B, H, T, T)` the first counts queries, the second keys. A comment such
# as `# (B, H, T, d_head)` gives the shape of that line's result: write such comments as you go.

# %% [markdown] id="journey"
# **The whole route** (can wait), for one sentence of three tokens and two heads. Numbers on the
# arrows are the steps; a bracket of the same colour is the same axis.
#
# ![A stack of sheets, one per sentence. On the first, a row of tables. Step 1 makes q, k and v from x, 3 by 4, head 0 faint, head 1 strong. Step 2 splits each into H = 2 tables of 3 by 2. Step 3 makes scores, 3 by 3, of q and k, steps 4 and 5 weights. Step 6 mixes v, on its own line. Step 7 merges, step 8 makes the output, 3 by 4.](journey.svg)

# %% [markdown] id="sentence"
# ## A sentence to work on
#
# Our sentence is *the cat likes the other cat*. Two of its words occur twice. Its vectors were set
# by hand: features 0 to 7 say which word a token is, features 8 to 15 where it stands; exactly one
# of each is 1. Feature 21 says that it is the last.
#
# The layers were set by hand too. So we know what each of the four heads is for:
#
# | head | job |
# |---:|---|
# | 0 | find the **previous token** |
# | 1 | find the **same word** |
# | 2 | find the **first token** |
# | 3 | find the **next token** |
#
# Where there is no previous or next token, heads 0 and 3 look at the token itself. Learned heads
# often find such jobs by themselves, as you can see at the end.

# %% [markdown] id="why-heads"
# ## Why several heads?
#
# In one head, a token has **one row of weights**: one row, one mixture. Suppose it wants two
# things at once: the previous token *and* every place with its own word, itself included. Both
# wishes must share the row.
#
# In the picture **each row is a token that looks, and each column a token looked at**. The row of
# the last *cat* is selected and also drawn as bars. Point at a cell, or press the arrow keys, to
# read its number. *causal* hides later tokens from earlier ones (step 4), *Scale rows* colours
# each row by its own largest weight, *Table* lists the numbers, *PNG* saves the picture.

# %% id="one-head-two-jobs" folded=true
crowded = example.two_jobs_in_one_head()  # (B, 1, T, T)
jobs = ["previous token and same word"]
show_heads(crowded, example.tokens, title="Two jobs in one head", labels=jobs)

# %% [markdown] id="why-heads-answer"
# A third of its weight lies on *other*, the previous token, and a third on each *cat*. The
# mixture is one third *other* and two thirds *cat*, and **nothing in it says which of them was
# the previous token**.
#
# Two heads have two rows: two clean answers, each in a place of its own in the output. That is all
# that "multi-head" means: several notions of *relevant*, side by side. They cost next to nothing
# extra: the four heads get 8 features each, not 32.

# %% [markdown] id="project-idea"
# ## Step 1 · Project
#
# Query, key and value are each a learned linear map of the token's vector, a **projection**: an
# `nn.Linear(d_model, d_model)`.
#
# **The one idea.** One such layer makes the queries of *all* heads at once. Nothing is split yet,
# and there is no separate layer per head. So which of its numbers belong to one head? Guess.

# %% id="predict-project-rows"
predict("project-rows")

# %% [markdown] id="project-rows"
# <details><summary><b>After your guess: where a head's rows are</b></summary>
#
# Feature `i` of the output is row `i` of the weight times the vector, plus the bias. So rows
# `h*d_head:(h+1)*d_head` make the features of head `h`.
#
# ![x, 3 tokens by 4 features, goes through the weight of q_proj. The upper two rows of the weight are faint, the lower two strong. With the bias 0, 0, 1, 0 added they make the faint left half and the strong right half of q, 3 by 4.](project.svg)
#
# </details>

# %% [markdown] id="project-paper"
# **On paper.** Three tokens, four features, two heads: `T=3`, `d_model=4`, `H=2`, `d_head=2`.
# These numbers will stay with us to the end. One of the queries: token 0, feature 2, which is the
# first feature of head 1, is `[0, 0, 1, 0] · [1, 0, 2, 1] + 1 = 3`. (To keep it short, keys and
# values are `x` itself.)

# %% [markdown] id="project-exercise"
# ### Your turn: `project`
#
# Difficulty 1 of 5 · importance 3 of 5 · about 2 minutes · 1 line · 1 + 1 points
#
# <details><summary>Hint 1</summary>
#
# A layer is called like a function: `layer(vectors)`. It works on the last axis and leaves
# all others alone, so there is no need to take `x` apart.
#
# <details><summary>Hint 2</summary>
#
# All three layers get the same `x`. The key is not made from the query.
#
# <details><summary>Hint 3: nearly the answer</summary>
#
# The query is `q_proj(x)`. Return it with the other two, in the order q, k, v.
#
# </details></details></details>

# %% grade_id="project" solution=true
def project(x, q_proj, k_proj, v_proj):
    """Make queries, keys and values of all heads.

    x: (B, T, d_model); q_proj, k_proj, v_proj: nn.Linear(d_model, d_model)
    Returns q, k, v: three tensors (B, T, d_model)
    """
    ### BEGIN SOLUTION
    return q_proj(x), k_proj(x), v_proj(x)  # each (B, T, d_model)
    ### END SOLUTION


# %% grade_id="test_project_shape" points=1
check.project(project, aspect="shape")
### BEGIN HIDDEN TESTS
check.project(project, aspect="shape", hidden=True)
### END HIDDEN TESTS

# %% grade_id="test_project_value" points=1
check.project(project, aspect="value")
### BEGIN HIDDEN TESTS
check.project(project, aspect="value", hidden=True)
### END HIDDEN TESTS

# %% [markdown] id="project-look"
# **Look** (can wait). The paper numbers, computed with your function. Row 0, feature 2 is the 3
# from above.

# %% id="look-at-project" folded=true
print("q =", project(example.paper_x, *example.paper_projections)[0])

# %% [markdown] id="project-look-rows"
# **A head by itself** (can wait). Rows 8 to 15 of the weight belong to head 1. Used alone, they make
# features 8 to 15 of every query.

# %% id="look-at-rows" folded=true
all_queries, _, _ = project(
    example.x, example.q_proj, example.k_proj, example.v_proj
)
head_1 = slice(8, 16)  # h*d_head:(h+1)*d_head for h = 1
weight, bias = example.q_proj.weight[head_1], example.q_proj.bias[head_1]
alone = F.linear(example.x, weight, bias)
print("from 8 rows:", tuple(alone.shape))
print("same as features 8 to 15 of q:", torch.equal(alone, all_queries[..., head_1]))

# %% [markdown] id="split-idea"
# ## Step 2 · Split heads
#
# Each query has `d_model` features, `d_head` for each head. Now each head gets a table of its
# own, `(T, d_head)`. And one matrix product is to serve all heads, with no loop: it works on the
# *last two* axes of a tensor and repeats over all the others.

# %% id="predict-split-shape"
predict("split-shape")

# %% [markdown] id="split-moves"
# <details><summary><b>After your guess: the one idea</b></summary>
#
# The last axis is cut into `H` slices of `d_head` features. That takes two moves, and neither
# copies a number.
#
# 1. `view` as `(B, T, H, d_head)`. The numbers stay where they are in memory. Only the last axis
#    is read as two.
# 2. Swap the axes `T` and `H`. Again nothing moves. Only the order in which the axes are read
#    changes.
#
# With `H` beside `B`, one product serves all heads. In the drawing, `21` stands for token 2,
# feature 1: it goes to head 0, and `22` to head 1.
#
# ![A table of 3 tokens by 4 features, cells named by token and feature. view reads it as two halves side by side, head 0 with features 0 and 1, head 1 with features 2 and 3. transpose makes the two halves separate tables, one per head. A strip below shows the twelve numbers in memory, in the same order throughout.](split-heads.svg)
#
# </details>

# %% [markdown] id="split-exercise"
# ### Your turn: `split_heads`
#
# Difficulty 3 of 5 · importance 5 of 5 · about 7 minutes · 3 lines · 1 + 2 points
#
# <details><summary>Hint 1</summary>
#
# Two moves: first the last axis becomes two axes, then two axes trade places. A `view`
# straight to the final shape has the right shape and the wrong numbers in it.
#
# <details><summary>Hint 2</summary>
#
# The sizes are in `x.shape`. `d_head` is a whole number, so divide with `//`. After the first
# move the shape is `(B, T, num_heads, d_head)`.
#
# <details><summary>Hint 3: nearly the answer</summary>
#
# `x.view(B, T, num_heads, d_head)`, then `.transpose(…, …)` with the numbers of the axes `T`
# and `H`. Count from 0.
#
# </details></details></details>

# %% grade_id="split_heads" solution=true
def split_heads(x, num_heads):
    """Cut the features into heads, and put the head axis beside the batch axis.

    x: (B, T, d_model); num_heads divides d_model
    Returns (B, H, T, d_head), where H = num_heads and d_head = d_model // H
    """
    ### BEGIN SOLUTION
    B, T, d_model = x.shape
    x = x.view(B, T, num_heads, d_model // num_heads)  # (B, T, H, d_head)
    return x.transpose(1, 2)  # (B, H, T, d_head)
    ### END SOLUTION


# %% grade_id="test_split_heads_shape" points=1
check.split_heads(split_heads, aspect="shape")
### BEGIN HIDDEN TESTS
check.split_heads(split_heads, aspect="shape", hidden=True)
### END HIDDEN TESTS

# %% grade_id="test_split_heads_value" points=2
check.split_heads(split_heads, aspect="value")
### BEGIN HIDDEN TESTS
check.split_heads(split_heads, aspect="value", hidden=True)
### END HIDDEN TESTS

# %% [markdown] id="split-look"
# **Look.** A `view` straight to `(B, H, T, d_head)` has the right shape, too. But then head 0 holds
# *all* features of the first tokens, and never sees the last ones. **No shape check can find
# that.** Our sentence can: compare its heads. (You will write the missing steps below.)
#
# The label names a head's job and its share of the weight. Where no job fits, it says how far the
# weight is spread: 0 bits is one token, 1 bit two, 2 bits four.

# %% id="look-at-split-heads" folded=true
def sentence_project():
    """q, k and v of our sentence, computed with your function: each (1, 6, 32)."""
    return project(example.x, example.q_proj, example.k_proj, example.v_proj)


def sentence_heads():
    """q, k and v of our sentence, split with your functions: each (1, 4, 6, 8)."""
    return [split_heads(part, example.num_heads) for part in sentence_project()]


queries, keys, _ = sentence_project()
viewed_q, viewed_k = queries.view(1, 4, 6, 8), keys.view(1, 4, 6, 8)
split_q, split_k, _ = sentence_heads()
show_heads(
    {
        "yours": example.pattern(split_q, split_k),
        "view straight away": example.pattern(viewed_q, viewed_k),
    },
    example.tokens,
    compare="view straight away",
    title="The four heads, split in two ways",
)

# %% [markdown] id="split-look-numbers"
# **Number by number** (can wait). `21` is token 2, feature 1, as in the drawing.

# %% id="look-at-split" folded=true
labels = torch.tensor([[[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]]])  # (1, 3, 4)
yours, viewed = split_heads(labels, 2), labels.view(1, 2, 3, 2)

for head in range(2):
    print(f"head {head}   yours    view straight away")
    for mine, wrong in zip(yours[0, head].tolist(), viewed[0, head].tolist()):
        print("         {:02} {:02}    {:02} {:02}".format(*mine, *wrong))

# %% [markdown] id="scores-idea"
# ## Step 3 · Scores
#
# How well a query and a key fit is their dot product: large when they point the same way, 0 when
# they have nothing in common.
#
# **The one idea.** Each head has a `T × T` table of its own. Row `i` belongs to the query of
# token `i`, column `j` to the key of token `j`. One matrix product fills the tables of all heads:
# `(T, d_head)` times `(d_head, T)` gives `(T, T)`.
#
# The more features, the larger a dot product tends to be. So it is divided by a number that keeps
# the scores around 1, however wide a head is. By which?

# %% id="predict-scale"
predict("scale")

# %% [markdown] id="scores-root"
# <details><summary><b>After your guess: why the square root</b></summary>
#
# A dot product is a sum of `d_head` products. For vectors of independent random numbers with mean
# 0 and variance 1, each product has variance 1, too. Variances of independent numbers add up to
# `d_head`, and the standard deviation is the root of that. So scores are divided by
# `sqrt(d_head)`. You will measure it.
#
# </details>

# %% [markdown] id="scores-paper"
# ![For each of two heads: a table of queries, 3 tokens by 2 features, times a table of keys, 2 features by 3 tokens, divided by the root of 2, gives a table of scores, 3 by 3.](scores.svg)
#
# **On paper.** In head 1, the query of token 2 and the key of token 0: `(1·2 + 2·1) / √2 = 2.83`.

# %% [markdown] id="scores-exercise"
# ### Your turn: `attention_scores`
#
# Difficulty 2 of 5 · importance 5 of 5 · about 5 minutes · 2 lines · 1 + 2 points
#
# <details><summary>Hint 1</summary>
#
# `a @ b` multiplies matrices on the last two axes. `q` is `(…, T, d_head)` there. What must
# the last two axes of the second factor be, so that `(…, T, T)` comes out?
#
# <details><summary>Hint 2</summary>
#
# Swap the last two axes of `k`. Counting from the end (`-2`, `-1`) is safer than counting
# from the front. Take `d_head` from the shape of `q`: it is the size of the last axis.
#
# <details><summary>Hint 3: nearly the answer</summary>
#
# `q @ k.transpose(…, …)`, all of it divided by `math.sqrt(q.shape[-1])`.
#
# </details></details></details>

# %% grade_id="attention_scores" solution=true
def attention_scores(q, k):
    """Compare every query with every key, in each head.

    q, k: (B, H, T, d_head)
    Returns (B, H, T, T): dot products divided by sqrt(d_head); rows are queries
    """
    ### BEGIN SOLUTION
    scale = math.sqrt(q.shape[-1])
    return q @ k.transpose(-2, -1) / scale  # (B, H, T, T)
    ### END SOLUTION


# %% grade_id="test_attention_scores_shape" points=1
check.attention_scores(attention_scores, aspect="shape")
### BEGIN HIDDEN TESTS
check.attention_scores(attention_scores, aspect="shape", hidden=True)
### END HIDDEN TESTS

# %% grade_id="test_attention_scores_value" points=2
check.attention_scores(attention_scores, aspect="value")
### BEGIN HIDDEN TESTS
check.attention_scores(attention_scores, aspect="value", hidden=True)
### END HIDDEN TESTS

# %% [markdown] id="scores-look"
# **Look.** The effect of the root on random queries and keys: the standard deviation (std) of the
# scores, and the largest weight in a row of 50, on average. Left with your scaling, right
# without.

# %% id="look-at-root" folded=true
generator = torch.Generator().manual_seed(0)
print("d_head      std  largest weight   |     without root: std  largest weight")
for width in (4, 64, 256):
    random_q, random_k = torch.randn(2, 1, 1, 50, width, generator=generator)
    scaled = attention_scores(random_q, random_k)  # (1, 1, 50, 50)
    raw = scaled * math.sqrt(width)
    top, raw_top = (F.softmax(s, dim=-1).amax(-1).mean() for s in (scaled, raw))
    print(
        f"{width:6}   {scaled.std():6.1f}  {top:14.2f}   |"
        f"  {raw.std():20.1f}  {raw_top:14.2f}"
    )

# %% [markdown] id="scores-look-saturated"
# Without the root, wide heads put nearly all weight on one token before they have learned
# anything. Such a softmax is **saturated**: hardly any gradient comes back through it. With the
# root, heads of every width start out alike.

# %% [markdown] id="mask-idea"
# ## Step 4 · A causal mask
#
# A model that writes text from left to right must not read what comes next. So token `i` may look
# at tokens `0` to `i` only.
#
# **The one idea.** Weights come from `exp(score)`. Add `-inf` to a score and its `exp` is exactly
# 0. So the mask is a table to be *added*: 0 where a token may look, `-inf` above the diagonal.
#
# **The diagonal stays open.** Close it, and row 0 has nothing left to look at: softmax divides 0
# by 0, and the row becomes NaN.
#
# **Device and dtype.** A tensor on the CPU cannot be added to scores on a GPU. So the mask is made
# where the scores are, and in their dtype.

# %% [markdown] id="mask-paper"
# **On paper** (can wait). Three of nine cells are closed: token 0 may see only itself, token 1 not
# yet token 2.
#
# ![The scores of head 1, 3 by 3, plus the mask, 3 by 3. The mask is 0 on and below the diagonal and minus infinity above it. In the sum the three cells above the diagonal are hatched: closed.](causal-mask.svg)

# %% [markdown] id="mask-exercise"
# ### Your turn: `causal_mask`
#
# Difficulty 2 of 5 · importance 4 of 5 · about 4 minutes · 2 lines · 1 + 2 points
#
# <details><summary>Hint 1</summary>
#
# Start from a `(T, T)` table that is `-inf` everywhere. Then make everything on and below the
# diagonal 0.
#
# <details><summary>Hint 2</summary>
#
# `torch.full` makes the table, and takes `device` and `dtype`. `torch.triu` keeps what is
# above a diagonal and sets the rest to 0.
#
# <details><summary>Hint 3: nearly the answer</summary>
#
# `torch.full((T, T), -math.inf, device=device, dtype=dtype)`, then `.triu(diagonal=…)`. With
# `0` the diagonal itself stays `-inf`; it has to be open.
#
# Beware of multiplying a table of ones and zeros by `-inf`: 0 times infinity is NaN.
#
# </details></details></details>

# %% grade_id="causal_mask" solution=true
def causal_mask(T, device=None, dtype=None):
    """A mask to be added to scores, so that no token sees a later one.

    T: number of tokens; device, dtype: what the table must have; hand them on to torch
    Returns (T, T): 0 where a query (row) may look at a key (column), else -inf
    """
    ### BEGIN SOLUTION
    closed = torch.full((T, T), -math.inf, device=device, dtype=dtype)
    return closed.triu(diagonal=1)  # (T, T)
    ### END SOLUTION


# %% grade_id="test_causal_mask_shape" points=1
check.causal_mask(causal_mask, aspect="shape")
### BEGIN HIDDEN TESTS
check.causal_mask(causal_mask, aspect="shape", hidden=True)
### END HIDDEN TESTS

# %% grade_id="test_causal_mask_value" points=2
check.causal_mask(causal_mask, aspect="value")
### BEGIN HIDDEN TESTS
check.causal_mask(causal_mask, aspect="value", hidden=True)
### END HIDDEN TESTS

# %% [markdown] id="mask-look"
# **Look** (can wait). Your mask, added to the paper scores of head 1.

# %% id="look-at-mask" folded=true
paper_parts = project(example.paper_x, *example.paper_projections)[:2]  # q and k
paper_scores = attention_scores(*(split_heads(part, 2) for part in paper_parts))

print("mask:", causal_mask(3), sep="\n")
print("scores of head 1, masked:", paper_scores[0, 1] + causal_mask(3), sep="\n")

# %% [markdown] id="softmax-rows"
# ## Step 5 · Softmax
#
# Scores become weights: positive, and summing to 1.
#
# **The one idea.** Each *query* shares out its attention among the *keys*. So softmax runs along
# each row, and every **row sums to 1**. And where the mask has closed cells?

# %% id="predict-mask-first-row"
predict("mask-first-row")

# %% [markdown] id="softmax-idea"
# <details><summary><b>After your guess: the mask comes first</b></summary>
#
# Softmax divides by the sum of the row. Mask before it, and closed cells take no part in the sum.
# Mask after it, and their share is simply lost: rows sum to less than 1.
#
# </details>

# %% [markdown] id="softmax-paper"
# **On paper** (can wait). Token 1 in head 1: `exp` of 2.83, 1.41 and -∞ is 16.92, 4.11 and 0. Their
# sum is 21.03, so the weights are 0.80, 0.20 and 0.
#
# ![The masked scores of head 1 go through softmax, row by row. The weights that come out are 0 in the hatched cells, and three bars of equal length show that each row sums to 1.](softmax.svg)

# %% [markdown] id="softmax-exercise"
# ### Your turn: `masked_softmax`
#
# Difficulty 2 of 5 · importance 4 of 5 · about 3 minutes · 3 lines · 1 + 2 points
#
# By itself `exp` overflows: `exp(89)` is infinite in float32. PyTorch's `softmax` first subtracts
# each row's largest score, which changes no weight. If you write it out, do the same.
#
# <details><summary>Hint 1</summary>
#
# First the mask, if there is one, then softmax. Do not write into `scores`: it belongs to the
# caller.
#
# <details><summary>Hint 2</summary>
#
# Ask `if mask is not None`; a tensor has no single truth value. `(B, H, T, T) + (T, T)`
# works as it is: the mask is used for every sentence and every head.
#
# <details><summary>Hint 3: nearly the answer</summary>
#
# `scores = scores + mask` under the `if`, then `scores.softmax(dim=…)`. Keys are the last
# axis.
#
# </details></details></details>

# %% grade_id="masked_softmax" solution=true
def masked_softmax(scores, mask=None):
    """Turn scores into weights that sum to 1 over the keys.

    scores: (B, H, T, T); mask: (T, T) with 0 and -inf, added to the scores, or None
    Returns (B, H, T, T)
    """
    ### BEGIN SOLUTION
    if mask is not None:
        scores = scores + mask  # (B, H, T, T)
    return scores.softmax(dim=-1)  # (B, H, T, T)
    ### END SOLUTION


# %% grade_id="test_masked_softmax_shape" points=1
check.masked_softmax(masked_softmax, aspect="shape")
### BEGIN HIDDEN TESTS
check.masked_softmax(masked_softmax, aspect="shape", hidden=True)
### END HIDDEN TESTS

# %% grade_id="test_masked_softmax_value" points=2
check.masked_softmax(masked_softmax, aspect="value")
### BEGIN HIDDEN TESTS
check.masked_softmax(masked_softmax, aspect="value", hidden=True)
### END HIDDEN TESTS

# %% [markdown] id="softmax-look"
# **Look.** At last, the four heads computed with your own functions, with all tokens in view and
# with the future closed. In head 1 (same word), what happens to the first *cat*? In head 3, the next
# token is forbidden now. The scores that are left are all 0, so the weight is spread evenly:
# softmax cannot say "nothing".

# %% id="look-at-weights" folded=true
def sentence_scores():
    """The scores of our sentence, computed with your functions: (1, 4, 6, 6)."""
    q, k, _ = sentence_heads()
    return attention_scores(q, k)


def sentence_weights(mask=None):
    """The weights of our sentence, computed with your functions: (1, 4, 6, 6)."""
    return masked_softmax(sentence_scores(), mask)


closed = sentence_weights(causal_mask(6))
both = {"all tokens": sentence_weights(), "future closed": closed}
is_causal = {"all tokens": False, "future closed": True}
show_heads(
    both, example.tokens, head=1, row=1, compare="future closed", causal=is_causal
)

# %% [markdown] id="softmax-play-idea"
# **Play** (can wait). Type a sentence of your own, of up to eight words, some of them twice, and
# press Enter. Every change reruns your functions. The temperature divides the scores: what
# happens to the heads when it is high, and when it is low?
#
# <details><summary>What happens</summary>
#
# High: all scores come close together, and every row becomes even. Low: the largest score wins,
# and every row has nearly all of its weight in one place.
#
# </details>

# %% id="softmax-play" folded=true
from attention_lab.heatmap import play


def heads_of(words, temperature=1.0, causal=False):
    """The weights of a sentence, computed with your functions: (1, 4, T, T)."""
    parts = project(
        example.embed(words), example.q_proj, example.k_proj, example.v_proj
    )
    q, k, _ = (split_heads(part, example.num_heads) for part in parts)
    mask = causal_mask(len(words)) if causal else None
    return masked_softmax(attention_scores(q, k) / temperature, mask)


play(heads_of, example.tokens, head=1)

# %% [markdown] id="break"
# **A good place for a break.** When you come back to a fresh kernel, select this cell and choose
# *Run → Run All Above Selected Cell*.

# %% [markdown] id="attend-idea"
# ## Step 6 · Attend
#
# Now each token collects what it looked for.
#
# **The one idea.** A token's output is the weighted mean of the values, with its row of weights:
# one mixture for each token, in each head. As a matrix product: `(T, T)` times `(T, d_head)`
# gives `(T, d_head)`. Nothing is transposed this time.

# %% [markdown] id="attend-paper"
# **On paper** (can wait). Token 1 in head 1, first feature: `0.80·2 + 0.20·1 = 1.80`.
#
# ![The weights of head 1, 3 by 3, times its values, 3 tokens by 2 features, give what head 1 has mixed, 3 by 2. Beside the middle row stands its sum: 0.80 times 2 plus 0.20 times 1.](attend.svg)

# %% [markdown] id="attend-exercise"
# ### Your turn: `attend`
#
# Difficulty 1 of 5 · importance 4 of 5 · about 2 minutes · 1 line · 1 + 1 points
#
# <details><summary>Hint 1</summary>
#
# One matrix product. Write the shapes of the last two axes under both factors, and check that
# the inner sizes are both the number of *keys*.
#
# <details><summary>Hint 2</summary>
#
# `*` multiplies cell by cell, `@` is the matrix product. The weights are already weights: no
# second softmax.
#
# <details><summary>Hint 3: nearly the answer</summary>
#
# `weights @ …`
#
# </details></details></details>

# %% grade_id="attend" solution=true
def attend(weights, v):
    """Mix the values: each output is the mean of v, weighted by one row of weights.

    weights: (B, H, T, T), rows sum to 1; v: (B, H, T, d_head)
    Returns (B, H, T, d_head)
    """
    ### BEGIN SOLUTION
    return weights @ v  # (B, H, T, d_head)
    ### END SOLUTION


# %% grade_id="test_attend_shape" points=1
check.attend(attend, aspect="shape")
### BEGIN HIDDEN TESTS
check.attend(attend, aspect="shape", hidden=True)
### END HIDDEN TESTS

# %% grade_id="test_attend_value" points=1
check.attend(attend, aspect="value")
### BEGIN HIDDEN TESTS
check.attend(attend, aspect="value", hidden=True)
### END HIDDEN TESTS

# %% [markdown] id="attend-look"
# **Look.** In our sentence the value of a token is its word. So what a head has collected can be
# read as words. Compare each column with the job of its head.

# %% id="look-at-attend" folded=true
def sentence_mixed():
    """What each head collects, computed with your functions: (1, 4, 6, 8)."""
    _, _, v = sentence_heads()
    return attend(sentence_weights(), v)


print(f"{'':8}" + "".join(f"{name:>16}" for name in example.head_names))
columns = [example.words_found(collected) for collected in sentence_mixed()[0]]
for at, token in enumerate(example.tokens):
    print(f"{token:>8}" + "".join(f"{column[at][0]:>16}" for column in columns))

# %% [markdown] id="attend-look-slices"
# **The numbers behind those words** (can wait): in each head, one feature per word. (0.0 is small
# but not zero; 0 is exactly zero.) In head 1 each *cat* has shared its weight between two places,
# and yet its row holds a single 1.0. Why?
#
# <details><summary>Because</summary>
#
# Both places hand over the same value, *cat*. The mean of two equal things is that thing.
#
# </details>

# %% id="look-at-mixed" folded=true
from attention_lab.heatmap import show_features

show_features({"mixed": sentence_mixed()}, example.tokens, title="What heads collected")

# %% id="predict-attend-range"
predict("attend-range")

# %% [markdown] id="merge-idea"
# ## Step 7 · Merge heads
#
# So far the heads have worked separately. Now each token gets its features back in one piece.
#
# **The one idea.** Merging is splitting backwards: swap `H` and `T` back, then read the last
# two axes as one. Head 0's features come first, then head 1's.

# %% id="predict-merge-view"
predict("merge-view")

# %% [markdown] id="merge-memory"
# <details><summary><b>After your guess: what is new</b></summary>
#
# After `attend`, memory holds head after head. Swapping the axes changes only how it is read; the
# numbers of one token then lie far apart. `view` cannot join axes like that, and refuses.
# `.contiguous()` copies the numbers into the new order first. `reshape` does the same by itself
# when it must.
#
# ![Two tables, one per head, 3 by 2 each. transpose puts them side by side, reshape reads them as one table of 3 by 4. A strip below shows memory: before, all numbers of head 0 and then all of head 1; after the copy, token by token.](merge-heads.svg)
#
# </details>

# %% [markdown] id="merge-paper"
# **On paper** (can wait). Token 1 leaves `attend` with `[0.20, 0.80]` from head 0 and `[1.80, 0.80]` from
# head 1. Merged: `[0.20, 0.80, 1.80, 0.80]`.

# %% [markdown] id="merge-exercise"
# ### Your turn: `merge_heads`
#
# Difficulty 3 of 5 · importance 4 of 5 · about 4 minutes · 3 lines · 1 + 2 points
#
# <details><summary>Hint 1</summary>
#
# The moves of `split_heads`, undone in the opposite order. Joining `H` and `d_head` only makes
# sense when they are neighbours.
#
# <details><summary>Hint 2</summary>
#
# After the swap the shape is `(B, T, H, d_head)`, and the last two axes become one. `view`
# refuses; what copies when it must?
#
# <details><summary>Hint 3: nearly the answer</summary>
#
# `x.transpose(1, 2)`, then `.reshape(B, T, …)` with the product of the last two sizes.
#
# </details></details></details>

# %% grade_id="merge_heads" solution=true
def merge_heads(x):
    """Put the features of all heads side by side again: split_heads undone.

    x: (B, H, T, d_head)
    Returns (B, T, d_model), where d_model = H * d_head
    """
    ### BEGIN SOLUTION
    B, H, T, d_head = x.shape
    x = x.transpose(1, 2)  # (B, T, H, d_head)
    return x.reshape(B, T, H * d_head)  # (B, T, d_model)
    ### END SOLUTION


# %% grade_id="test_merge_heads_shape" points=1
check.merge_heads(merge_heads, aspect="shape")
### BEGIN HIDDEN TESTS
check.merge_heads(merge_heads, aspect="shape", hidden=True)
### END HIDDEN TESTS

# %% grade_id="test_merge_heads_value" points=2
check.merge_heads(merge_heads, aspect="value")
### BEGIN HIDDEN TESTS
check.merge_heads(merge_heads, aspect="value", hidden=True)
### END HIDDEN TESTS

# %% [markdown] id="merge-look"
# **Look** (can wait). Every token's 32 features now hold four slices of eight, one per head. In yours, head
# 2 has found *the* for every token: one straight column. A `reshape` without the swap gives the
# right shape, but tears that column apart. (0.0 is small but not zero; 0 is exactly zero.)

# %% id="look-at-merged" folded=true
from attention_lab.heatmap import show_features

mixed = sentence_mixed()
show_features(
    {"yours": merge_heads(mixed), "reshape without the swap": mixed.reshape(1, 6, 32)},
    example.tokens,
    num_heads=example.num_heads,
    title="Merged",
)

# %% [markdown] id="memory"
# **Memory** (can wait). A tensor is a row of numbers and a rule for reading it: the **strides**
# say how far to step in memory to reach the next element along each axis. For `x` of shape `(1,
# 3, 4)` they are `(12, 4, 1)`: the next feature is 1 number on, the next token 4, the next
# sentence 12.

# %% id="predict-split-strides"
predict("split-strides")

# %% id="look-at-strides" folded=true
small = torch.arange(12).view(1, 3, 4)
viewed, split = small.view(1, 3, 2, 2), split_heads(small, 2)
for name, tensor in (("x", small), ("view", viewed), ("your split", split)):
    same = "same memory" if tensor.data_ptr() == small.data_ptr() else "a copy"
    shape, strides = str(tuple(tensor.shape)), str(tensor.stride())
    print(f"{name:10}  {shape:12}  strides {strides:13}  {same}")

# %% [markdown] id="memory-split"
# Three shapes, one row of twelve numbers. (If your split is a copy, it is right all the same; it
# has only done more work than it had to.)

# %% [markdown] id="memory-view"
# And here is `view` refusing, live.

# %% id="look-at-view" folded=true
heads_then = {"splitting": sentence_heads()[2], "attending": sentence_mixed()}
for when, heads in heads_then.items():
    swapped = heads.transpose(1, 2)  # (1, 6, 4, 8)
    print(f"after {when}: strides {swapped.stride()}", end=", ")
    try:
        swapped.view(1, 6, 32)
        print("view works")
    except RuntimeError as refusal:
        print("view refuses:")
        print(refusal)

# %% [markdown] id="memory-view-answer"
# After splitting, the numbers of one token still lie side by side: the next head is 8 numbers
# on, just where this one ends. After attending it is 48 numbers on, since the product has
# written a new tensor in the order of its own axes, head after head.

# %% [markdown] id="follow-idea"
# **One token, all seven functions** (can wait). Follow token 1 of the paper numbers, `t1`, through
# them, in head 1. Its weights and its output you have seen on paper. Step on, and say beforehand
# what the next shape will be.

# %% id="follow-a-token" folded=true
from attention_lab.heatmap import follow

follow(
    globals(),
    "t0 t1 t2",
    token="t1",
    head=1,
    x=example.paper_x[0],
    projections=example.paper_projections,  # keys and values are x itself
)

# %% [markdown] id="module-idea"
# ## Step 8 · The whole layer
#
# One layer is left: the **output projection**.
#
# **The one idea.** Up to here, head `h` has written into its own slice of the features and
# nowhere else. `out_proj` mixes all slices: here the heads meet. Together they do about as much
# work as one big head. What you gain is several notions of *relevant*.

# %% [markdown] id="module-paper"
# **On paper** (can wait). Token 1 meets the first row of a small `out_proj`, `[1, 0, 0, 1]`:
# `1·0.20 + 1·0.80 = 1.00`, a number of head 0 and one of head 1. (In the drawing each line stands
# for a weight of 1. A real `out_proj` has a weight for every pair of features.)
#
# ![The merged table, 3 tokens by 4 features: two faint features from head 0, two strong ones from head 1. Lines lead from one faint and one strong feature to each of the four features of the output, whose numbers stand beside them.](out-proj.svg)

# %% [markdown] id="module-exercise"
# ### Your turn: `MultiHeadAttention.forward`
#
# Difficulty 3 of 5 · importance 5 of 5 · about 10 minutes · 7 lines · 1 + 4 points
#
# `__init__` is given. Write `forward` with the functions you have. You may also write it
# without them.
#
# <details><summary>Hint 1</summary>
#
# Follow the tensor: project, split (three times), score, mask if `causal`, softmax, attend,
# merge, project out. Write the shape behind every line.
#
# <details><summary>Hint 2</summary>
#
# Split `q`, `k` and `v` with `self.num_heads`. The mask is made for the `T` of this `x`, on
# its device and in its dtype; without `causal` it is `None`.
#
# <details><summary>Hint 3: nearly the answer</summary>
#
# ```python
# q, k, v = project(x, self.q_proj, self.k_proj, self.v_proj)  # (B, T, d_model)
# q, k, v = ...  # split_heads, each (B, H, T, d_head)
# mask = causal_mask(x.shape[1], x.device, x.dtype) if causal else None
# weights = ...  # masked_softmax of attention_scores, (B, H, T, T)
# return ...  # out_proj of merge_heads of attend, (B, T, d_model)
# ```
#
# </details></details></details>

# %% grade_id="MultiHeadAttention" solution=true
class MultiHeadAttention(nn.Module):
    """Multi-head self-attention.

    >>> MultiHeadAttention(16, 4)(torch.randn(2, 5, 16), causal=True).shape
    torch.Size([2, 5, 16])
    """

    def __init__(self, d_model, num_heads):
        super().__init__()
        if num_heads < 1 or d_model % num_heads:
            raise ValueError(
                f"{num_heads} heads cannot share {d_model} features equally"
            )
        self.d_model = d_model
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, x, causal=False):
        """Let every token look at every token; if causal, at itself and earlier ones.

        x: (B, T, d_model)
        Returns (B, T, d_model)
        """
        ### BEGIN SOLUTION
        q, k, v = project(x, self.q_proj, self.k_proj, self.v_proj)  # (B, T, d_model)
        q = split_heads(q, self.num_heads)  # (B, H, T, d_head)
        k = split_heads(k, self.num_heads)
        v = split_heads(v, self.num_heads)
        mask = causal_mask(x.shape[1], x.device, x.dtype) if causal else None
        weights = masked_softmax(attention_scores(q, k), mask)  # (B, H, T, T)
        return self.out_proj(merge_heads(attend(weights, v)))  # (B, T, d_model)
        ### END SOLUTION


# %% grade_id="test_MultiHeadAttention_shape" points=1
check.MultiHeadAttention(MultiHeadAttention, aspect="shape")
### BEGIN HIDDEN TESTS
check.MultiHeadAttention(MultiHeadAttention, aspect="shape", hidden=True)
### END HIDDEN TESTS

# %% grade_id="test_MultiHeadAttention_value" points=4
check.MultiHeadAttention(MultiHeadAttention, aspect="value")
### BEGIN HIDDEN TESTS
check.MultiHeadAttention(MultiHeadAttention, aspect="value", hidden=True)
### END HIDDEN TESTS

# %% [markdown] id="module-look"
# **Look** (can wait). Your layer with the hand-made weights, on our sentence. Its `out_proj` adds up
# what heads 1 and 2 found in the first slice: these two have met, and can no longer be told apart.
# It leaves the second slice empty, and copies heads 0 and 3 into the last two.

# %% id="look-at-module" folded=true
designed = MultiHeadAttention(example.d_model, example.num_heads)
example.fill(designed)
with torch.no_grad():
    found = example.words_found(designed(example.x))
print(f"{'token':>8}   {'heads 1 + 2':14}{'(empty)':10}{'head 0':10}head 3")
for token, (met, empty, previous, following) in zip(example.tokens, found):
    print(f"{token:>8}   {met:14}{empty:10}{previous:10}{following}")

# %% [markdown] id="pytorch-idea"
# ## Beside PyTorch
#
# `nn.MultiheadAttention` is the reference behind the checks. Its `in_proj_weight` holds the rows of
# `q_proj`, `k_proj` and `v_proj`, one below the other. Copy your weights into it, and both must
# give the same output, up to rounding errors near 1e-7.

# %% id="against-pytorch" folded=true
def pytorch_twin(mine):
    """PyTorch's layer, with the weights of a MultiHeadAttention copied in."""
    twin = nn.MultiheadAttention(mine.d_model, mine.num_heads, batch_first=True)
    parts = (mine.q_proj, mine.k_proj, mine.v_proj)
    with torch.no_grad():
        twin.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
        twin.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
    twin.out_proj.load_state_dict(mine.out_proj.state_dict())
    return twin


mine = MultiHeadAttention(16, 4)
twin = pytorch_twin(mine)
batch = torch.randn(2, 5, 16, generator=generator)
with torch.no_grad():
    ours = mine(batch, causal=True)
    theirs, _ = twin(batch, batch, batch, attn_mask=causal_mask(5))
difference = (ours - theirs).abs().max().item()
print("shape", tuple(ours.shape), " largest difference", difference)

# %% [markdown] id="pytorch-biases"
# **Biases** (can wait). A new `nn.MultiheadAttention` starts with **all biases 0**, while an
# `nn.Linear` starts with small random ones. Weights must be random, or all heads would start
# alike and stay alike. Biases need not be: random weights already make the heads differ, and 0 is
# the plainest start.
#
# For testing that is a trap: with biases of 0, a layer that forgets them looks right. The
# checks here write biases that are not 0 into both layers.

# %% [markdown] id="proof"
# ## Proof: a stranger's layer
#
# A colleague hands you a layer. It runs, and every shape is right, but it has one of five faults.
# The weights are those of our sentence, so you know what the heads should do.
#
# | name | fault |
# |---|---|
# | `"split"` | heads get whole tokens, not their slice of every token |
# | `"axis"` | softmax runs over the queries |
# | `"late"` | the future is closed only after softmax |
# | `"past"` | the past is closed, not the future |
# | `"merge"` | heads are merged without the swap |

# %% [markdown] id="fault-exercise"
# ### Your turn: which fault?
#
# Difficulty 3 of 5 · importance 5 of 5 · about 3 minutes · 1 line · 1 point
#
# Put a number of your own into the cell below and run it: it draws your fault. The next cell shows
# you the layer. Then come back, and write `fault = "..."` in place of `raise NotWrittenYet`, with
# one of the names above.
#
# <details><summary>Hint 1</summary>
#
# Add up a row, then a column. What should the first token see when the future is closed?
#
# <details><summary>Hint 2</summary>
#
# If the weights are as they should be, look at the words above the picture: do they fit the jobs
# of heads 0 and 3?
#
# <details><summary>Hint 3: nearly the answer</summary>
#
# Rows that do not sum to 1: `"axis"`, or `"late"` if only with the future closed. Weight on later
# tokens: `"past"`. Heads without their jobs: `"split"`. Right heads and wrong words: `"merge"`.
#
# </details></details></details>

# %% grade_id="fault" solution=true
my_number = 7  # put a number of your own here
fault = None
### BEGIN SOLUTION
fault = "axis"
### END SOLUTION

# %% id="stranger" folded=true
from attention_lab.stranger import Layer, Stranger

stranger = Stranger(my_number)
stranger.look()

# %% grade_id="test_fault_value" points=1
check.fault(fault, my_number)

# %% id="stranger-code" folded=true
print(stranger.code)

# %% [markdown] id="mend-exercise"
# ### Your turn: mend it
#
# Difficulty 3 of 5 · importance 5 of 5 · about 3 minutes · 14 lines · 1 point
#
# Above is the stranger's `forward`. Copy it, and change what is wrong. It is checked as your own
# layer was.
#
# <details><summary>Hint 1</summary>
#
# The fault has a name: read the lines of that step only.
#
# <details><summary>Hint 2</summary>
#
# Write the shape behind every line, and ask of each axis that is named by a number what it
# counts.
#
# <details><summary>Hint 3: nearly the answer</summary>
#
# Compare that line with your own function for the same step, above.
#
# </details></details></details>

# %% grade_id="MendedAttention" solution=true
class MendedAttention(Layer):
    """The stranger's layer, mended. Layer has its `__init__`, which is right."""

    def forward(self, x, causal=False):
        """x: (B, T, d_model). Returns (B, T, d_model)"""
        ### BEGIN SOLUTION
        B, T, _ = x.shape
        projections = (self.q_proj, self.k_proj, self.v_proj)
        q, k, v = (proj(x) for proj in projections)
        q, k, v = (
            part.view(B, T, self.num_heads, self.d_head).transpose(1, 2)
            for part in (q, k, v)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
        if causal:
            scores = scores.masked_fill(future, -math.inf)
        weights = scores.softmax(dim=-1)
        mixed = (weights @ v).transpose(1, 2).reshape(B, T, self.d_model)
        return self.out_proj(mixed)
        ### END SOLUTION


# %% grade_id="test_MendedAttention_value" points=1
check.MendedAttention(MendedAttention)
### BEGIN HIDDEN TESTS
check.MendedAttention(MendedAttention, hidden=True)
### END HIDDEN TESTS

# %% [markdown] id="around"
# ## Around the layer
#
# In a transformer your layer sits in a **block**. Words become vectors, and positions are added,
# since the layer by itself cannot tell order. A *norm* keeps the numbers at one scale. What the
# layer gives is **added** to what went in. An *MLP*, two linear layers with a non-linear function
# between them, then works on each token by itself.
#
# ![Words and positions enter. A first arrow leads through a norm and your layer, where tokens meet, to a plus sign; a second arrow goes around both. Then the same with a norm and an MLP, which works on each token by itself.](block.svg)
#
# So your layer is the only place where tokens meet. Near the end of this notebook it runs inside
# a trained model of six such blocks, where one head puts 78 % of the weight of *are* on *keys*,
# across the cabinet.

# %% [markdown] id="laws"
# ## Three laws (can wait)
#
# What must hold whatever the weights are? Predict, then run your layer.

# %% id="predict-law-causal"
predict("law-causal")

# %% id="law-causal" folded=true
any_layer = MultiHeadAttention(12, 3).requires_grad_(False)
any_x = torch.randn(1, 6, 12, generator=generator)


def rows_moved(before, after):
    moved = (before - after).abs().amax(dim=(0, 2)) > 1e-5
    return moved.nonzero().flatten().tolist()


changed_x = any_x.clone()
changed_x[:, 3] += 1
before, after = any_layer(any_x, causal=True), any_layer(changed_x, causal=True)
print("rows that moved:", rows_moved(before, after))

# %% id="predict-law-permutation"
predict("law-permutation")

# %% id="law-permutation" folded=true
order = [5, 2, 0, 4, 1, 3]
before, after = any_layer(any_x), any_layer(any_x[:, order])
print("rows that moved:", rows_moved(before, after))
print("once the old rows are in that order too:", rows_moved(before[:, order], after))

# %% id="predict-law-constant"
predict("law-constant")

# %% id="law-constant" folded=true
same_x = any_x[:, :1].expand(1, 6, 12)
output = any_layer(same_x)
print("largest difference between rows:", (output - output[:, :1]).abs().max().item())

# %% [markdown] id="wrong-idea"
# ## What goes wrong (can wait)
#
# Four bugs that people really make, on our sentence with the future closed. All four run without
# an error, and every output has the right shape. Say what will come out, then run it. Your own
# result is beside it.

# %% id="predict-wrong-mask-late"
predict("wrong-mask-late")

# %% id="wrong-mask-late"
def beside_yours(bug, title, head=0, row=None):
    """A bug's weights beside yours, with the future closed."""
    both = {"bug": bug, "yours": sentence_weights(causal_mask(6))}
    options = {"compare": "yours", "causal": True, "title": title}
    return show_heads(both, example.tokens, head=head, row=row, **options)


bug = sentence_scores().softmax(-1) * causal_mask(6).exp()
beside_yours(bug, "Masked after softmax", head=3, row=2)

# %% [markdown] id="wrong-mask-late-answer"
# Head 3 had nearly all of its weight in the closed cells. In every row but the last nearly nothing
# is left, and those tokens collect next to nothing.

# %% id="predict-wrong-diagonal"
predict("wrong-diagonal")

# %% id="wrong-diagonal"
diagonal_too = torch.full((6, 6), -math.inf).triu(diagonal=0)
bug = (sentence_scores() + diagonal_too).softmax(-1)
beside_yours(bug, "Diagonal closed", row=0)

# %% [markdown] id="wrong-diagonal-answer"
# In a deep model the next layer would be NaN everywhere, and so would the loss.

# %% id="predict-wrong-axis"
predict("wrong-axis")

# %% id="wrong-axis"
bug = (sentence_scores() + causal_mask(6)).softmax(-2)
beside_yours(bug, "Softmax over queries")

# %% [markdown] id="wrong-axis-answer"
# Columns sum to 1 instead of rows. The first token gets too little, the last one too much.

# %% id="predict-wrong-root"
predict("wrong-root")

# %% id="wrong-root"
raw = sentence_scores() * math.sqrt(example.d_head)
bug = (raw + causal_mask(6)).softmax(-1)
beside_yours(bug, "No root")

# %% [markdown] id="wrong-root-answer"
# The hardest to see: 0.97 has become 1.00, and that is all, since our scores are few and tidy. With
# 64 random features, step 3 has shown what it does. This is why the checks compare numbers.

# %% [markdown] id="recall"
# ## What do you remember? (can wait)
#
# Best tomorrow, without scrolling up. A question that you get wrong comes again.

# %% id="recall-questions"
recall()

# %% [markdown] id="to-keep"
# ## To keep (can wait)
#
# | step | shape | line | why |
# |---|---|---|---|
# | project | `(B, T, d_model)` | `q_proj(x)` | rows `h*d_head:(h+1)*d_head` of the weight are head `h` |
# | split | `(B, H, T, d_head)` | `view`, then swap `T` and `H` | heads beside the batch: one product for all |
# | score | `(B, H, T, T)` | `q @ kᵀ / sqrt(d_head)` | scores stay around size 1, however wide a head |
# | mask | `(T, T)` | 0 or `-inf`, added | `exp(-inf)` is 0; the diagonal stays open |
# | softmax | `(B, H, T, T)` | over the last axis | each query shares out 1 among the keys |
# | attend | `(B, H, T, d_head)` | `weights @ v` | one mixture for each query and head |
# | merge | `(B, T, d_model)` | swap back, then `reshape` | memory is not in order: one copy |
# | project out | `(B, T, d_model)` | `out_proj(merged)` | here the heads meet |
#
# - One softmax row is one mixture. Several heads are several mixtures.
# - A right shape proves little. A law, or a sentence whose answer you know, proves more.
# - The layer knows nothing of order. The mask, or positions in `x`, must bring it in.
#
# And how far you have come, as a page to keep:

# %% id="progress-summary"
progress.summary()

# %% [markdown] id="before-you-go" tags=["class"]
# ## Hand in
#
# Choose *Kernel → Restart Kernel and Run All Cells*, and save. Then run the cell below: it reads
# the saved file as a grader will.

# %% id="ready-to-submit" folded=true tags=["class"]
from attention_lab import ready_to_submit

ready_to_submit()

# %% [markdown] id="more"
# ## If you want more
#
# That was the lesson. Everything that follows is *optional*; none of it is graded. The parts do
# not depend on each other.
#
# | part | what is in it | minutes |
# |---|---|---:|
# | Prove it yourself | one head by itself | 8 |
# | What it costs | operations counted; a loop over heads, timed | 5 |
# | Learned | your layer learns a small task: why four heads can do what one cannot | 10 |
# | Real | your layer inside a trained model | 20 |
# | Stretch | four variations that real models use | 30 |

# %% [markdown] id="prove-idea"
# ## Prove it yourself
#
# *About 8 minutes, one function to write.* Convince yourself that the batched code does what the
# words say.

# %% [markdown] id="one-head-exercise"
# ### One head at a time
#
# Optional · difficulty 3 of 5 · importance 4 of 5 · about 6 minutes · 6 lines
#
# Your layer treats all heads at once. Now do a single head by itself, with small matrices and
# only the rows `h*d_head:(h+1)*d_head` of *your* layer's weights. If the heads are what the
# lesson says they are, the heads one at a time must equal the batched layer, before `out_proj`.
#
# <details><summary>Hint 1</summary>
#
# With `d_head = layer.d_head` and `rows = slice(h * d_head, (h + 1) * d_head)`, the queries are
# `F.linear(x, layer.q_proj.weight[rows], layer.q_proj.bias[rows])`.
#
# <details><summary>Hint 2</summary>
#
# The same for keys and values. Each is `(T, d_head)` now, so `k.T` is the transpose you need.
#
# <details><summary>Hint 3: nearly the answer</summary>
#
# `F.softmax(q @ k.T / math.sqrt(d_head), dim=-1)`, times the values.
#
# </details></details></details>

# %% grade_id="one_head" solution=true
def one_head(x, layer, h):
    """Head h of a MultiHeadAttention by itself, without a mask.

    x: (T, d_model). Returns (T, d_head): what the head has mixed, before out_proj
    """
    ### BEGIN SOLUTION
    rows = slice(h * layer.d_head, (h + 1) * layer.d_head)
    q = F.linear(x, layer.q_proj.weight[rows], layer.q_proj.bias[rows])  # (T, d_head)
    k = F.linear(x, layer.k_proj.weight[rows], layer.k_proj.bias[rows])
    v = F.linear(x, layer.v_proj.weight[rows], layer.v_proj.bias[rows])
    weights = F.softmax(q @ k.T / math.sqrt(layer.d_head), dim=-1)  # (T, T)
    return weights @ v  # (T, d_head)
    ### END SOLUTION


# %% id="check-one-head"
check.one_head(one_head, MultiHeadAttention)

# %% [markdown] id="cost-idea"
# ## What it costs
#
# *About 5 minutes, nothing to write.* Do more heads cost more? Guess first.

# %% id="predict-cost"
predict("cost")

# %% id="look-at-cost" folded=true
def count_operations(heads):
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter, torch.no_grad():
        MultiHeadAttention(64, heads)(cost_x)
    return counter.get_total_flops()


cost_x = torch.randn(1, 128, 64, generator=generator)  # (B, T, d_model)
if not os.environ.get("NBGRADER_EXECUTION"):  # grading has no use for this
    print("heads   floating-point operations   numbers in the attention matrices")
    for heads in (1, 2, 4, 8, 16):
        print(f"{heads:5}   {count_operations(heads):25,}   {heads * 128 * 128:33,}")

# %% [markdown] id="cost-answer"
# The matrix products stay exactly the same: `H` heads of `d_head` features make as many as one
# head of `H * d_head`. (The counter counts only those. The `exp`s of softmax grow with `H`, as
# the tables do; beside the products they are few.)
#
# What grows is the **attention matrix**: `H` tables of `T × T`. They grow with the square of
# the length. At 128 tokens that is nothing. At 100,000 tokens one table alone has ten billion
# cells, 20 GB in half precision. That is why programs such as FlashAttention, which do all steps
# in one go, never write it down as a whole.

# %% [markdown] id="cost-loop-idea"
# ### The loop
#
# Heads can be processed one at a time, too. The numbers are the same. How much longer does it
# take, here and now?

# %% id="look-at-loop" folded=true
import time


def one_by_one(layer, x):
    """The same layer with a loop over heads, computed with your functions."""
    parts = project(x, layer.q_proj, layer.k_proj, layer.v_proj)
    q, k, v = (split_heads(part, layer.num_heads) for part in parts)
    slices = [slice(h, h + 1) for h in range(layer.num_heads)]
    mixed = [
        attend(masked_softmax(attention_scores(q[:, at], k[:, at])), v[:, at])
        for at in slices
    ]
    return layer.out_proj(merge_heads(torch.cat(mixed, dim=1)))


def seconds(function, *arguments):
    """The least time that the function took in twenty trials."""
    times = []
    for _ in range(20):
        begin = time.perf_counter()
        function(*arguments)
        times.append(time.perf_counter() - begin)
    return min(times)


if not os.environ.get("NBGRADER_EXECUTION"):
    timed = MultiHeadAttention(64, 8).requires_grad_(False)
    together, in_turn = timed(cost_x), one_by_one(timed, cost_x)
    print("same numbers:", torch.allclose(together, in_turn, atol=1e-5))
    slower = seconds(one_by_one, timed, cost_x) / seconds(timed, cost_x)
    print(f"the loop takes {slower:.1f} times as long")

# %% [markdown] id="cost-loop-answer"
# What the loop pays for is the fixed cost of more calls. With small tensors that shows: here we
# measured 1.6 to 3 times as long. With larger ones it was 1.0 to 1.7 times, so on a CPU do not
# expect much. On a GPU, each product of the loop is sent there on its own and is too small to
# keep the chip busy, so that one batched product gains far more.

# %% [markdown] id="learned-idea"
# ## Learned: why four heads
#
# *About 10 minutes, nothing to write.*
#
# The heads of our sentence were **designed**. Now your own layer will learn. In the next part it
# runs inside a **real** model.
#
# The task is a toy. A story has twelve tokens and six people. Each of them appears twice: first
# with their colour, then with only a question mark. Every token must answer:
#
# | job | question |
# |---|---|
# | previous name | Who comes just before me? |
# | next name | Who comes just after me? |
# | colour | If mine is hidden: which one was it? |
#
# So each job has to look at a different token. And there is no way around your layer: a token
# answers from what it has collected, and from nothing else.

# %% id="look-at-story"
from attention_lab.learned import Experiment, task

print(" | ".join(task.draw(1, generator).tokens()))

# %% [markdown] id="learned-predict"
# We train three models with your layer: with 1 head of 32 features, with 2 heads of 16, and with
# 4 heads of 8. All three have the same number of parameters.

# %% id="predict-one-head"
predict("one-head")

# %% id="learned-run"
experiment = Experiment(MultiHeadAttention)
experiment.run(seed=1)

# %% [markdown] id="learned-why"
# Read the curves as stairs. A step down is a job that has been learned, and steps can run
# together. With four heads nothing is left to learn.
#
# **The reason.** One row of weights is one mixture. Say a head shares its weight between the
# token before and the token after. Then both names are in what comes out. But nothing in it
# says **which is which**. Another head is another row, with a place of its own in the output.
#
# **The limits.** A mixture need not be even. If the larger share is always the previous name,
# that one can be told after all. So one head sometimes gets two jobs mostly right. We trained
# with ten seeds; for one and two heads we took the best of eight learning rates:
#
# | heads | all three jobs at 99 % | and in four times as many steps |
# |---:|---:|---:|
# | 1 | 0 of 10 | 0 of 10 |
# | 2 | 0 of 10 | 4 of 10 |
# | 4 | 10 of 10 | |
#
# So two heads can manage with a trick, but late and not every time. Four heads need no trick.

# %% [markdown] id="learned-heads-idea"
# **Look.** The four heads on a new story, before training and after it. Choose a head. Its label
# says how much of its weight lies where a job wants it.

# %% id="learned-heads"
experiment.heads(4)

# %% [markdown] id="learned-heads-answer"
# Nobody told them who should do what. Before, all four look around at random. After, each job has
# a head of its own. Which one is a matter of chance. The head that is left over doubles a job, or
# does nothing in particular.

# %% [markdown] id="learned-seed-idea"
# Chance, here, is the **seed** from which training starts. Ten were measured beforehand, with a
# right layer: choose one. With seed 0 two heads come near all three jobs.
# (`experiment.run(seed=3)` trains yours.)

# %% id="learned-seed"
from attention_lab.learned import seeds

seeds()

# %% [markdown] id="real-idea"
# ## Real: your layer in a trained model
#
# *About 20 minutes, nothing to write.*
#
# `all-MiniLM-L6-v2` is a small transformer, much used for searching by meaning. It turns a
# sentence into a vector, so that sentences with much the same meaning get much the same vector.
# It has 6 layers of 12 heads, `d_model = 384`, and has learned from a billion pairs of sentences.
#
# Here its 22.6 million weights are put around **your** layer. No attention but yours will run. If
# the model cannot be loaded, stored results for two sentences take its place. Then `minilm.live`
# is `False`, and some cells below stay empty.

# %% id="real-load"
from attention_lab import pretrained

minilm = pretrained.load(MultiHeadAttention)

# %% [markdown] id="real-same-idea"
# The original has read our sentence, and we have kept every third feature of its **hidden states**:
# what every token is after the last layer. How far are yours from them? And how far are those of
# a class with a mistake?

# %% id="real-same"
class AlwaysCausal(MultiHeadAttention):
    """A mistake: the future is closed, whatever is asked for."""

    def forward(self, x, causal=False):
        return super().forward(x, True)


if minilm.live:
    wrong = pretrained.load(AlwaysCausal)
    print(f"largest difference, yours:         {minilm.difference():.7f}")
    print(f"largest difference, always causal: {wrong.difference():.7f}")

# %% [markdown] id="real-count-idea"
# **The number of heads is not in the weights.** `q_proj` is 384 by 384, whatever it is cut into.
# Load these weights, which were trained with 12 heads, into a layer with 6.

# %% id="real-count"
if minilm.live:
    six_heads = pretrained.load(MultiHeadAttention, 6)
    print(f"largest difference, six heads: {six_heads.difference():.7f}")

# %% [markdown] id="real-count-answer"
# No error, and everything wrong. So every published model says in its settings how many heads
# it has.

# %% [markdown] id="real-wall-idea"
# **All 72 heads.** Each small picture is one head. A row is a query, a column a key. `L0.H2` is
# short for layer 0, head 2. The model puts `[CLS]` before a sentence and `[SEP]` after it.

# %% id="real-wall"
keys_sentence = "The keys to the old cabinet are on the table."
minilm.wall(keys_sentence)

# %% [markdown] id="real-show-idea"
# **Close up.** What is on the table, the keys or the cabinet? Choose the row of *are*.

# %% id="real-show"
minilm.show(keys_sentence, layer=3, head=1)

# %% [markdown] id="real-show-answer"
# `L3.H1` puts 78 % of the weight of *are* on *keys*, across the cabinet. Another head looks at
# *cabinet*: you will meet it in the hunt. Change the numbers in the cell and look at others.

# %% [markdown] id="real-hunt-idea"
# **Hunt the head.** Seven jobs. Find the head for each, on the wall or close up.

# %% id="real-hunt"
pretrained.hunt()

# %% [markdown] id="real-tally-idea"
# The answers were measured, and you can measure them again: with your layer, on 215 sentences.
# Open the table when you have hunted. The last column is the middle one of all 72 heads.

# %% id="real-tally"
pretrained.tally(minilm) if minilm.live else None

# %% [markdown] id="real-tally-answer"
# Only the first line is clear-cut. Everywhere else a head does *mostly* something, and the next
# best does some of it too. For *he* and *she* the number means something else: in how many
# sentences the right name gets more weight than the other. By chance that is 50 %.

# %% [markdown] id="real-own-idea"
# **Your own sentence.** Write one between the quotes. Other scripts and emoji work as well,
# though the model was made for English: look how it cuts them up.

# %% id="real-own"
my_sentence = "the cat likes the other cat"
print(" ".join(minilm.tokens(my_sentence)))
minilm.wall(my_sentence)

# %% [markdown] id="real-honest"
# ### What heads do not tell
#
# Pictures of heads are easy to like, and easy to believe. Three measurements against that.

# %% [markdown] id="real-rest-idea"
# **Where heads rest.** Softmax cannot say "nobody". A head that finds nothing to do must put its
# weight somewhere. Here is how much of it lies on `[CLS]`, on average over the heads of a layer.

# %% id="real-rest" folded=true
on_cls = minilm.weights(keys_sentence)[:, :, 1:-1, 0].mean(dim=(1, 2))
even = 1 / len(minilm.tokens(keys_sentence))
for layer_number, share in enumerate(on_cls):
    print(f"layer {layer_number}: {share:4.0%} on [CLS]; evenly shared, {even:.0%}")

# %% [markdown] id="real-rest-answer"
# In layers 1 to 4 it is half of all weight. So a strong first column says "nothing for me here",
# not "`[CLS]` matters".

# %% [markdown] id="real-wide-idea"
# **A famous pair.** *The animal didn't cross the street because it was too tired.* With *wide*
# in place of *tired*, *it* is the street. In some larger models a head follows. Does one here?

# %% id="real-wide" folded=true
def looks(sentence, query, key):
    """How much each head looks from one word at another: (6, 12)."""
    words = minilm.tokens(sentence)
    return minilm.weights(sentence)[:, :, words.index(query), words.index(key)]


if minilm.live:
    print("from it to        L3.H1  L5.H11   L4.H0")
    for adjective in ("tired", "wide"):
        text = f"The animal didn't cross the street because it was too {adjective}."
        for noun in ("animal", "street"):
            share = looks(text, "it", noun)
            cells = [f"{share[at]:7.0%}" for at in ((3, 1), (5, 11), (4, 0))]
            print(f"{noun} ({adjective})".ljust(14), *cells)

# %% [markdown] id="real-wide-answer"
# No. The two heads that look at a noun at all look at the animal both times; `L3.H1` only
# becomes less sure. `L4.H0` does change sides, with little weight. Out of 72 heads you will
# always find one that does what you hoped for.

# %% [markdown] id="real-without-idea"
# **Take a pretty head away.** Whatever it has collected is not let through to `out_proj`. How
# near is the sentence's vector to what it was? 1 is the same.

# %% id="real-without" folded=true
if minilm.live:
    whole = minilm.meaning(keys_sentence)
    for layer_number, head in ((0, 2), (1, 8), (3, 1)):
        with minilm.without(layer_number, head):
            near = whole @ minilm.meaning(keys_sentence)
        print(f"without L{layer_number}.H{head}:     {near:.3f}")
    other = minilm.meaning("Birds sing in the morning.")
    print(f"another sentence: {whole @ other:.3f}")

# %% [markdown] id="real-without-answer"
# Hardly anything has changed. One likely reason: the sum `x + attention(x)` carries most of a
# token past every layer. That a head can be read does not mean that the model needs it.
#
# **Designed, learned, real:** the same few lines, and you have written them.

# %% [markdown] id="stretch"
# ## Stretch
#
# *About 30 minutes, four functions to write.* They are checked in the same way.

# %% [markdown] id="cross-exercise"
# ### Cross-attention
#
# Difficulty 2 of 5 · about 6 minutes · 5 lines
#
# A translator's tokens look at the tokens of *another* sentence. Queries come from `x`, keys
# and values from `memory`. The two lengths `T` and `S` differ, so the scores are
# `(B, H, T, S)`: one row for each query, one column for each key.
#
# <details><summary>Hint 1</summary>
#
# The same steps in the same order. Only two of the three projections read from `memory`.
#
# <details><summary>Hint 2</summary>
#
# Your `split_heads`, `attention_scores`, `attend` and `merge_heads` probably work as they are. If
# one of them took `T` from the wrong tensor, it shows now.
#
# <details><summary>Hint 3: nearly the answer</summary>
#
# `q = split_heads(q_proj(x), num_heads)`, `k = split_heads(k_proj(memory), num_heads)`, and so
# on as in step 8, without a mask.
#
# </details></details></details>

# %% grade_id="cross_attention" solution=true
def cross_attention(x, memory, q_proj, k_proj, v_proj, out_proj, num_heads):
    """Let the tokens of x look at those of memory.

    x: (B, T, d_model); memory: (B, S, d_model); four nn.Linear(d_model, d_model)
    Returns (B, T, d_model)
    """
    ### BEGIN SOLUTION
    q = split_heads(q_proj(x), num_heads)  # (B, H, T, d_head)
    k = split_heads(k_proj(memory), num_heads)  # (B, H, S, d_head)
    v = split_heads(v_proj(memory), num_heads)
    weights = masked_softmax(attention_scores(q, k))  # (B, H, T, S)
    return out_proj(merge_heads(attend(weights, v)))  # (B, T, d_model)
    ### END SOLUTION


# %% id="check-cross"
check.cross_attention(cross_attention)

# %% [markdown] id="padding-exercise"
# ### A padding mask
#
# Difficulty 3 of 5 · about 6 minutes · 3 lines
#
# Sentences in a batch have different lengths; the short ones are filled up with padding that
# nobody should look at. Unlike the causal mask, this one differs from sentence to sentence.
#
# <details><summary>Hint 1</summary>
#
# As with every mask: close cells before softmax. Which of the four axes of `scores` counts the
# keys, and along which one does the mask differ?
#
# <details><summary>Hint 2</summary>
#
# Key `j` is padding if `j` is not below the length of its sentence. `torch.arange(S)` holds all
# `j`. The mask must come out as `(B, 1, 1, S)`: its own row for each sentence, the same for all
# heads and all queries.
#
# <details><summary>Hint 3: nearly the answer</summary>
#
# `scores.masked_fill(…, -math.inf).softmax(-1)`, with `torch.arange(S) >= …` in the gap.
# `lengths[:, None, None, None]` has shape `(B, 1, 1, 1)`.
#
# </details></details></details>

# %% grade_id="padded_softmax" solution=true
def padded_softmax(scores, lengths):
    """Weights with nothing on padding.

    scores: (B, H, T, S); lengths: (B,), how many keys are real, at least 1
    Returns (B, H, T, S)
    """
    ### BEGIN SOLUTION
    keys = torch.arange(scores.shape[-1], device=scores.device)
    padding = keys >= lengths[:, None, None, None]  # (B, 1, 1, S)
    return scores.masked_fill(padding, -math.inf).softmax(dim=-1)  # (B, H, T, S)
    ### END SOLUTION


# %% id="check-padding"
check.padded_softmax(padded_softmax)

# %% [markdown] id="grouped-exercise"
# ### Grouped-query attention
#
# Difficulty 3 of 5 · about 6 minutes · 4 lines
#
# While a model writes, the keys and values of all earlier tokens must be kept. To keep less,
# many models let several query heads share one head of keys and values: `H` heads of queries,
# `G` of keys and values. Heads 0 to `H/G - 1` share group 0, the next `H/G` share group 1, and
# so on.
#
# <details><summary>Hint 1</summary>
#
# Bring `k` and `v` to `H` heads. After that nothing is new.
#
# <details><summary>Hint 2</summary>
#
# With 2 groups and 6 heads the groups must be in the order 0 0 0 1 1 1, not 0 1 0 1 0 1.
# `repeat_interleave` does the first, `repeat` the second.
#
# <details><summary>Hint 3: nearly the answer</summary>
#
# `k.repeat_interleave(…, dim=1)`, with the number of heads in a group; the same for `v`.
#
# </details></details></details>

# %% grade_id="grouped_attention" solution=true
def grouped_attention(q, k, v):
    """Attention in which several heads of queries share one head of keys and values.

    q: (B, H, T, d_head); k, v: (B, G, T, d_head), where G divides H
    Returns (B, H, T, d_head)
    """
    ### BEGIN SOLUTION
    shared_by = q.shape[1] // k.shape[1]
    k = k.repeat_interleave(shared_by, dim=1)  # (B, H, T, d_head)
    v = v.repeat_interleave(shared_by, dim=1)
    return attend(masked_softmax(attention_scores(q, k)), v)  # (B, H, T, d_head)
    ### END SOLUTION


# %% id="check-grouped"
check.grouped_attention(grouped_attention)

# %% [markdown] id="cache-exercise"
# ### A KV cache
#
# Difficulty 3 of 5 · about 7 minutes · 4 lines
#
# A model that writes makes one token at a time. Keys and values of earlier tokens do not
# change when a token is added, so they are kept: the **cache**. For the newest token only its
# own query, key and value are made.
#
# No mask is needed. Why not?
#
# <details><summary>Hint 1</summary>
#
# The newest token may look at all others and at itself. There is no future to close.
#
# <details><summary>Hint 2</summary>
#
# `torch.cat` puts the new key behind the old ones. Tokens are the axis before the last.
#
# <details><summary>Hint 3: nearly the answer</summary>
#
# `keys = torch.cat([past_k, k], dim=-2)`, values likewise; then attention of `q` with all of
# them. Return the mixture, the keys and the values.
#
# </details></details></details>

# %% grade_id="attend_next" solution=true
def attend_next(q, k, v, past_k, past_v):
    """Attention of the newest token.

    q, k, v: (B, H, 1, d_head), the newest token's; past_k, past_v: (B, H, t, d_head)
    Returns what it collects (B, H, 1, d_head), then all keys and all values so far,
    each (B, H, t + 1, d_head)
    """
    ### BEGIN SOLUTION
    keys = torch.cat([past_k, k], dim=-2)  # (B, H, t + 1, d_head)
    values = torch.cat([past_v, v], dim=-2)
    weights = masked_softmax(attention_scores(q, keys))  # (B, H, 1, t + 1)
    return attend(weights, values), keys, values
    ### END SOLUTION


# %% id="check-cache"
check.attend_next(attend_next)

# %% [markdown] id="cache-look"
# Token by token, with the cache, our sentence gives what the causal layer gives in one go.

# %% id="look-at-cache" folded=true
queries, keys, values = sentence_heads()
at_once = attend(sentence_weights(causal_mask(6)), values)

past_k, past_v = keys[:, :, :0], values[:, :, :0]  # nothing yet
for at in range(6):
    new = slice(at, at + 1)
    collected, past_k, past_v = attend_next(
        queries[:, :, new], keys[:, :, new], values[:, :, new], past_k, past_v
    )
    difference = (collected - at_once[:, :, new]).abs().max().item()
    print(f"token {at}: cache {tuple(past_k.shape)}, difference {difference:.7f}")

# %% [markdown] id="where-next"
# ## Where to go next
#
# - [Attention Is All You Need](https://arxiv.org/abs/1706.03762), the paper that named the
#   layer. Section 3.2 is what you have built.
# - [A Mathematical Framework for Transformer Circuits](https://transformer-circuits.pub/2021/framework/index.html):
#   what heads do together, across layers.
# - [Are Sixteen Heads Really Better than One?](https://arxiv.org/abs/1905.10650): how many
#   heads can be taken away from a trained model.
# - [FlashAttention](https://arxiv.org/abs/2205.14135): the same numbers, without ever writing
#   down the attention matrix.
# - Positions: your layer cannot tell order. [RoFormer](https://arxiv.org/abs/2104.09864)
#   rotates queries and keys so that it can.
