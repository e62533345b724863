"""LawBench tasks of labels and phrases, scored as the paper defines them (Fei et al. 2023, section 4).

No recording of these tasks is at hand. Labels: F1 of the sets. Reading comprehension: rc-F1, the overlap of characters without
punctuation. Extraction: soft-F1, where a phrase counts by its rc-F1 with the phrase it is paired with instead of by equality.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Sequence

from leaderflow.core.errors import DataError

_FOCUSES = (
    "诉讼主体 租金情况 利息 本金争议 责任认定 责任划分 损失认定及处理 原审判决是否适当 合同效力 财产分割 责任承担 "
    "鉴定结论采信问题 诉讼时效 违约 合同解除 肇事逃逸"
)
_MARITAL = (
    "婚后有子女 限制行为能力子女抚养 有夫妻共同财产 支付抚养费 不动产分割 婚后分居 二次起诉离婚 按月给付抚养费 准予离婚 "
    "有夫妻共同债务 婚前个人财产 法定离婚 不履行家庭义务 存在非婚生子 适当帮助 不履行离婚协议 损害赔偿 "
    "感情不和分居满二年 子女随非抚养权人生活 婚后个人财产"
)
_EVENTS = (
    "支付/给付 欺骗 搜查/扣押 要求/请求 卖出 买入 获利 拘捕 鉴定 同意/接受 供述 联络 帮助/救助 租用/借用 受伤 伪造 卖淫 "
    "伤害人身 赔偿 归还/偿还"
)
_ENTITIES = "犯罪嫌疑人 受害人 被盗货币 物品价值 盗窃获利 被盗物品 作案工具 时间 地点 组织机构"
_BREAKS = re.compile(r"[;；、,，\n]")

Score = Callable[[str, str, Collection[str]], float | None]


def set_f1(found: Collection[Hashable], gold: Collection[Hashable]) -> float:
    """Return the F1 of two sets."""
    both = len(set(found) & set(gold))
    return 2 * both / (len(set(found)) + len(set(gold))) if both else 0.0


def characters_f1(answer: str, reference: str) -> float:
    """Return rc-F1: the F1 of the characters of two texts, punctuation and blanks apart."""
    given, wanted = (Counter(c for c in text if c.isalnum()) for text in (answer, reference))
    both = (given & wanted).total()
    return 2 * both / (given.total() + wanted.total()) if both else 0.0


def soft_f1(found: Sequence[str], gold: Sequence[str]) -> float:
    """Return soft-F1 of two lists of phrases: pairs of highest rc-F1 first, each phrase in one pair."""
    worth = {(i, j): characters_f1(a, b) for i, a in enumerate(found) for j, b in enumerate(gold)}
    total, left, right = 0.0, set(range(len(found))), set(range(len(gold)))
    for (i, j), value in sorted(worth.items(), key=lambda pair: (-pair[1], pair[0])):
        if i in left and j in right:
            total, left, right = total + value, left - {i}, right - {j}
    return 2 * total / (len(found) + len(gold)) if total else 0.0


def _labelled(labels: str) -> Score:
    known = labels.split()

    def score(answer: str, reference: str, others: Collection[str]) -> float | None:
        named, wanted = ([label for label in known if label in text] for text in (answer, reference))
        return set_f1(named, wanted) if named else None

    return score


def focus_of(reference: str) -> str:
    """Return the label of a 2-2 reference.

    Raises:
        DataError: it has not the one form that is known of it.
    """
    if found := re.fullmatch("争议焦点类别：(.+)。", reference):
        return found[1]
    raise DataError(f"a LawBench 2-2 reference is 争议焦点类别：LABEL。, got {reference!r}")


_any_focus = _labelled(_FOCUSES)


def focus(answer: str, reference: str, others: Collection[str]) -> float | None:
    """Return the F1 of the disputed points that an answer names."""
    return _any_focus(answer, focus_of(reference), others)


def reading(answer: str, reference: str, others: Collection[str]) -> float:
    """Return rc-F1 of an answer."""
    return characters_f1(answer.removeprefix("回答:"), reference.removeprefix("回答:"))


def entities(answer: str, reference: str, others: Collection[str]) -> float | None:
    """Return soft-F1 over phrases of the same kind; None for an answer that names no kind."""
    named, wanted = _by_kind(answer), _by_kind(reference)
    if not named:
        return None
    sizes = sum(map(len, named.values())) + sum(map(len, wanted.values()))
    pairs = [(named.get(kind, []), gold) for kind, gold in wanted.items()]
    return sum(soft_f1(mine, gold) * (len(mine) + len(gold)) for mine, gold in pairs) / sizes


def triggers(answer: str, reference: str, others: Collection[str]) -> float | None:
    """Return soft-F1 of the words; None for an answer without any."""
    words = _phrases(answer)
    return soft_f1(words, _phrases(reference)) if words else None


def _by_kind(text: str) -> dict[str, list[str]]:
    """Return kind → phrases of ``kind:phrase、phrase;kind:…``."""
    parts = re.split(f"({'|'.join(_ENTITIES.split())})[:：]", text)
    return {kind: phrases for kind, listed in zip(parts[1::2], parts[2::2], strict=True) if (phrases := _phrases(listed))}


def _phrases(text: str) -> list[str]:
    return list(dict.fromkeys(part for phrase in _BREAKS.split(text) if (part := phrase.strip(" 。.")) and part != "无"))


SCORES: dict[str, Score] = {
    "2-2": focus,
    "2-3": _labelled(_MARITAL),
    "2-5": reading,
    "2-6": entities,
    "2-9": _labelled(_EVENTS),
    "2-10": triggers,
}
