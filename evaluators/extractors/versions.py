"""Which of several versions of a program a reply prefers, or that it leaves the choice open."""

from __future__ import annotations

import re
from typing import NamedTuple

_FAVOURED = re.compile(
    r"(?:\b(?:recommended|preferred|preferable|favou?rite|my (?:final )?(?:answer|choice|pick|submission)|(?:please )?(?:use|submit"
    r"|take) this|i(?:'d| would)? (?:(?:actually|really) )?(?:recommend|suggest|prefer|use|pick|choose|submit|go with)|empfohlen\w*"
    r"|bevorzugt\w*|empfehle|recommandée?|préférée?|conseillée?|recomendad[ao]|recomiendo|recomendo|preferid[ao]|preferit[ao]"
    r"|consigliat[ao]|raccomandat[ao]|consiglio|рекоменд\w+|предпочт\w+)\b)|推荐|首选|建议使用|推奨|おすすめ|권장|추천"
)
_REJECTED = re.compile(
    r"(?:^\W*(?:or,? )?(?:if|should) you (?:\w+ )?(?:prefer|want|like|need|insist|care|wish)|^\W*(?:wenn|falls) (?:du|sie"
    r"|man) (?:lieber|\w+ bevorzug)"
    r"|^\W*si (?:vous|tu|lo|usted) (?:préf|prefier|quier|voul|veux)|^\W*se (?:preferi|quiser|vuoi)|^\W*если (?:вы|хот|предпоч)"
    r"|\b(?:not|isn't|never|nicht|pas|non|no|não|не)(?: \w+)? (?:recommend\w*|preferred|preferable|for (?:submission|use)"
    r"|empfohlen"
    r"|empfehlenswert|recommandée?|conseillée?|recomendad[ao]|recomendable|consigliat[ao]|рекоменд\w+)"
    r"|not recommend\w*|(?:what|how) not to\b|(?:don't|do not|never) (?:use|submit|do|write|take|copy|hand in)|to avoid"
    r"|avoid\b"
    r"|(?:just|only|merely|purely|solely|nur|seulement|solo|sólo|só|apenas|только) (?:for|to|as|zum|zur|als|pour|para|per|a título"
    r"|для)\b|for (?:comparison|illustration|completeness|contrast)\b|anti-?pattern|discouraged|deprecated"
    r"|zum vergleich|so nicht\b|nicht (?:verwenden|benutzen|abgeben)|à (?:éviter|ne pas)|ne pas (?:utiliser|faire)"
    r"|pour (?:comparaison|comparer|illustrer|mémoire)|para (?:comparar|comparación|comparação)|(?:a|da) evitar\w*|evita\w*\b"
    r"|no (?:usar|use|usen)\b|não (?:usar|use)\b|non usare|per (?:confronto|paragone)|для сравнения|не используйте|как не\b)"
    r"|^\W*如果(?:你|您)?(?:想|更|需要|喜欢|偏好)|❌|✗|^\W*(?:and |but |und |et |y |e )?(?:not (?:this|like this|so)\b|(?:don't"
    r"|do not|wrong|incorrect|bad|falsch|schlecht|faux|mauvais"
    r"|incorrecto|mal|sbagliato|errado|incorreto|неправильно|плохо|错误|错|不好)\W*\Z)|不推荐|不建议|仅供|仅作|只是?为了|反例"
    r"|反面|不要(?:用|使用|这样|提交)"
    r"|请勿|非推奨|悪い例|比較のため|参考まで|비권장"
    r"|나쁜 예|비교용"
)
_NAME = (
    r"(?:versions?|options?|variants?|approach|method|solution|implementation|variante?|alternative?|fassung|lösung|méthode|versión"
    r"|versione|versão|opción|opzione|opção|método|metodo|вариант\w*|верси\w+|способ\w*|版本|方案|方法|写法|解法|実装|방법|버전)"
)
_LABEL = re.compile(
    rf"(?:\b|(?<=[^\x00-\x7f])){_NAME}\s*(?:#|no\.? ?|nr\.? ?)?(?P<label>\d|[a-e]|[一二三四])(?![a-z0-9])"
    rf"|^\W*(?P<bare>\d|[a-e])[).:：]"
)
_THE_ONE = re.compile(rf"\b(?:the|die|la|le|el|o|a) (\w{{3,}}) (?:one|{_NAME})\b")
_PICK = re.compile(
    r"\b(?:go|going|stick|stay) with (?P<with>\d|[a-e])\b|\b(?:use|prefer|recommend|choose|pick|take|submit|suggest|nehme"
    r"|empfehle|préfère|prefiero)"
    r" (?P<one>\d|[a-e])(?=[,.;:]|\s*\Z| since| because| as)|^\W*(?P<it>\d|[a-e]) is (?:my|the one|what|better|preferable)\b"
)
"""A label alone that is chosen."""
_ORDINALS = (
    r"\b(?:first|former|1st|erste\w*|première|premier|primer[ao]?|primeir[ao]|prim[ao]|перв\w+)\b|第一|前者|前一|첫",
    r"\b(?:second|2nd|zweite\w*|deuxième|seconde?|segund[ao]|second[ao]|втор\w+)\b|第二|두 ?번째",
    r"\b(?:third|3rd|dritte\w*|troisième|tercer[ao]?|terceir[ao]|terz[ao]|трет\w+)\b|第三|세 ?번째",
    r"\b(?:last|latter|letzte\w*|dernière?|últim[ao]|ultim[ao]|последн\w+)\b|后者|最后|後者|마지막",
)
_CHOOSES = re.compile(
    r"(?:\b(?:use|using|prefer\w*|recommend\w*|suggest|go with|going with|stick|keep|hand(?:ed)? (?:it )?in|turn in|choose"
    r"|submit\w*|pick|take|better|best|final"
    r"|counts?|grade|run|favou?r|nimm|nehm\w+|verwende\w*|empfehl\w*|empfiehl\w*|bevorzug\w*|benutz\w*|abgeben|gilt|besser\w*|zählt"
    r"|utilis\w+|préf\w+|recommand\w+|conseill\w+|choisi\w+|soumet\w+|retene[zr]|retiens|garde\w*|prenez|prends|meilleure?"
    r"|usar?|usen?|uso|prefier\w+|recomiend\w+|elij\w+|env[ií]\w+|qu[eé]d\w+|resto|остаюсь|bleib\w*|mejor|prefer\w+|consigli\w+"
    r"|raccomand\w+|scelg\w+"
    r"|sceglie\w*|migliore|prefir\w+|recomend\w+|escolh\w+|fique|fico|melhor|использ\w+|рекоменд\w+|выб[еи]р\w+|предпоч\w+"
    r"|отправ\w+|лучше|бер[иу]\w*)\b)|推荐|建议|请|采用|使用|提交|为准|选|おすすめ|推奨|使って|추천|권장|사용하"
)
_AGAINST = re.compile(
    r"(?:\b(?:not|don't|rather than|instead of|over|than|statt|als|nicht|plutôt que|pas|en lugar de|en vez de|que|invece|rispetto"
    r"|em vez de|não|вместо|чем|не)\b|而不是|而非|不要|别|不用|よりも|대신)[^,.;，。；]*"
)
_IF = re.compile(
    r"(?:\b(?:if|when|unless|in case|otherwise|wenn|falls|sonst|si|sinon|se|altrimenti|senão|если|иначе)\b)|如果|若|否则|なら|면"
)
_EITHER = re.compile(
    r"(?:\b(?:neither (?:\w+ ){0,2}is (?:\w+ )?(?:better|preferred|best|preferable)|(?:take|use|pick|choose) (?:whichever|whatever"
    r"|either (?:one|version|of))|either (?:one )?(?:works|is fine|will do|would do)|whichever (?:one |version )?(?:you|is|fits"
    r"|suits)"
    r"|(?:in|either of) (?:either of )?(?:two|several|three) (?:\w+ )?ways|(?:both|they) are (?:equally )?(?:good|fine|valid"
    r"|correct"
    r"|acceptable)|no (?:real |strong )?preference|up to you\b|your (?:choice|call)\b"
    r"|(?:can't|cannot|don't|do not|couldn't) (?:\w+ ){0,3}?(?:tell|say|decide|know)\b[^.\n]{0,60}\b(?:which|whether)"
    r"|(?:not|un)\s?(?:clear|sure|certain)\b[^.\n]{0,40}\bwhich|which (?:one |of them |of the two |version )?(?:is (?:right"
    r"|correct|meant"
    r"|wanted|intended)|you (?:need|want|prefer)) (?:depends|is (?:up|unclear|not clear))|it depends on (?:what|which|whether)"
    r"|(?:tell me|let me know|say) which (?:\w+ )?(?:\w+ )?(?:you|is)|which (?:one |of \w+ )?(?:you(?:'d| would)? (?:meant?|like"
    r"|have in mind))"
    r"|beides (?:ist|geht)|wähle?n? sie|choisissez|(?:las dos|los dos|le due|as duas|les deux) (?:\w+ )?(?:son|sono|são|valen"
    r"|valent|sirven)"
    r"|elige (?:la|el) que|scegli (?:quell[ao]|la) che|beide (?:\w+ )?sind (?:gleich|richtig|korrekt|in ordnung)"
    r"|such dir (?:eine|was)|welche\w* (?:\w+ )?gemeint ist"
    r"|les deux (?:versions )?(?:sont|conviennent|marchent)|au choix|comme vous (?:voulez|préférez)|je ne sais pas laquelle"
    r"|ambas (?:\w+ )?(?:son|são|valen|funcionan|funcionam|servem)|elija (?:la|el) que|escolha (?:a|o) que|no sé cuál|não sei qual"
    r"|entrambe (?:\w+ )?(?:sono|vanno|funzionano)|a (?:tua |vostra )?scelta|non so quale"
    r"|оба вариант\w+|обе верси\w+|любой из|на (?:ваш )?выбор|не знаю, как(?:ой|ая))\b)"
    r"|任选|都可以|均可|都行|无法(?:判断|确定)[^。\n]*哪|不(?:知道|确定|清楚)[^。\n]*哪|取决于|どちらでも|どちらか(?:分"
    r"|わ)からない|어느 (?:것|쪽)"
)
"""Saying that no version is preferred."""
_DEPENDS = re.compile(r"(?:^\W*(?:depending on|je nach|selon|según|a seconda|dependendo|в зависимости))|^(?:根据|取决于|视)")
_OR = re.compile(r"\W*(?:or|or else|alternatively|oder|ou(?: bien)?|o(?: bien)?|oppure|или|或者?|または|또는)\W*")
_SENTENCE = re.compile(r"[.!?](?=\s|\Z)|[\n。！？]")
_COMMENT = re.compile(r"\s*(?:#|//|--|/\*)[^\n]*")


