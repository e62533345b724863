"""How replies write a number, and its plain form."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

_VULGAR = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅕": "1/5", "⅛": "1/8"}
_SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12, "万": 4, "亿": 8}
_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")

NUMBER = re.compile(
    r"""
    (?<![A-Za-z0-9_.])(?<!\d[:,])(?<!\^)(?<!\^\{)                      # no part of a name, time, list or exponent
    (?P<sign>(?<![A-Za-z0-9_)\]}%])(?<!\d[ ])[-+−–]|(?<=[:=][ ])[-−–][ ])?
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
            | \d{1,3}(?:\{,\}\d{3})+(?!\d)                             # 1{,}234
            | \d{1,3}(?:[ ]{1,2}\d{3})+(?![\d./])                      # 1 234, thin blanks included
            | \d+
        )?
        (?P<point>\.\d+)?
        (?<=\d)
        (?:
            [eE](?P<exp>[-+]?\d+)(?![A-Za-z0-9]|\.\d)
            | [ ]{0,2}(?:[×x·]|\\times|\\cdot|[ ])[ ]{0,2}10[ ]{0,2}
              (?:\^\s*\{?\s*(?P<power>[-+−]?\d+)\s*\}?|(?P<super>[⁻⁰¹²³⁴-⁹]+))
        )?
        (?:[ ]{0,2}(?P<scale>thousand|million|billion|trillion|万|亿)\b)?
    )
    (?!(?:st|nd|rd|th)\b|[:.,]?\d)
    """,
    re.VERBOSE,
)
"""A number in a plain view (`text.plain`)."""


def plain_form(match: re.Match[str]) -> str:
    """Return a match of `NUMBER` as an integer, a decimal, ``a/b`` (mixed numbers as one fraction) or as in ``1.5e3``."""
    part = match.groupdict()
    sign = "-" if part["sign"] and part["sign"].strip() in ("-", "−", "–") else ""
    upper, lower = part["num"] or part["n"] or part["over"], part["den"] or part["d"] or part["under"]
    if ratio := _VULGAR.get(part["vulgar"]) or (upper and f"{upper}/{lower}"):
        whole = str(Fraction(part["mixed"]) + Fraction(ratio)) if part["mixed"] else ratio
        return (sign + whole).replace("--", "")
    if part["ten"]:
        return f"{sign}1e{_integer(part['ten'])}"
    number = re.sub(r"[, {}]", "", part["whole"] or "0") + (part["point"] or "")
    if part["scale"]:
        number = f"{Decimal(number).scaleb(_SCALES[part['scale']]):f}"
    exponent = part["exp"] or part["power"] or (part["super"] or "").translate(_SUPERSCRIPT)
    return f"{sign}{number}e{_integer(exponent)}" if exponent else sign + number


def _integer(text: str) -> int:
    return int(text.replace("−", "-"))
