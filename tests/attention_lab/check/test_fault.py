import pytest

from attention_lab import check
from attention_lab.check import run
from attention_lab.stranger import FAULTS, fault_of


@pytest.fixture
def heard(monkeypatch):
    verdicts = []
    monkeypatch.setattr(run, "_listeners", [lambda *verdict: verdicts.append(verdict)])
    return verdicts


def test_the_right_name(capsys, heard):
    check.fault(fault_of(7), 7)
    assert capsys.readouterr().out == f"✓ fault: {fault_of(7)!r} it is.\n"
    assert heard == [("fault", None, True, None)]


@pytest.mark.parametrize(
    ("named", "number", "says"),
    [
        (next(name for name in FAULTS if name != fault_of(7)), 7, "the layer of number 7"),
        ("the softmax", 7, "not one of the names"),
        (None, 7, "not written yet"),
        (fault_of(7), "7", "whole number"),
    ],
)
def test_what_is_wrong_is_said_and_the_right_name_is_not(named, number, says, heard):
    with pytest.raises(check.Mistake, match=says) as mistake:
        check.fault(named, number)
    assert heard[0][-1] is mistake.value
    assert f"{fault_of(7)!r}" not in str(mistake.value) or named == fault_of(7)
