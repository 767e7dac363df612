"""Print the lower bounds of pyproject.toml as constraints for pip, but torch's known-good version.

The oldest releases of torch that the bounds allow have no build without CUDA on PyPI.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
BOUND = re.compile(r"([\w-]+)(?:\[\w+\])?>=([\w.]+)")


def bounds() -> dict[str, str]:
    """The lowest version of every package that learners, TAs and tests need."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    requirements = [*project["dependencies"], *(each for extra in extras for each in extra)]
    return dict(found.groups() for each in requirements if (found := BOUND.match(each)))


if __name__ == "__main__":
    known_good = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    torch = re.search(r"^torch==(.*)$", known_good, re.MULTILINE)[1]
    print(
        *(f"{name}=={version}" for name, version in (bounds() | {"torch": torch}).items()), sep="\n"
    )
