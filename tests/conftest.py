"""What every test shares: the lines that sum up the suites (tests/suites/summary.py)."""

pytest_plugins = ["summary"]
