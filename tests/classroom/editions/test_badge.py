import pytest

from classroom.editions.badge import badge, fill, has_place, link
from classroom.editions.lesson import LessonError

PAGE = """# Course

<!-- colab: `make build` writes this, from pyproject.toml's [tool.classroom] -->
Whatever stood here.
<!-- end of colab -->

More.
"""
ON_GITHUB = "https://colab.research.google.com/github/someone/course/blob"


def test_the_ref_may_have_slashes():
    assert link("tiny", "someone/course/topic/x") == f"{ON_GITHUB}/topic/x/notebooks/tiny.ipynb"


@pytest.mark.parametrize("github", ["someone/course", "https://github.com/a/b", "a b/c/d"])
def test_a_place_that_is_none_is_refused(github):
    with pytest.raises(LessonError, match="is not OWNER/REPO/REF"):
        link("tiny", github)


def test_a_badge_is_a_picture_with_words_and_a_link():
    assert badge("tiny", "someone/course/v1") == (
        "[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]"
        f"({ON_GITHUB}/v1/notebooks/tiny.ipynb)"
    )


def test_a_page_gets_a_badge_for_each_notebook():
    filled = fill(PAGE, "README.md", ["one", "two"], "someone/course/v1")
    assert "Whatever" not in filled
    assert filled.count("[![Open in Colab]") == 2
    assert f"{ON_GITHUB}/v1/notebooks/two.ipynb" in filled
    assert filled.endswith("<!-- end of colab -->\n\nMore.\n")


@pytest.mark.parametrize(
    ("page", "path"),
    [("README.md", "notebooks/one.ipynb"), ("docs/self.md", "../notebooks/one.ipynb")],
)
def test_without_a_place_on_github_it_says_how_to_upload_and_links_to_the_file(page, path):
    filled = fill(PAGE, page, ["one"], "")
    assert f"Download [{path}]({path}) and open it there" in filled
    assert "https://" not in filled


def test_filling_again_changes_nothing():
    filled = fill(PAGE, "README.md", ["one"], "")
    assert fill(filled, "README.md", ["one"], "") == filled
    assert has_place(filled)


def test_a_page_without_marks_has_no_place():
    assert not has_place("# Course\n")