class Version(NamedTuple):
    """A version of the program: what leads to it from the version before (or some text before the first), and its code."""

    lead: str
    code: str


def preferred(versions: list[Version], after: str) -> int | None:
    """Return which version is preferred; -1 where nothing is said of it, None where the choice is left open.

    Args:
        versions: at least two, in order.
        after: the text after the last.
    """
    titles = [_title(version) for version in versions]
    rejected = [bool(_REJECTED.search(title)) for title in titles]
    favoured = [bool(_FAVOURED.search(title)) and not bad for title, bad in zip(titles, rejected, strict=True)]
    named = _named(titles, after.replace("’", "'").lower())
    if named is not None:
        return named
    if sum(favoured) == 1:
        return favoured.index(True)
    if any(rejected) and not all(rejected):
        return max(place for place, bad in enumerate(rejected) if not bad)
    ends = versions[0].lead.lower(), after.replace("’", "'").lower()
    if any(_EITHER.search(end) for end in ends) or _OR.fullmatch(versions[-1].lead.lower()) or _DEPENDS.search(_last(ends[0])):
        return None
    return -1


def _last(lead: str) -> str:
    """Return the last paragraph of a text."""
    return re.split(r"\n\s*\n", lead.strip())[-1].strip()


def _title(version: Version) -> str:
    """Return what is said right before a version and in the comment that it begins with."""
    comment = _COMMENT.match(version.code)
    return (_last(version.lead) + (" " + comment[0] if comment else "")).replace("’", "'").lower()


def _named(titles: list[str], after: str) -> int | None:
    """Return the version that the text after the last one chooses by its place or label."""
    labels = [next((m["label"] or m["bare"] for m in _LABEL.finditer(title)), None) for title in titles]
    for sentence in _SENTENCE.split(after[:600]):
        if not _CHOOSES.search(sentence) or _IF.search(sentence) or _EITHER.search(sentence):
            continue
        positive = _AGAINST.sub("", sentence)
        found = _LABEL.search(positive) or _PICK.search(positive)
        if found and found[found.lastgroup or 0] in labels:
            return labels.index(found[found.lastgroup or 0])
        told = {word for word in _THE_ONE.findall(positive) for title in titles if word in re.findall(r"\w+", title)}
        holding = [place for place, title in enumerate(titles) if told.intersection(re.findall(r"\w+", title))]
        if len(holding) == 1:
            return holding[0]
        places = [place for place, words in enumerate(_ORDINALS) if re.search(words, positive)]
        if len(places) == 1:
            place = len(titles) - 1 if places[0] == 3 else places[0]
            return place if place < len(titles) else None
    return None
