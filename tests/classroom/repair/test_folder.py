import os

from classroom.repair.folder import LEFT_BY_SYSTEMS, name_notebooks, not_to_be_copied


def test_nbgrader_is_given_the_name_that_it_expects(course, released):
    path = course.hand_in("ada")
    path = path.rename(path.with_name("Copy of small.ipynb"))
    notebooks = [str(path)]
    name_notebooks(course.directory, "small", notebooks)
    assert notebooks == [str(path.with_name("small.ipynb"))]


def test_a_second_file_is_not_graded_by_itself(course, released):
    path = course.hand_in("ada")
    other = path.with_name("small (1).ipynb")
    other.write_bytes(path.read_bytes())
    notebooks = [str(other), str(path)]
    name_notebooks(course.directory, "small", notebooks)
    assert notebooks == [str(path)]


def test_a_notebook_without_work_is_asked_for_so_that_the_reason_is_told(course, released):
    path = course.hand_in("ada")
    path.write_text("")
    notebooks = [str(path)]
    name_notebooks(course.directory, "small", notebooks)
    assert notebooks == [str(path)]


def test_of_several_notebooks_those_that_were_handed_in(course, released):
    more = course.source("other").read_text().replace("double", "treble")
    (course.source().with_name("more.ipynb")).write_text(more)
    path = course.hand_in("ada")
    notebooks = [str(path)]
    name_notebooks(course.directory, "small", notebooks)
    assert notebooks == [str(path)]


def test_links_to_other_places(tmp_path):
    home = tmp_path / "ada"
    (home / "data").mkdir(parents=True)
    (home / "data" / "own.csv").write_text("")
    (tmp_path / "secret").write_text("")
    os.symlink("data/own.csv", home / "own")
    os.symlink("../secret", home / "secret")
    os.symlink("/nowhere", home / "data" / "nowhere [1]")
    os.symlink("itself", home / "itself")
    assert not_to_be_copied(home) == [*LEFT_BY_SYSTEMS, "itself", "nowhere [[]1]", "secret"]
