import pytest

from attention_lab.handin import code


@pytest.mark.parametrize(
    "source",
    [
        "def f(): pass",
        "async def f(): pass",
        "class f: pass",
        "f = lambda x: x",
        "f: object = 3",
        "a, (f, b) = 1, (2, 3)",
        "from elsewhere import f",
        "from elsewhere import g as f",
        "import f.g",
        "if True:\n    def f(): pass",
        "try:\n    import f\nexcept ImportError:\n    f = None",
        "%%time\ndef f(): pass",
        "!pip install x\n%matplotlib inline\ndef f(): pass",
        "f?\n??g\nf = 1",
        "    def f():\n        pass",
    ],
)
def test_what_defines_a_name(source):
    assert code.defines(source, "f")
    assert not code.defines(source, "h")


@pytest.mark.parametrize(
    "source",
    [
        "f(3)",
        "def g():\n    f = 1",
        "# def f(): pass",
        "'''\ndef f(): pass\n'''",
        "def f(:",
        "%%bash\nf = 1",
        "%%writefile f.py\nf = 1",
        "Let f be a function.",
        "\0f = 1",
        "f = " + "(" * 300,
        "%%",
    ],
)
def test_what_does_not_define_it(source):
    assert not code.defines(source, "f")


@pytest.mark.parametrize(
    "stub",
    [
        "def f(x):\n    raise NotWrittenYet",
        "def f(x):\n    '''Do it.'''\n    # YOUR CODE HERE\n    raise NotImplementedError()",
        "class f:\n    def reset(self): pass\n    def go(self, x):\n        raise NotWrittenYet",
        "def f(x): return x\n\ndef f(x):\n    raise NotWrittenYet",
    ],
)
def test_a_stub_is_no_answer(stub):
    assert code.defines(stub, "f")
    assert not code.answers(stub, "f")


@pytest.mark.parametrize(
    "answer",
    [
        "def f(x):\n    return x",
        "def f(x):\n    raise ValueError",
        "def f(x):\n    return x\n    raise NotWrittenYet",
        "f = torch.relu",
        "class f:\n    def reset(self): pass\n    def forward(self, x): return x",
        "def f(x):\n    raise NotWrittenYet\n\ndef f(x): return x",
    ],
)
def test_an_answer(answer):
    assert code.answers(answer, "f")


def test_texts_are_the_same_whatever_ends_their_lines():
    assert code.same("a\nb", "\na  \r\nb\n\n")
    assert not code.same("a\nb", "a\n b")


def test_a_blank_cell_holds_comments_at_most():
    assert code.is_blank("\n# nothing\n")
    assert not code.is_blank("pass")
    assert not code.is_blank("no Python")


def test_an_indented_beginning():
    assert code.begins_indented("\n\n    return x")
    assert not code.begins_indented("x\n    y")
    assert not code.begins_indented("")


def test_a_line_that_would_begin_the_definition():
    assert code.seems_to_define("import x\ndef f(x:\n", "f")
    assert not code.seems_to_define("    def f(x): pass\ndef ff(x): pass", "f")


def test_other_peoples_escapes_warn_nobody():
    assert code.defines(r"f = '\d'", "f")


@pytest.mark.parametrize(
    "source",
    [
        "import p",
        "import a, p.q as b",
        "from p import *",
        "from p.q import r; x = 1",
        "try:\n    from p import q\nexcept ImportError:\n    q = None",
        "def f():\n    import p",
        "%%time\nimport p",
        "!pip install p\nimport p",
        "  from p import q\nx =",
    ],
)
def test_what_imports_a_package(source):
    assert code.imports(source, "p")
    assert not code.imports(source, "pp")


@pytest.mark.parametrize(
    "source",
    [
        "# import p",
        "'import p'",
        "text = '''\nimport p\n'''",
        "from a import p",
        "from . import p",
        "from .p import q",
        "import pq, a.p",
        "%%bash\nimport p",
        "p.x",
        "",
    ],
)
def test_what_imports_no_package(source):
    assert not code.imports(source, "p")


def test_a_name_without_end_is_not_read():
    assert code.parse("import a" + ".b" * 6000) is None
    assert code.parse("x = '" + "a. " * 6000 + "'") is None
    assert code.parse("x = 1.0\n" * 6000) is not None


def test_blocks_may_be_as_deep_as_python_takes_them():
    assert code.defined("if 0: pass\n" + "elif 0: y = 1\n" * 2000 + "else: x = 1") == {"x", "y"}


def test_magics_without_end_are_no_python():
    assert code.parse("x\n" + "%x\n" * 501) is None
