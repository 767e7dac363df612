"""Pictures on their way from one process to another: what `attention_lab.heatmap.drawn` keeps."""


def to_message(pictures: dict[str, bytes]) -> tuple[dict, bytes]:
    sizes = {key: len(picture) for key, picture in pictures.items()}
    return {"pictures": sizes}, b"".join(pictures.values())


def from_message(message: dict, payload: bytes) -> dict[str, bytes]:
    pictures, start = {}, 0
    for key, size in message["pictures"].items():
        pictures[key] = payload[start : start + size]
        start += size
    return pictures
