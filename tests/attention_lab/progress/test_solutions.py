from attention_lab.progress.solutions import FILE, Solution, read_solutions


def test_the_package_itself_brings_none():
    assert not FILE.exists()
    assert read_solutions() == {}


def test_a_file_gives_each_solution_by_its_name(tmp_path):
    path = tmp_path / "solutions.json"
    path.write_text('{"attend": "weights @ v  # ×"}', encoding="utf-8")
    assert read_solutions(path) == {"attend": Solution("attend", "weights @ v  # ×")}


def test_a_solution_is_shown_open_and_as_it_is_written():
    html = Solution("attend", "a < b\n    & c")._repr_html_()
    assert html.startswith("<details open><summary>One way to write attend</summary>")
    assert "<pre>a &lt; b\n    &amp; c</pre>" in html


def test_a_solution_is_plain_text_as_well():
    assert repr(Solution("attend", "weights @ v")) == "One way to write attend:\n\nweights @ v"
