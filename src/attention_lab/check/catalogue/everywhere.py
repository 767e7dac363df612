"""Mistakes that can be made in any step, recognised by how an answer behaves."""

from attention_lab.check.catalogue.entry import Known

known = Known("any step")

for _slug, _text in {
    "mutates-input": """An argument was changed in place. The caller still needs it: in a whole
        attention the same tensor is used again.

        Look: methods that end in `_`, `+=`, `/=`, and assignments into slices; make a new tensor.
        """,
    "mutates-parameters": """The weights of a layer are written to. Using a layer must leave it
        as it is; only the optimiser changes weights.

        Look: anything that writes to `.weight`, `.bias` or `.data`.
        """,
    "gradient-lost": """The numbers are right, but not all gradients get through, or not the
        right ones, so something before this step could not learn.

        Look: `detach`, `.data`, `no_grad`, numpy, `.item()`, a new `torch.tensor` of old numbers.
        Seen in: lucidrains/CoCa-pytorch#6, jadore801120/attention-is-all-you-need-pytorch#16
        """,
    "backward-broken-inplace": """The numbers are right and the backward pass fails: a result that
        it needs was overwritten in place afterwards.

        Look: methods that end in `_`, `/=` and `+=` on what came out of exp or softmax.
        Seen in: idiap/fast-transformers#10, AggMan96/RK-Net#9
        """,
    "python-loop-over-heads": """The heads are processed one at a time in Python: more heads make
        more calls. The point of the axis H beside B is that one call serves all heads.

        Look: the loop, comprehension or `map`; one matrix product serves all leading axes.
        Seen in: JohnMachado11/Build-a-Large-Language-Model-from-Scratch#18
        """,
    "forbidden-library-call": """PyTorch's own attention was called. It is right, of course, and
        it is the reference here: this lesson is about building it.

        Look: matrix products, softmax and reshaping are all you need.
        """,
    "dropout-always-on": """Two equal calls gave different results, because something random is
        done, most often dropout, which is not asked for here.

        Look: `dropout`, `rand`, or a layer that is made inside the function.
        Seen in: facebookresearch/vjepa2#160, meta-pytorch/torchtune#1803
        """,
    "dtype-changed": """The number type changed on the way: what goes in as float32 or float64 has
        to come out as that, and with all its digits.

        Look: is there a `.float()`, `.half()` or a dtype written out?
        Seen in: tinygrad/tinygrad#5100, pytorch/pytorch#21658
        """,
    "dtype-hard-coded": """It works for float32 only: with float64 numbers two types meet.

        Look: `.float()`, or a tensor made without the dtype of what comes in.
        """,
    "contiguous-only": """It works only while the numbers lie in memory in the order of the axes.
        What comes from a transpose or is a slice of something larger does not.

        Look: `view` and strides. What copies the numbers when it must?
        """,
    "float-size": """A size is a float: `/` always makes one, `//` does not.

        Look: where d_head is computed.
        """,
    "hard-coded-size": """It works at some sizes only: a number is written where a size of the input
        belongs.

        Look: read B, T and the rest from the shape of what comes in.
        Seen in: karpathy/nanoGPT#473, facebookresearch/xformers#66
        """,
    "mask-finite-value": """Closed cells hold a finite number that is too small: where real scores
        come near it, the closed tokens leak through.

        Look: `-inf`, or the smallest number of the dtype.
        Seen in: huggingface/transformers#17306, facebookresearch/fairseq#3575, NVIDIA/apex#93
        """,
    "squeeze-drops-dims": """It goes wrong where a size is 1, as with `squeeze()`, which drops every
        axis of size 1, also the batch of one, the single head or the single token.

        Look: name the axis, or reshape to sizes that you know.
        """,
    "stale-cache": """Something made in one call is used in a later one, where it does not fit.

        Look: what is kept outside the function? Make it anew in each call.
        """,
    "uses-notebook-globals": """It uses a variable of the notebook that is not an argument, so it
        works for the example of that cell only.

        Look: read every size from the shape of what comes in.
        """,
    "batch-mixed": """It is right for a batch of one only: the sentences of a batch are mixed with
        one another; each must be handled on its own.

        Look: what moves, cuts or sums the first axis, B? Nothing should.
        """,
    "batch-one-only": """It works for a batch of one and no other.

        Look: the first size of what comes in is B; keep it as the first size of the result.
        """,
    "missing-contiguous": """`view` moves no number, but what it should put side by side lies apart
        in memory.

        Look: ask for a copy in order before `view`, and keep it; or use what copies when it must.
        Seen in: facebookresearch/fairseq#2598, NVIDIA/Megatron-LM#251
        """,
}.items():
    known.behaviour(_slug, _text)
