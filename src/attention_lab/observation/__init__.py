"""Trying out an answer: what is sent to it, what was seen, and how both travel.

Nothing here knows what is right, so that it may run beside a learner's code.
"""

from attention_lab.observation.codec import Malformed, decode, encode
from attention_lab.observation.definition import Definition, definition_in, definition_of
from attention_lab.observation.observe import RemoteAnswer, observe_encoded, read_ahead
from attention_lab.observation.probe import (
    Call,
    Failure,
    Layer,
    Module,
    Observation,
    Outcome,
    Probe,
    Request,
    Tag,
    Unknown,
)
from attention_lab.observation.surroundings import Surroundings, can_be_tried, observe_edited

__all__ = [
    "Call",
    "Definition",
    "Failure",
    "Layer",
    "Malformed",
    "Module",
    "Observation",
    "Outcome",
    "Probe",
    "RemoteAnswer",
    "Request",
    "Surroundings",
    "Tag",
    "Unknown",
    "can_be_tried",
    "decode",
    "definition_in",
    "definition_of",
    "encode",
    "observe_edited",
    "observe_encoded",
    "read_ahead",
]
