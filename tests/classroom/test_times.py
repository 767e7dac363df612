import time
from datetime import UTC, datetime

import pytest

from classroom.times import in_words, read_time


@pytest.fixture(autouse=True)
def in_berlin(monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-29 21:50", "2026-11-29T21:50:00", "2026-11-29 20:50 UTC", "2026-11-29T20:50:00Z",
        "2026-11-29T21:50+01:00", "2026-11-29 21:50:00 +0100", "2026-11-29T15:50:00-05:00",
        "Sunday, 29 November 2026, 9:50 PM", "Sunday, 29 November 2026, 9:50\u202fPM",
        "November 29, 2026 9:50 pm", "29 Nov 2026, 21:50", "Sonntag, 29. November 2026, 21:50",
        "dimanche 29 novembre 2026, 21:50", "Dimanche 29 novembre 2026 à 21h50",
        "domingo, 29 de noviembre de 2026, 21:50", "domingo, 29 de noviembre de 2026, 9:50 p. m.",
        "domenica, 29 novembre 2026, 21:50", "zondag, 29 november 2026, 21:50",
        "domingo, 29 de novembro de 2026 às 21:50", "domingo, 29 nov. 2026, 21:50",
    ],
)  # fmt: skip
def test_a_time_in_many_forms(text):
    assert read_time(text) == datetime(2026, 11, 29, 20, 50, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "month"),
    [
        ("3 März 2026, 8:00", 3), ("3 de marzo de 2026, 8:00", 3), ("3 août 2026, 8:00", 8),
        ("3 Dezember 2026, 8:00", 12), ("3 maart 2026, 8:00", 3), ("3 giugno 2026, 8:00", 6),
        ("3 fevereiro 2026, 8:00", 2), ("3 May 2026, 8:00", 5), ("3 Mai 2026, 8:00", 5),
    ],
)  # fmt: skip
def test_months_in_many_languages(text, month):
    assert read_time(text).astimezone().timetuple()[:4] == (2026, month, 3, 8)


@pytest.mark.parametrize(("text", "hour"), [("12:05 AM", 0), ("12:05 PM", 12), ("1:05 PM", 13)])
def test_halves_of_the_day(text, hour):
    assert read_time(f"29 November 2026, {text}").astimezone().hour == hour


@pytest.mark.parametrize(
    "text",
    [
        "03.12.2026 10:00", "29.11.2026 10:00", "3/12/2026 10:00", "12/3/26 10:00 AM", "", "-",
        "yesterday", "46355.41", "29 November 2026", "29 November 2026, 9:50 PM CET",
        "29 November 2026, 13:50 PM", "29 November 26, 9:50 PM", "31 November 2026, 9:50",
        "2026-13-01 10:00", "2026-12-01", "mar 1 déc. 2026, 9:00", "2026-11-29 21:50 CET",
    ],
)  # fmt: skip
def test_what_may_be_another_time_is_refused(text):
    with pytest.raises(ValueError):
        read_time(text)


@pytest.mark.parametrize("text", ["2026-10-25 02:30", "2026-03-29 02:30"])
def test_an_hour_that_comes_twice_or_never_is_refused(text):
    with pytest.raises(ValueError, match="twice or never"):
        read_time(text)
    assert read_time(f"{text}+01:00")


def test_a_time_is_shown_with_its_zone():
    assert in_words(datetime(2026, 11, 29, 20, 50)) == "2026-11-29 21:50 (UTC+01:00)"
    assert in_words(datetime(2026, 7, 1, 20, 50, tzinfo=UTC)) == "2026-07-01 22:50 (UTC+02:00)"
