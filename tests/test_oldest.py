"""The constraints of `make oldest` are the lower bounds of pyproject.toml."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_lower_bound_is_a_constraint_and_torch_is_the_known_good_one():
    script = [sys.executable, ROOT / "tests" / "oldest.py"]
    printed = subprocess.run(script, capture_output=True, text=True, check=True).stdout
    oldest = dict(line.split("==") for line in printed.splitlines())
    asked = re.findall(r'"([\w-]+)[^">]*>=([\w.]+)', (ROOT / "pyproject.toml").read_text())
    torch = f"torch=={oldest.pop('torch')}\n"
    assert torch in (ROOT / "constraints.txt").read_text()
    assert oldest == {name: bound for name, bound in asked if name != "torch"}
