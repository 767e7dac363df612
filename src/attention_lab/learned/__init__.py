"""Why heads exist, shown by training: one, two and four heads on a task of three jobs.

experiment = Experiment(MultiHeadAttention)
experiment.run(seed=1)
experiment.heads(4)
seeds()                  # what came out with ten seeds, measured beforehand
"""

from attention_lab.learned.experiment import Experiment
from attention_lab.learned.measured import seeds
from attention_lab.learned.train import Run, train

__all__ = ["Experiment", "Run", "seeds", "train"]
