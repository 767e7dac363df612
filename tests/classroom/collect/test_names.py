from itertools import permutations
from pathlib import PurePosixPath

import pytest

from classroom.collect.names import Upload, is_junk, read_name, read_upload, right_name


@pytest.fixture
def read(tmp_path):
    def read(name: str) -> Upload | None:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        return read_upload(path, tmp_path)

    return read


@pytest.mark.parametrize(
    ("path", "name", "lms", "late", "upload", "inside"),
    [
        ("z/doejane_11_901_m.ipynb", "doejane", "11", False, 901, "m.ipynb"),
        ("z/doejane_LATE_11_901_m-1.ipynb", "doejane", "11", True, 901, "m-1.ipynb"),
        ("z/doe--jane--late_11_901_m.ipynb", "doe--jane-", "11", True, 901, "m.ipynb"),
        ("z/王小明_12_902_m_2_x.ipynb", "王小明", "12", False, 902, "m_2_x.ipynb"),
        ("z/doejane_11_903_hw/src/m.ipynb", "doejane", "11", False, 903, "src/m.ipynb"),
        ("doejane_11_901_m.ipynb", "doejane", "11", False, 901, "m.ipynb"),
        ("z/Jo Doe_7_assignsubmission_file_/m.ipynb", "Jo Doe", "7", False, 0, "m.ipynb"),
        ("z/Jo Doe_7_assignsubmission_file/a/m.ipynb", "Jo Doe", "7", False, 0, "a/m.ipynb"),
        ("z/Jo Doe_7_assignsubmission_file_m.ipynb", "Jo Doe", "7", False, 0, "m.ipynb"),
        ("Jo_Doe_7_assignsubmission_file_/m.ipynb", "Jo_Doe", "7", False, 0, "m.ipynb"),
        ("z/Ö 'x_7_assignsubmission_onlinetext_/t.html", "Ö 'x", "7", False, 0, "t.html"),
    ],
)
def test_paths_tell_whose_a_file_is(read, path, name, lms, late, upload, inside):
    found = read(path)
    assert (found.name, found.lms, found.late, found.upload) == (name, lms, late, upload)
    assert found.inside == PurePosixPath(inside)


@pytest.mark.parametrize(
    ("path", "lms", "late", "upload", "inside"),
    [
        ("z/anon_aB3xZ_901_1_2_m.ipynb", "anon_aB3xZ", False, 901, "1_2_m.ipynb"),
        ("z/LATE_anon_12345_902_m.ipynb", "anon_12345", True, 902, "m.ipynb"),
        ("z/anon_aB3xZ_903_hw/m.ipynb", "anon_aB3xZ", False, 903, "m.ipynb"),
    ],
)
def test_what_canvas_hides_has_a_code(read, path, lms, late, upload, inside):
    found = read(path)
    assert (found.name, found.lms, found.late, found.upload) == ("", lms, late, upload)
    assert found.inside == PurePosixPath(inside)
    assert found.is_hidden


@pytest.mark.parametrize(
    ("path", "prefix", "lms"),
    [
        ("z/doejane_LATE_11_901_m-1.ipynb", "doejane_LATE_11_901_", "11"),
        ("z/王小明_12_902_hw/src/m.ipynb", "王小明_12_902_", "12"),
        ("z/LATE_anon_aB3xZ_903_m.ipynb", "LATE_anon_aB3xZ_903_", "anon_aB3xZ"),
        ("z/Jo Doe_7_assignsubmission_file_/a/m.ipynb", "Jo Doe_7_assignsubmission_file_/", "7"),
        ("z/Jo_Doe_7_assignsubmission_file/m.ipynb", "Jo Doe_7_assignsubmission_file/", "7"),
        ("z/Jo Doe_7_assignsubmission_file_m.ipynb", "Jo Doe_7_assignsubmission_file_", "7"),
    ],
)
def test_the_lms_knows_by_the_beginning_of_a_name_whose_it_is(read, path, prefix, lms):
    assert read(path).prefix == prefix
    assert read_name(f"{prefix}m.html") == lms


