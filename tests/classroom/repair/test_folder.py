from classroom.repair.folder import keep_worked_on


def kept(course, path):
    notebooks = [str(path), str(path.with_name("more.ipynb"))]
    keep_worked_on(course.directory, "small", notebooks)
    return [notebook.rpartition("/")[2] for notebook in notebooks]


def test_of_several_notebooks_those_that_were_handed_in(course, released):
    more = course.source("other").read_text().replace("double", "treble")
    course.source().with_name("more.ipynb").write_text(more)
    path = course.hand_in("ada")
    assert kept(course, path) == ["small.ipynb"]
    path.with_name("extra.ipynb").write_text(more)
    assert kept(course, path) == ["small.ipynb", "more.ipynb"]


def test_notebooks_without_work_are_asked_for_so_that_the_reason_is_told(course, released):
    course.source().with_name("more.ipynb").write_bytes(course.source("other").read_bytes())
    path = course.hand_in("ada")
    path.write_text("")
    assert kept(course, path) == ["small.ipynb", "more.ipynb"]
