"""Forms in which texts are compared: each follows the scorer that made it the custom of its field."""

from __future__ import annotations

import re
import string
import unicodedata
from fractions import Fraction

from leaderflow.core.types import Json

_ASCII_PUNCTUATION = str.maketrans("", "", string.punctuation)
_CHINESE_PUNCTUATION = (
    "！？｡。＂＃＄％＆＇（）＊＋，－／：；＜＝＞＠［＼］＾＿｀｛｜｝～｟｠｢｣､、〃》「」『』【】"
    "〔〕〖〗〘〙〚〛〜〝〞〟〰〾〿–—‘’‛“”„‟…‧﹏."
)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def squad(text: str) -> str:
    """Lower case, no ASCII punctuation, no English articles, single blanks (the official SQuAD scorer)."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_ASCII_PUNCTUATION)).split())


def chinese(text: str) -> str:
    """Lower case, no ASCII or Chinese punctuation, no blanks at all (LongBench's scorer for Chinese)."""
    kept = "".join(char for char in text.lower() if char not in string.punctuation and char not in _CHINESE_PUNCTUATION)
    return "".join(kept.split())


def chinese_words(text: str) -> list[str]:
    """Words as jieba cuts them, each in the form of `chinese`, empty ones left out."""
    return [word for word in map(chinese, cut(text)) if word]


def cut(text: str) -> list[str]:
    """Words as jieba cuts them."""
    import logging

    import jieba

    jieba.setLogLevel(logging.WARNING)
    return list(jieba.cut(text))


def number(value: Json) -> Fraction | None:
    """Return the exact value of a number or of its text, None for anything else.

    Separators of thousands, currency and per cent signs do not count; ``1/2`` is a fraction.
    """
    if isinstance(value, bool) or value is None:
        return None
    text = unicodedata.normalize("NFKC", str(value)).replace("−", "-")
    text = re.sub(r"(?<=\d)[,\s](?=\d{3}(?!\d))", "", text).strip().strip("$€£¥%").strip()
    if not re.fullmatch(r"[+-]?(?:\d{1,4000}(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3}|/\d{1,4000})?", text):
        return None
    try:
        return Fraction(text.removesuffix("."))
    except (ValueError, ZeroDivisionError):
        return None
