"""How replies write a number, and its plain form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

_VULGAR = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅕": "1/5", "⅛": "1/8"}
_SCALES = {"k": 3, "thousand": 3, "million": 6, "billion": 9, "trillion": 12, "万": 4, "亿": 8}
_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")

_NUMBER = r"""
    (?=[-+−–\d.\\€£¥₹½⅓⅔¼¾⅕⅛NnMm])                                    # fails fast where no number begins
    (?<![A-Za-z0-9_.])(?<!\d[:,])(?<!\^)(?<!\^\{)                      # no part of a name, time, list or exponent
    (?P<sign>(?<![A-Za-z0-9_)\]}%])(?<!\d[ ])[-+−–]|(?<=[:=][ ])[-−–][ ]
        |(?:(?<=is[ ])|(?<=of[ ])|(?<=to[ ])|(?<=:[ ])|(?<=equals[ ])|(?<=now[ ])|(?<=was[ ])|(?<=at[ ])
           |(?<![\s\S]))(?:[Nn]egative|[Mm]inus)[ ])?
    [€£¥₹]?
    (?:
        (?:(?P<mixed>\d+)(?=[ ]{0,2}\\?[dt]?frac|[ ]{1,2}\d+/\d|[ ]?[½⅓⅔¼¾⅕⅛])[ ]{0,2})?
        (?:
            \\[dt]?frac\s*(?:\{\s*(?P<num>-?\d+)\s*\}\s*\{\s*(?P<den>\d+)\s*\}|(?P<n>\d)(?P<d>\d))
            | (?P<over>\d+)\s?/\s?(?P<under>\d+)(?![\d/])
            | (?P<vulgar>[½⅓⅔¼¾⅕⅛])
        )
        | 10\s*\^\s*\{?\s*(?P<ten>[-−]?\d+)\s*\}?
        | (?P<whole>
            \d{1,3}(?:,\d{2,3})*,\d{3}(?!\d)                           # 1,234,567 and 1,00,000
            | \d{1,3}(?:'\d{3})+(?!\d)                                # 1'234
            | \d{1,3}(?:\{,\}\d{3})+(?!\d)                             # 1{,}234
            | \d{1,3}(?:[ ]{1,2}\d{3})+(?![\d/])                       # 1 234, thin blanks included
            | \d+
        )?
        (?P<point>\.\d+)?
        (?<=\d)
        (?:
            [eE](?P<exp>[-+]?\d+)(?![A-Za-z0-9]|\.\d)
            | [ ]{0,2}(?:[×x·]|\\times|\\cdot|[ ])[ ]{0,2}10[ ]{0,2}
              (?:\^\s*\{?\s*(?P<power>[-+−]?\d+)\s*\}?|(?P<super>⁻?[⁰¹²³⁴-⁹]+))
        )?
        (?:[ ]{0,2}(?P<scale>thousand|million|billion|trillion|万|亿|(?<=\d)k(?!\s*[-+=*/^(]))\b)?
    )
    (?!(?:st|nd|rd|th)\b|[:.,]?\d)
    """
NUMBER = re.compile(_NUMBER, re.VERBOSE)
"""A number in a plain view (`text.plain`)."""
_UNSIGNED_BY_WORDS = re.compile(_NUMBER.replace("NnMm]", "]", 1), re.VERBOSE)
"""The same where no word is a sign: no letter needs a second look."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number that stands at [start, end), in plain form."""

    value: str
    start: int
    end: int


def numbers(text: str, start: int, end: int) -> list[Number]:
    """Return the numbers written in digits at [start, end); those of more digits than Python converts are left out."""
    if "万" in text or "亿" in text or "千" in text:
        mixed = _read(_MIXED.finditer(text, start, end), _mixed)
        if mixed:
            return mixed
    pattern = NUMBER if "egative" in text or "inus" in text else _UNSIGNED_BY_WORDS
    return _read(pattern.finditer(text, start, end), plain_form)


def _read(matches: Iterable[re.Match[str]], form: Callable[[re.Match[str]], str]) -> list[Number]:
    found = []
    for match in matches:
        try:
            found.append(Number(form(match), *match.span()))
        except ValueError:  # sys.get_int_max_str_digits
            continue
    return found


_MIXED = re.compile(r"(?<![\d.,])(?:\d+(?:\.\d+)?[亿万千百]){2,}(?:\d+)?(?!\d)")
"""3万5千: digits and Chinese powers of ten in turn."""


def _mixed(match: re.Match[str]) -> str:
    total = Decimal(0)
    for digits, power in re.findall(r"(\d+(?:\.\d+)?)([亿万千百]?)", match[0]):
        total += Decimal(digits) * {"亿": 10**8, "万": 10**4, "千": 1000, "百": 100, "": 1}[power]
    return f"{total:f}"


def plain_form(match: re.Match[str]) -> str:
    """Return a match of `NUMBER` as an integer, a decimal, ``a/b`` (mixed numbers as one fraction) or as in ``1.5e3``."""
    part = match.groupdict()
    sign = "-" if part["sign"] and part["sign"].strip() in ("-", "−", "–", "negative", "minus", "Negative", "Minus") else ""
    upper, lower = part["num"] or part["n"] or part["over"], part["den"] or part["d"] or part["under"]
    if ratio := _VULGAR.get(part["vulgar"]) or (upper and f"{upper}/{lower}"):
        whole = str(Fraction(part["mixed"]) + Fraction(ratio)) if part["mixed"] else ratio
        return (sign + whole).replace("--", "")
    if part["ten"]:
        return f"{sign}1e{_integer(part['ten'])}"
    number = re.sub(r"[, {}']", "", part["whole"] or "0") + (part["point"] or "")
    if part["scale"]:
        number = f"{Decimal(number).scaleb(_SCALES[part['scale']]):f}"
    exponent = part["exp"] or part["power"] or (part["super"] or "").translate(_SUPERSCRIPT)
    return f"{sign}{number}e{_integer(exponent)}" if exponent else sign + number


def _integer(text: str) -> int:
    return int(text.replace("−", "-"))


_COMMA = re.compile(r"(?<![\d.,])(?:\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d{1,3}(?: \d{3})+,\d+|\d+,\d+)(?![\d.,]*\d)")
_ENGLISH = re.compile(r"(?i:\b(?:the|is|are|of|and|answer|we|he|she|it|they|to|with|pays|costs)\b)")
_COMMA_LANGUAGES = re.compile(
    r"(?i:\b(?:der|die|das|ist|und|wir|beträgt|also|insgesamt|euro|antwort|kostet|le|les|est|de|del|du|cada|zum|zur|im|pro"
    r"|mit|ergibt|donc|soit|réponse|prix|el|los|las|por|respuesta"
    r"|cela|fait|heures?|mètres|litres|litros|horas?|metros|son|tiene|stunden|una|recorrió|il|sono|quindi|risposta|het"
    r"|een|dus|antwoord|jest|odpowiedź|är|svar|resposta|é|então|в|на|ответ|итого"
    r"|равно|равен)\b)|€"
)
_SURELY = re.compile(r"(?<![\d.,(])\d+,(?:\d\d?|\d{4,})(?![\d,)]|\.\d)")
"""A comma that groups no thousands."""
_EASTERN = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_SWAP = str.maketrans(".,", ",.")


def decimal_commas(view: str) -> str:
    """Return a view with points and commas in its numbers exchanged, if its language writes decimals with a comma."""
    if not _COMMA.search(view) or _ENGLISH.search(view):
        return view
    if not _COMMA_LANGUAGES.search(view) and (not _SURELY.search(view) or _EASTERN.search(view)):
        return view
    return _COMMA.sub(lambda match: match[0].translate(_SWAP), view)


_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen"
    " nineteen"
)
_UNITS = {word: value for value, word in enumerate(_SMALL.split())}
_TEN_WORDS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_TENS = {word: 10 * place for place, word in enumerate(_TEN_WORDS, 2)}
_GROUPS = {"thousand": 1000, "million": 1_000_000, "billion": 1_000_000_000}
_OTHER_WORDS = {
    word: value
    for words in (
        "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        "zéro un deux trois quatre cinq six sept huit neuf dix onze douze",
        "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce",
    )
    for value, word in enumerate(words.split())
    if word not in ("null", "ein", "un", "uno", "six", "once")
}
_WORD = "|".join(sorted([*_UNITS, *_TENS], key=len, reverse=True))
_SPELLED = re.compile(
    rf"\b(?:(?P<minus>minus|negative)\s+)?(?P<words>(?:(?:a|an)\s+(?=hundred|thousand|million|dozen))?(?:{_WORD}|hundred"
    rf"|thousand|million|billion|dozen)"
    rf"(?:(?:\s+and\s+|[\s-]+)(?:{_WORD}|hundred|thousand|million|billion|dozen)){{0,11}})\b(?:\s+(?P<point>point(?:\s+(?:{_WORD}))+))?",
    re.IGNORECASE,
)
_FRACTION = re.compile(
    r"\b(?:(?P<n>one|two|three|four|five|six|seven|eight|nine|an?)[\s-]|(?=half\b))(?P<d>half|halves|thirds?|quarters?"
    r"|fourths?|fifths?"
    r"|sixths?|sevenths?|eighths?|ninths?|tenths?)\b",
    re.IGNORECASE,
)
_PARTS = {"hal": 2, "thi": 3, "qua": 4, "fou": 4, "fif": 5, "six": 6, "sev": 7, "eig": 8, "nin": 9, "ten": 10}
_HAN_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_HAN_SIGNS = frozenset("零一二两三四五六七八九十百千万〇")
_HAN = re.compile(
    r"(?P<neg>负|零下)?(?:(?P<den>[一二三四五六七八九十百千]+)分之(?P<num>[一二三四五六七八九十百千]+)"
    r"|(?P<pct>百分之)?(?P<whole>[零一二两三四五六七八九十百千万]+)(?P<point>点[零一二三四五六七八九]+)?(?!分之|[零一二两三四五六七八九十百千万]))"
)
_FOREIGN = re.compile(rf"\b(?:{'|'.join(_OTHER_WORDS)})\b", re.IGNORECASE)


_SPELLING = frozenset((*_UNITS, *_TENS, *_GROUPS, *_OTHER_WORDS, "hundred", "dozen", "half", "halves")) | {
    f"{word}{ending}"
    for word in ("third", "quarter", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
    for ending in ("", "s")
}
_LETTERS = re.compile(r"[^\W\d_]+")


def may_spell(text: str) -> bool:
    """Return whether a text may hold a number in words: a quick look before `spelled`."""
    if not text.isascii() and not _HAN_SIGNS.isdisjoint(text):
        return True
    return not _SPELLING.isdisjoint(_LETTERS.findall(text.lower()))


def spelled(text: str, start: int, end: int) -> list[Number]:
    """Return the numbers written in words at [start, end): English, Chinese, small ones in German, French and Spanish."""
    found: list[Number] = []
    for match in _FRACTION.finditer(text, start, end):
        found.append(Number(f"{_UNITS.get((match['n'] or '').lower(), 1)}/{_PARTS[match['d'].lower()[:3]]}", *match.span()))
    for match in _SPELLED.finditer(text, start, end):
        if not any(match.start() < other.end and other.start < match.end() for other in found):
            found.append(Number(_english(match), *match.span()))
    found.sort(key=lambda number: number.start)
    found += _read(_HAN.finditer(text, start, end), _han)
    if not found:
        found = [Number(str(_OTHER_WORDS[m[0].lower()]), *m.span()) for m in _FOREIGN.finditer(text, start, end)]
    return found


def _english(match: re.Match[str]) -> str:
    total = group = 0
    for word in re.split(r"[\s-]+", match["words"].lower()):
        if word in _UNITS or word in _TENS:
            group += _UNITS.get(word, 0) + _TENS.get(word, 0)
        elif word in ("hundred", "dozen"):
            group = (group or 1) * (100 if word == "hundred" else 12)
        elif word in _GROUPS:
            total, group = total + (group or 1) * _GROUPS[word], 0
    value = str(total + group)
    if match["point"]:
        value += "." + "".join(str(_UNITS.get(word, "")) for word in match["point"].lower().split()[1:])
    return f"-{value}" if match["minus"] else value


def _han(match: re.Match[str]) -> str:
    sign = "-" if match["neg"] else ""
    if match["den"]:
        upper, lower = _han_integer(match["num"]), _han_integer(match["den"])
        return sign + (str(upper) if lower == 100 else f"{upper}/{lower}")
    value = str(_han_integer(match["whole"]))
    return sign + value + ("." + "".join(str(_HAN_DIGITS[digit]) for digit in match["point"][1:]) if match["point"] else "")


def _han_integer(text: str) -> int:
    total = group = digit = 0
    for sign in text:
        if sign in _HAN_DIGITS:
            digit = _HAN_DIGITS[sign]
        elif sign == "万":
            total, group, digit = (total + group + digit) * 10_000, 0, 0
        else:
            group, digit = group + (digit or 1) * {"十": 10, "百": 100, "千": 1000}[sign], 0
    return total + group + digit
