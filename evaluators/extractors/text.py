"""Views of a reply that keep every character's position: what is found in a view stands at the same place in the reply."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from unicodedata import normalize

from leaderflow.core.reasoning import TAGS, split_reasoning

_NAMES = "|".join((*TAGS, "thoughts", "scratchpad", "analysis"))
_LATER_REASONING = re.compile(
    rf"(?<!`)<({_NAMES})>.*?</\1>|^[ \t]*<(?:{_NAMES})>.*"
    r"|◁think▷.*?(?:◁/think▷|\Z)|\[THINK\].*?(?:\[/THINK\]|\Z)|<\|begin_of_thought\|>.*?(?:<\|end_of_thought\|>|\Z)"
    r"|<\|channel\|>analysis<\|message\|>.*?(?:<\|channel\|>final<\|message\|>|\Z)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
MAY_REASON = frozenset("<[◁")
"""The marks that every form of reasoning and of leaked turns begins with."""
_MARKDOWN = (
    r"(?!(?<=[\d)])\*[\d(]|(?<=[^\S\n])\*[^\S\n])[*`$~]|(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])"  # no star that multiplies
    r"|^[ \t]*(?:>|#{1,6}(?!#)(?![ \t]*[-+−$€£¥\\.]*\d))|</?(?:b|i|u|em|strong|br|p|span|center|mark)\s*/?>"
)
_LATEX = (
    r"\\(?:text(?:bf|it|rm|sf|tt)?|math(?:bf|rm|sf|it|bb|cal|tt)|bf|rm|bold|boldsymbol|operatorname|mbox|displaystyle|left|right"
    r"|[bB]igg?[lr]?|qquad|quad)(?![A-Za-z])|\\[,;:! ()\[\]]"
)
_DECORATING = frozenset("*`$~_>#<\\")
_DECORATION = re.compile(f"{_LATEX}|{_MARKDOWN}", re.MULTILINE)
_BULLET = re.compile(r"(?:(?<=\n)|(?<![\s\S]))\*(?=[ \t])")
_RUN_ON = re.compile(
    r"^[ \t#*]*(?:(?:Next |New |Another )?(?:Question|Problem|Exercise|Passage|Task)[ \t]*#?\d*|(?:Example|Task)[ \t]*#?\d+"
    r"|Q\d*|Human|User|USER|HUMAN|Usuario|Usuário|Utilisateur|Benutzer|Nutzer|Utente|Пользователь|ユーザー|사용자"
    r"|Instruction|Input|(?:问题|题目|例题?|练习|下一[题道个]"
    r"|第)[ \t]*[\d一二三四五六七八九十]*题?|问|用户|人类|指令)[ \t]*\**[:：]"
    r"|^[ \t]*(?:【(?:问题|题目|例题?|练习|第)[^】\n]{0,6}】|例[ \t]*\d+[ \t.．、])"
    r"|^[ \t#*]*(?:Aufgabe|Frage|Exercice|Problème|Ejercicio|Pregunta|Problema|Exercício|Pergunta|Задача|Вопрос|問題"
    r"|質問|문제|질문)[ \t]*\d*[ \t]*\**[:：](?:[^\n]*\n){1,3}?[ \t#*]*(?:Antwort|Lösung|Réponse|Solu\w+|Respuesta|Resposta"
    r"|Ответ|Решение"
    r"|答え|解答|回答|정답|답|풀이)[ \t]*\**[:：]"
    r"|^[ \t]*#{1,6}[ \t]*(?:(?:Next |New |Another )?(?:Question|Problem|Exercise|Task|Example|Instruction|User|Human)"
    r"|问题|题目|例题|练习|用户)\b[ #\d]*$|^[ \t*]*(?:Question|Problem|Exercise|Task|Q)[ \t]*#?\d+[ \t]*[.)*\n]"
    r"|(?<=\n\n)[^\n]{10,400}\?[ \t]*\n\s*\(?A[.):][ \t][^\n]{1,200}?\s\(?B[.):][ \t]"
    r"|^[ \t]*The following (?:is|are) (?:a )?multiple choice"
    r"|(?<=\n)[ \t*]*\d{1,4}[.、．)][ \t]*[^\n]{4,400}"
    r"(?:[?？]|[（(][ \t　]*[）)][。.]?|_{2,}[。.]?|[是为有][:：]?|哪[^\n]{0,9}"
    r"|\b(?:is|are|was|were|by|of|to|called|following)[:.]?)[ \t]*"
    r"\n\s*[(（]?A[.:、．)）][ \t]?[^\n]{1,200}?\s[(（]?B[.:、．)）][ \t]?\S",
    re.MULTILINE,
)
_END_MARK = re.compile(
    r"<(?:\|im_(?:end|start)|\|user|\|endoftext|\|eot_id|\|start_header_id|\|end(?:_of_\w+)?|(?:start|end)_of_turn|/s"
    r"|｜[^<>]{1,40}｜)\|?>"
    r"|\[/?INST\]|<(?:User|Human)>"
)
_WIDE = str.maketrans(
    {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
    | dict.fromkeys("\u3000\u00a0\u202f\u2009", " ")
    | dict.fromkeys("‘’", "'")
    | dict.fromkeys("“”„‟«»", '"')
    | {chr(code): letter for code in range(0x1D400, 0x1D800) if (letter := normalize("NFKC", chr(code))).isascii()}
)


def blank(text: str, start: int, end: int) -> str:
    """Return `text` with [start, end) as blanks; newlines and the length stay."""
    return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]


def hide_reasoning(text: str) -> str:
    """Return `text` with its reasoning as blanks, also blocks inside the answer; one that is never closed hides all after it."""
    if MAY_REASON.isdisjoint(text):
        return text
    _, answer = split_reasoning(text)
    text = blank(text, 0, len(text) - len(answer or ""))
    for block in list(_LATER_REASONING.finditer(text)):
        text = blank(text, *block.span())
    return text


def plain(text: str) -> str:
    """Return `text` with wide and mathematical characters as plain ones and its decoration as blanks; its length stays."""
    if not text.isascii():
        text = text.translate(_WIDE)
    if _DECORATING.isdisjoint(text):
        return text
    return _DECORATION.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), _BULLET.sub("-", text))


def turns(text: str) -> Iterator[tuple[int, str]]:
    """Yield (offset, part) of a reply, cut where a base model runs on into a question that it invents."""
    found = [match.start() for match in _RUN_ON.finditer(text)]
    if "<" in text or "[" in text:
        found += [match.start() for match in _END_MARK.finditer(text)]
    cuts = [0, *sorted(place for place in found if place), len(text)]
    for start, end in pairwise(cuts):
        yield start, text[start:end]


def run_on(text: str) -> bool:
    """Return whether a reply runs on into another turn."""
    return sum(1 for _ in turns(text)) > 1


BOX = r"(?:\\f?box(?:ed)?|\x08oxed|(?<![A-Za-z\\])boxed)\s*\{"
"""The command that opens a box, also where escapes were read or lost on the way."""


def braced(text: str, command: str = BOX) -> Iterator[tuple[int, int]]:
    r"""Yield [start, end) of what the last fifty ``\boxed{…}`` hold, in order, inner after outer; unbalanced ones are left out."""
    for opened in list(re.finditer(command, text))[-50:]:
        depth = 1
        for brace in re.finditer(r"(?<!\\)(?:\\\\)*([{}])", text[opened.end() :]):
            depth += 1 if brace[1] == "{" else -1
            if not depth:
                yield opened.end(), opened.end() + brace.start(1)
                break


def boxes(text: str) -> list[tuple[int, int]]:
    r"""Return [start, end) of what each ``\boxed{…}`` holds; one that is never closed holds all after it."""
    if "box" not in text and "\x08ox" not in text:
        return []
    closed = dict(braced(text))
    return [(opened.end(), closed.get(opened.end(), len(text))) for opened in re.finditer(BOX, text)]