@pytest.mark.parametrize("path", ["m.ipynb", "z/m.ipynb", "z/jane/m.ipynb", "z/jane_11_m.ipynb"])
def test_other_paths_tell_nothing(read, path):
    assert read(path) is None


@pytest.mark.parametrize(
    "path",
    [
        "z/doejane_11_901_hw/rival_12_999_m.ipynb",
        "z/doejane_11_901_hw/Rival_12_assignsubmission_file_/m.ipynb",
        "z/Jane Doe_11_assignsubmission_file_/rival_12_999_m.ipynb",
        "z/Jane Doe_11_assignsubmission_file_/Rival_12_assignsubmission_file_/m.ipynb",
        "Jane Doe_11_assignsubmission_file_/rival_12_999_m.ipynb",
    ],
)
def test_what_a_student_packs_cannot_speak_for_another(read, path):
    assert read(path).lms == "11"


def test_name_of_the_archive_is_nobodys(read):
    assert read("mha_2026_11_29/doejane_11_901_m.ipynb").lms == "11"
    assert read("mha_2026_11_29/Jane Doe_11_assignsubmission_file_/m.ipynb").lms == "11"
    assert read("doejane_11_901_hw/m.ipynb").lms == "11"


@pytest.mark.parametrize(
    ("inside", "junk"),
    [
        ("m.ipynb", False), ("src/helper.py", False), ("__MACOSX/._m.ipynb", True),
        ("._m.ipynb", True), (".ipynb_checkpoints/m-checkpoint.ipynb", True), (".DS_Store", True),
        ("attention_lab/check/run.py", True), ("timestamp.txt", True), ("timestamp.txt/x", True),
    ],
)  # fmt: skip
def test_junk(tmp_path, inside, junk):
    assert is_junk(Upload(tmp_path, "1", PurePosixPath(inside))) is junk


@pytest.mark.parametrize(
    "name",
    ["m_h.ipynb", "M_H.ipynb", "m_h-1.ipynb", "m_h-12.ipynb", "m_h (1).ipynb", "m_h(2).ipynb",
     "m_h-Copy1.ipynb", "Copy of m_h.ipynb", "Kopie von m_h.ipynb", "m_h_2.ipynb"],
)  # fmt: skip
def test_copies_mean_the_original(name):
    assert right_name(name, ["other.ipynb", "m_h.ipynb"]) == "m_h.ipynb"


@pytest.mark.parametrize(
    "name", ["m.ipynb", "my m_h.ipynb", "m_h_final.ipynb", "m_h.py", "-1.ipynb"]
)
def test_other_names_mean_nothing_for_sure(name):
    assert right_name(name, ["m_h.ipynb"]) is None


def test_number_that_belongs_to_a_name_is_no_copy():
    assert right_name("lab-2.ipynb", ["lab-1.ipynb", "lab-2.ipynb"]) == "lab-2.ipynb"
    assert right_name("lab-2.ipynb", ["lab-1.ipynb"]) is None
    assert right_name("lab-2-1.ipynb", ["lab-1.ipynb", "lab-2.ipynb"]) == "lab-2.ipynb"


def test_age_is_the_number_of_the_upload_then_the_time_then_the_copy(tmp_path):
    def upload(number, mtime, inside):
        return Upload(tmp_path, "1", PurePosixPath(inside), upload=number, mtime=mtime)

    in_order = [
        upload(1, 9.0, "m-2.ipynb"), upload(2, 5.0, "m.ipynb"), upload(2, 6.0, "m.ipynb"),
        upload(2, 6.0, "m-2.ipynb"), upload(2, 6.0, "m-10.ipynb"),
    ]  # fmt: skip
    assert all(sorted(p, key=lambda u: u.age) == in_order for p in permutations(in_order))
