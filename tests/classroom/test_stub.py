import pytest

from attention_lab import NotWrittenYet
from classroom.stub import CODE_STUB


def test_stub_says_that_nothing_is_written_yet():
    with pytest.raises(NotWrittenYet):
        exec(CODE_STUB["python"], {"NotWrittenYet": NotWrittenYet})
