"""Times as people and learning management systems write them.

    2026-11-29 20:15, 2026-11-29T20:15:00+01:00       ISO 8601
    Sunday, 29 November 2026, 9:50 PM                 Moodle's long form, in seven languages

03.12.2026 is the third of December to some and the twelfth of March to others, so it is refused.
"""

import re
import unicodedata
from datetime import UTC, datetime

# English, German, French, Spanish, Italian, Dutch, Portuguese; without accents.
MONTHS = (
    "january januar janvier enero gennaio januari janeiro jan ene gen",
    "february februar fevrier febrero febbraio februari fevereiro feb fev fevr",
    "march marz mars marzo maart marco mar mrt",
    "april avril abril aprile apr avr abr",
    "may mai mayo maggio mei maio mag",
    "june juni juin junio giugno junho jun giu",
    "july juli juillet julio luglio julho jul juil lug",
    "august aout agosto augustus aug ago",
    "september septembre septiembre settembre setembro sep sept set",
    "october oktober octobre octubre ottobre outubro oct okt out ott",
    "november novembre noviembre novembro nov",
    "december dezember decembre diciembre dicembre dezembro dec dez dic",
)
MONTH = {name: number for number, names in enumerate(MONTHS, 1) for name in names.split()}
ISO = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d?)(:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|UTC|[+-]\d\d:?\d\d)?", re.I
)
CLOCK = re.compile(r"\b(\d\d?)[:h](\d\d)(?::(\d\d))?\s*([ap])?\.?(?(4)\s*m\b\.?)", re.I)
WORD = re.compile(r"[^\W\d_]+")
HOW_TO_WRITE = "write 2026-11-29 20:15 or 2026-11-29T20:15+01:00"


def read_time(text: str) -> datetime:
    """A time in UTC; without an offset, it is one of this computer's time zone.

    Raises:
        ValueError: it is no time, or may be one of several.
    """
    text = " ".join(unicodedata.normalize("NFKC", text).split())
    iso = ISO.fullmatch(text)
    time = _iso(*iso.groups()) if iso else _long_form(text)
    if time.tzinfo is None and time.astimezone().utcoffset() != _later(time).utcoffset():
        raise ValueError("the clock shows this time twice or never in that night: add +01:00")
    return time.astimezone(UTC)


def zone() -> str:
    """This computer's time zone, as it is today."""
    return "UTC" + datetime.now().astimezone().isoformat()[-6:]


def in_words(time: datetime) -> str:
    """A time as it is shown to people of this computer's time zone, which is named.

    time: in UTC, with or without saying so.
    """
    local = (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone()
    text = local.isoformat(" ", "minutes")
    return f"{text[:16]} (UTC{text[16:]})"


def _iso(date: str, hour: str, rest: str, offset: str | None) -> datetime:
    offset = "Z" if (offset or "").upper() in ("Z", "UTC") else offset or ""
    return datetime.fromisoformat(f"{date}T{hour:0>2}{rest}{offset}")


def _long_form(text: str) -> datetime:
    clocks = list(CLOCK.finditer(text))
    if len(clocks) != 1:
        raise ValueError("it has no hours and minutes, or more than once")
    hour, minute, second, half = clocks[0].groups()
    rest = text[: clocks[0].start()] + " " + text[clocks[0].end() :]
    words = [_plain(word) for word in WORD.findall(rest) if not _is_zone(word)]
    months = {MONTH[word] for word in words if word in MONTH}
    numbers = re.findall(r"\d+", rest)
    days, years = ([n for n in numbers if len(n) in sizes] for sizes in ((1, 2), (4,)))
    if len(months) != 1 or len(days) != 1 or len(years) != 1 or len(numbers) != 2:
        raise ValueError("day, month and year cannot be told apart")
    if any(map(_is_zone, WORD.findall(rest))):
        raise ValueError("zones are written as an offset, such as +01:00")
    hour = int(hour)
    if half:
        if not 1 <= hour <= 12:
            raise ValueError("it has no such hour")
        hour = hour % 12 + 12 * (half.lower() == "p")
    return datetime(int(years[0]), months.pop(), int(days[0]), hour, int(minute), int(second or 0))


def _later(time: datetime) -> datetime:
    return time.replace(fold=1).astimezone()


def _is_zone(word: str) -> bool:
    """Whether a word abbreviates a time zone, such as CET; no other is in capitals."""
    return len(word) > 2 and word.isupper() and word.isascii()


def _plain(word: str) -> str:
    """Without accents, in small letters."""
    letters = unicodedata.normalize("NFD", word.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
