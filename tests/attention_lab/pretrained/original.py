"""The original: transformers' own implementation, and what is stored of it.

Run as a script, this writes the stored sentences anew.
"""

import contextlib
import io
import json

import torch
from transformers import AutoModel
from transformers.utils import logging

from attention_lab.pretrained import reading
from attention_lab.pretrained.files import find_files

OURS = "the cat likes the other cat"
KEYS = "The keys to the old cabinet are on the table."


class Original:
    """all-MiniLM-L6-v2 as transformers runs it."""

    def __init__(self):
        logging.disable_progress_bar()
        with contextlib.redirect_stderr(io.StringIO()):
            folder = find_files().weights.parent
            self._model = AutoModel.from_pretrained(
                folder, attn_implementation="eager", local_files_only=True
            ).eval()

    @torch.no_grad()
    def read(self, ids):
        """The last hidden states (B, T, d_model) and the weights (B, LAYERS, H, T, T)."""
        output = self._model(ids, output_attentions=True)
        return output.last_hidden_state, torch.stack(output.attentions, 1)


def stored(original, minilm) -> str:
    """The text of stored.json."""
    sentences = {}
    for sentence in (OURS, KEYS):
        states, weights = original.read(minilm.ids(sentence))
        packed = reading.pack(weights[0])
        sentences[sentence] = {"tokens": minilm.tokens(sentence), "weights": packed}
    states, _ = original.read(minilm.ids(OURS))
    millionths = (states[0, :, reading.KEPT] * 1e6).round().int().tolist()
    everything = {"sentences": sentences, "states": {"sentence": OURS, "millionths": millionths}}
    return json.dumps(everything, separators=(",", ":")) + "\n"


if __name__ == "__main__":
    from attention_lab.check.steps.multi_head_attention import TorchAttention
    from attention_lab.pretrained import load

    reading.STORED.write_text(stored(Original(), load(TorchAttention)), encoding="utf-8")
