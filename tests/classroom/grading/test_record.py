import nbformat
import pytest
from nbformat.v4 import new_notebook

from classroom.grading.record import Record, is_unfinished


def write(folder, record):
    nb = new_notebook()
    if record is not None:
        record.write(nb)
    nbformat.write(nb, folder / "small.ipynb")


def test_record_is_kept_in_the_notebook():
    nb = new_notebook()
    record = Record(True, "none", 3, ["mentions gc"], {"test_attend_value": "softmax-twice"})
    record.write(nb)
    assert Record.read(nb) == record
    assert Record.read(new_notebook()) is None


@pytest.mark.parametrize(
    ("record", "unfinished"),
    [(Record(finished=False), True), (Record(finished=True), False), (None, False)],
)
def test_folder_is_unfinished_while_its_notebook_is(tmp_path, record, unfinished):
    write(tmp_path, record)
    assert is_unfinished(tmp_path) is unfinished


def test_folder_without_a_notebook_is_unfinished(tmp_path):
    (tmp_path / "data.txt").touch()
    assert is_unfinished(tmp_path)


def test_notebook_cut_off_while_it_was_written_is_unfinished(tmp_path):
    write(tmp_path, Record(finished=True))
    path = tmp_path / "small.ipynb"
    path.write_bytes(path.read_bytes()[:-20])
    assert is_unfinished(tmp_path)
