"""`MendedAttention`: a stranger's layer, which must become what the learner's own is."""

from attention_lab.check.steps.multi_head_attention import MultiHeadAttention


class MendedAttention(MultiHeadAttention):
    name = "MendedAttention"


STEP = MendedAttention()
