"""Whether what a reply states stands, by what the reply says after it: it may be called wrong, taken back, or given up."""

from __future__ import annotations

import re

from evaluators.extractors import faults

_TURN = re.compile(
    r"(?:^(?:@it)?|[,.;:—–-]|\bi'm|\band)\s*(?:wait|no(?=[,.!:;—–-]| wait|\Z)|nope|actually|hmm+|hold on|oops|sorry"
    r"|(?:my )?apologies|correction|korrektur|corrección|correzione|correção|correctie|исправление|поправка|oh no|argh"
    r"|on (?:reflection|second thought)|moment|warte"
    r"|halt|nein|non(?=[,.!])|attende?[sz]|oups|espera|espere|perdón|não(?=[,.!])|стоп|нет|подожди(?:те)?|погоди(?:те)?)\b"
    r"|更正[:：]|等等|等一下|不[，,]|抱歉|啊[，,]|哦[，,]|いや|待って|すみません|아니|잠깐"
)
"""The writer stops short."""
_BUT = re.compile(r"(?:\b(?:but|however|aber|mais|pero|mas|но)\b)|但|しかし|하지만")
_LIMIT = re.compile(r" (?:for|with|on|in|if|when)\b")
_UPHELD = re.compile(
    r"(?:\b(?:stands?|(?:still|it|that|this|everything) (?:holds?|fits|works)|still (?:correct|right)|(?:is|was|it's|that's"
    r"|i was|yes,?)"
    r" (?:actually |indeed )?(?:fine|right|correct|ok|okay)(?!\s*\?)|(?:stick|stay|go) with (?:it|that|my)|remains? (?:the same"
    r"|unchanged"
    r"|valid)|confirmed|holds up|checks out|it is after all|stimmt doch|passt doch|c'est bien correct|es correct[oa]|всё верно))"
    r"|没错|不变|仍然?成立|还是对的|没有?问题|无误|(?<![出到])是?正确(?!的?(?:做法|答案|解法|结果|写法|代码|版本|思路|值"
    r"|方法))的?|是对的|合ってい"
)
"""It stands after all."""
_ASIDE = re.compile(
    r"(?:\b(?:if|unless|when(?:ever)?|whether|had|would|suppos\w+|assuming|someone|somebody|some|many|most|others|people"
    r"|students?|one (?:may|might|could|can)"
    r"|common|typical|often|easy|tempting|frequent|naive|trap|pitfall|beware|you|your|they|he|she|corrected|fixed|wenn|falls"
    r"|viele|manche"
    r"|würde|hätte|si|beaucoup|certains|muchos|algunos|se|muitos|если|многие|некоторые)\b)"
    r"|如果|若|假如|很多|有人|有些|同学|容易|常见|误以为|もし|多くの"
)
"""What makes a fault that of another value: a condition, or somebody else."""
_ELSEWHERE = re.compile(
    r"(?:\b(?:internet|online|web\w*|sites?|forums?|calculators?|editions?|blogs?|videos?|wikipedia|netz|elsewhere|print(?:ed)?"
    r"|handbooks?"
    r"|ligne|textbooks?|books?|lehrbuch|büchern?|livres?|libr(?:o|os|i)|livros?|интернете?|книге|учебнике)\b|网上|网络|书上|课本"
    r"|资料|旧版|别处|ネット"
    r"|인터넷)[^.!?\n]*\d"
)
"""A value that is seen in another place."""
_BEFORE = re.compile(
    r"(?:\b(?:previous|earlier|at first|initially|i (?:had |'d )?(?:first|originally|previously) (?:got|had|tried|thought|found)"
    r"|on my (?:side|end|part))\b)|之前的?(?:回答|回复)|原来的|第一次|起初|一开始"
    r"|后来|已经?(?:补|改|更正|修正)"
)
"""What makes it a fault of something else that was said before."""
_HENCE = re.compile(r"(?:\b(?:so|hence|thus|therefore|but)\b)|所以|因此|故|但")
_SUPPOSED = re.compile(
    r"^(?:@it )?(?:(?:and|of course|similarly|likewise|conversely) )*(?:had|if|were|should|with|for|wäre|hätte|wenn|bei|si|se"
    r"|если)\b"
    r"(?!.*\b(?:so|hence|thus|therefore|also|donc|quindi|portanto|значит)\b).*"
    r"(?:\b(?:isn't|is not|wasn't|was not) (?:what|asked|the question|needed|the case)|,? but\b)"
)
"""A value under another condition than the question's, and that it is not asked."""
_SO = re.compile(r"(?:\b(?:so|hence|thus|therefore|also|donc|quindi|portanto|значит)\b)|所以|因此|故")
_CONDITION = re.compile(r"(?:\b(?:if|unless|wenn|falls|si|se|если)\b)|如果|若|もし")
_SENTENCE = re.compile(r"(?:[.;!…]+(?=[\s\"')]|\Z)|[\n。；！])|(?P<asks>[?？])")
_WORDS = re.compile(r"[^\W\d_]{2}")
_MARKUP = re.compile(r"\$|\\[()\[\]]|\*\*|__|`")
_INNER, _JOINED = re.compile(r"\w|[.,]?\d"), "_.\\-"
"""What stands beside a piece of a longer word or number."""
_LONGEST = 4000
"""How many characters after a statement are read for second thoughts."""


