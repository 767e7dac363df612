from pathlib import Path, PurePosixPath

from classroom.collect.choice import choose
from classroom.collect.names import Upload

WANTED = ["m.ipynb"]


def upload(inside, number=0, mtime=0.0):
    path = Path("/extracted", str(number), inside)
    return Upload(path, "1", PurePosixPath(inside), upload=number, mtime=mtime)


def chosen(*uploads):
    """What is delivered, as the path in the upload and its number by place; and the remarks."""
    choice = choose(uploads, WANTED)
    delivered = {str(place): (str(u.inside), u.upload) for place, u in choice.delivered.items()}
    return delivered, choice.remarks


def test_notebook_goes_to_the_top_under_its_right_name():
    assert chosen(upload("a/b/c/M-1.ipynb", 7)) == ({"m.ipynb": ("a/b/c/M-1.ipynb", 7)}, ())


def test_newest_of_two_counts_and_the_other_is_said():
    delivered, (remark,) = chosen(upload("m-1.ipynb", 8), upload("m.ipynb", 7))
    assert delivered == {"m.ipynb": ("m-1.ipynb", 8)}
    assert remark == (
        "handed in 2 times; the newest counts, /extracted/8/m-1.ipynb; kept: /extracted/7/m.ipynb"
    )


def test_order_in_which_uploads_are_seen_does_not_matter():
    uploads = [upload("m.ipynb", 7), upload("m-1.ipynb", 8), upload("old/m.ipynb", 6, mtime=99)]
    assert chosen(*uploads) == chosen(*reversed(uploads))


def test_other_notebooks_keep_their_names():
    delivered, remarks = chosen(upload("m.ipynb", 8), upload("x/scratch.ipynb", 7))
    assert set(delivered) == {"m.ipynb", "scratch.ipynb"}
    assert remarks == ()


def test_later_notebook_of_another_name_is_said():
    _, remarks = chosen(upload("m.ipynb", 8), upload("final.ipynb", 9))
    assert remarks == ("final.ipynb was handed in after m.ipynb: look which one is meant",)


def test_what_lay_beside_the_notebook_stays_beside_it():
    delivered, _ = chosen(upload("hw/m.ipynb"), upload("hw/util/f.py"), upload("hw/d.csv"),
                          upload("other/e.csv"))  # fmt: skip
    assert set(delivered) == {"m.ipynb", "util/f.py", "d.csv", "other/e.csv"}


def test_without_a_notebook_the_rest_is_delivered_and_it_is_said():
    delivered, remarks = chosen(upload("answers.pdf"))
    assert set(delivered) == {"answers.pdf"}
    assert remarks == ("no notebook was handed in",)


def test_junk_is_not_delivered():
    delivered, remarks = chosen(upload("timestamp.txt"), upload("__MACOSX/m.ipynb"))
    assert delivered == {}
    assert remarks == ("no notebook was handed in",)


def test_files_that_would_be_in_other_files_are_not_delivered():
    delivered, _ = chosen(upload("a", 1), upload("a/b", 2), upload("m.ipynb/x", 1))
    assert set(delivered) == {"a"}
