import csv

import pytest

from classroom.export.table import harmless, number, write_table


def test_what_is_written_is_read(tmp_path):
    rows = [["Doe, Jane", 'the "quoted"'], ["two\nlines", "王小明"], ["", " "]]
    write_table(tmp_path / "t.csv", rows)
    with (tmp_path / "t.csv").open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == rows


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1"])
def test_formulas_are_texts(text):
    assert harmless(text) == "'" + text


@pytest.mark.parametrize("text", ["", "Ada", "a=1", "O'Neill", "王"])
def test_texts_stay_as_they_are(text):
    assert harmless(text) == text


def test_numbers_are_exact():
    assert [number(x) for x in (None, 0, 24.0, 1 / 3, 12345.25)] == [
        "", "0", "24", "0.3333333333", "12345.25"
    ]  # fmt: skip