_NOT = r"(?:does not|doesn't|did not|didn't|cannot|can't)"
_DOES_NOT_HOLD = re.compile(
    rf"(?<!\w)(?:this|that|it) (?:\w+ )?(?:contradicts|violates|fails the|{_NOT} (?:\w+ )?(?:satisfy|hold"
    rf"|check out|fit"
    rf"|match|add up)\b)"
)
_FAILS = re.compile(
    rf"(?<!\w)(?:this|that|it) (?:\w+ )?(?:fails|breaks|crashes|{_NOT} (?:\w+ )?(?:work|compile|make sense)\b)"
    rf"|@it(?: therefore| thus)? (?:isn't|is not|wasn't|{_NOT})\b"
)
"""The statement (@it where it is repeated) is refuted: said with a "but", or after the writer stopped short."""


def taken_back(after: str, stated: str = "") -> bool:
    """Return whether the text after a statement takes it back without upholding it later.

    Args:
        after: the text that follows.
        stated: what was stated; where it comes again, it counts as "it".
    """
    text = "@it " + _MARKUP.sub("", after[:_LONGEST].replace("’", "'")).lstrip(" ,)—–-").lower()
    stated = stated.strip().strip("$").lower()
    if 0 < len(stated) <= 80 and stated not in ("a", "i", "it"):
        text = _with_it(text, stated)
    back, turned, before, start = False, False, "", 0
    for cut in [*_SENTENCE.finditer(text), None]:
        sentence, asks = text[start : cut.start() if cut else len(text)].strip(), bool(cut and cut["asks"])
        start = cut.end() if cut else len(text)
        if asks or not _WORDS.search(sentence, 3):
            continue
        turn = bool(_TURN.search(sentence))
        turned = turned or turn
        back = _fault(sentence, before, turn, turned) or (back and not _UPHELD.search(sentence))
        before = sentence
    return back


def _with_it(text: str, stated: str) -> str:
    """Return `text` with "@it" where it repeats what was stated as a whole."""
    pieces, done, place = [], 0, text.find(stated)
    while place >= 0:
        end = place + len(stated)
        if not _INNER.match(text, end) and text[place - 1] not in _JOINED and not text[place - 1].isalnum():
            pieces += [text[done:place], "@it"]
            done = end
        place = text.find(stated, end)
    return "".join([*pieces, text[done:]])


def _fault(sentence: str, before: str, turn: bool, turned: bool) -> bool:
    """Return whether a sentence takes back what was stated; `before` is the sentence before it, `turned` whether doubts began."""
    back = faults.TAKEN_BACK.search(sentence) or faults.GIVEN_UP.search(sentence)
    if back and not _CONDITION.search(sentence[: back.start()]) and not _BEFORE.search(sentence):
        return True
    wrong = (
        faults.STATED_WRONG.search(sentence) or faults.STATED_WRONG_IN_EUROPE.search(sentence) or faults.OWN_SLIP.search(sentence)
    )
    if not wrong and not sentence.isascii():
        wrong = faults.STATED_WRONG_IN_ASIA.search(sentence)
    if not wrong and (turned or sentence.startswith("@it ") or _BUT.search(sentence)):
        wrong = _DOES_NOT_HOLD.search(sentence)
    if (
        not wrong
        and (turned or sentence.startswith("so "))
        and (failed := _FAILS.search(sentence))
        and (turn or not _LIMIT.match(sentence, failed.end()))
    ):
        wrong = failed
    if not wrong and turn:
        wrong = faults.SLIP.search(sentence)
    if not wrong or _BEFORE.search(sentence) or _UPHELD.search(sentence, wrong.end()):
        return False
    if _SUPPOSED.search(sentence[: wrong.end()]):
        return False
    own = _HENCE.split(sentence[: wrong.end()])[-1] if not _BUT.search(sentence) else _SO.split(sentence[: wrong.end()])[-1]
    if not turn and any(_ELSEWHERE.search(part) and "@it" not in part for part in (own, before)):
        return False
    return not _ASIDE.search(_HENCE.split(sentence[: wrong.end()])[-1]) and (turn or not _ASIDE.search(before))
