import json

from classroom.grading.sandbox import pictures


def test_pictures_travel():
    sent = {"a": b"\x89PNG", "b": b"", "c": b"\x00"}
    message, payload = pictures.to_message(sent)
    assert pictures.from_message(json.loads(json.dumps(message)), payload) == sent
