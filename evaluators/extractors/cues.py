"""How replies state their answer among options: tables of patterns, data only.

In a pattern ``<LIST>`` is one label or several, ``<L>`` a single one, ``<GAP>`` what may stand before it. Words match in any
case; a label that could be a word ("A", "I", any small letter) counts only where its neighbours show that it is none.
"""

from __future__ import annotations

import re

from evaluators.extractors.text import BOX

_HAN = r"\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
_ENDS = r"\s*(?:\Z|[\n.,;:!?)\]}{<\"'、。—–&/-]|(?i:because|since|due|which)|(?<=\s)\(|" + f"[{_HAN}])"
_JOINS = r"\s+(?i:and|or|but|as|is|are|the (?:answer|correct|right|best))\b"

GAP = (
    r"[\s\"'「【(\[{<:=>→—–-]*+(?:(?i:definitely|clearly|actually|indeed|therefore|thus|(?:most )?likely|probably|still|simply"
    r"|just|both|all|only|the)\b[\s:]*)*"
)
_WORD = (
    r"(?:(?i:(?:the )?(?:correct |right |final )?(?:options?|choices?|letters?|answers?|statements?)\b|(?:number"
    r"|answer) (?=choice|option))[\s:]{0,4}"
    r"|选项|选){0,2}"
)
_BE = (
    r"(?:(?:is|are|was|(?:will|would|should|must|has to|ought to|would have to)(?: \w+)? be|(?:is|are) (?:(?:\w+ )?likely"
    r"|going) to be"
    r"|seems to be|appears to be|remains|becomes|being)\b(?!n't)(?:\s*:)?"
    r"|[\"']?\s*(?::|=>?|->|→|⇒|—|–|-(?=\s)))"
)


def letter(options: str) -> str:
    """Return a pattern for one label that is no word and no part of one."""
    weak = "".join(o for o in options if o in "AI") + "".join(o.lower() for o in options if o.lower() not in options)
    weak += "".join(o for o in options if o.islower())
    strong = "".join(o for o in options if o not in weak)
    han = f"|[{_HAN}]" if re.search(f"[{_HAN}]", options) else ""
    edge = rf"(?![A-Za-z0-9_]|'[A-Za-z]|[+#^]|-[A-Za-z0-9]|\.\s?[A-Za-z]\.|\.[0-9]|\s*=\s*\S|:\\{han})"
    joined = f"(?:{_ENDS}|(?<!I){_JOINS})"
    kinds = [f"[{re.escape(strong)}]{edge}"] if strong else []
    kinds += [f"[{re.escape(weak)}]{edge}(?={joined})"] if weak else []
    return rf"(?<![A-Za-z0-9_])(?<![A-Za-z]')(?:{'|'.join(kinds)})"


def listed(label: str, options: str, lead: bool = True) -> str:
    """Return a pattern, group ``list``, for one label or several, joined by commas, slashes or words, or written as one word.

    Without `lead` it starts at the first label, which is faster where nothing stands before it.
    """
    closed = rf"{label}(?:\s{{0,3}}+[)\]}}\"'」】]{{1,4}})?"
    item = rf"{_WORD}[(\[{{\"'「【]{{0,4}}+\s{{0,3}}+{closed}"
    verbs = r"(?!\s*(?i:(?:is|was|isn't|wasn't|would|does|doesn't|fails|has|can|cannot|could|seems|says|refers|describes)\b))"
    joint = r"(?>(?:\s{0,20}(?:,(?!\s*[A-Z]、)|[/;&+、{}]|(?i:and|or|as well as)\b|[和与及或])){1,3}\s{0,20})"
    ordered = "".join(f"{re.escape(option)}?" for option in options)
    word = rf"(?<![A-Za-z0-9_])(?=[{re.escape(options)}]{{2}}){ordered}(?![A-Za-z0-9_])"
    return rf"(?P<list>{item if lead else closed}(?:{joint}{item}{verbs}){{0,{len(options)}}}|{word})"


_NOT_BUT = (
    r"(?:\b(?:is|was)(?:n't|\s+not)\s+[^.;\n]{1,30}?[,;.]?\s*(?:but"
    r"|rather|instead|it is|it's)(?:\s+(?:rather|instead|actually))?)"
)
_ABOUT = (
    r"(?:\s*\([^()\n]{0,40}\)|\s+(?:that|which|to|for|of|here|among|in)\b[^.\n:;]{0,80}?|,[^,.\n]{1,60},"
    r"|\s+(?:I|we)\s+(?:\w+\s+){0,2}?\w+(?=\s+(?:is|was)\b))?"
)
_ANSWER = (
    r"(?<![A-Za-z])(?:answers?|ans\.?|choice|pick|guess|selection|verdict|response)(?:_?(?:letter|choice|option))?"
    rf"{_ABOUT}(?:\s++(?:choice|option|letter))?\s*+"
)
_FITTING = (
    r"\b(?:correct|right|best|true|appropriate|suitable|proper|accurate|final|chosen|selected|valid|only|closest"
    r"|required|desired|intended|most \w+)"
)
_NOUN = (
    r"(?:options?|statements?|letters?|ones?|alternatives?|items?|descriptions?|explanation|completion|interpretation|match"
    r"|inference|conclusion"
    r"|term|word|sentence|value)"
)
_SEEM = (
    r"\b(?:is|are|was|must be|has to be|should be|seems?(?: to be)?|appears?(?: to be)?|looks(?: to be)?(?: like)?|becomes"
    r"|remains)"
)
_FOREIGN = (
    r"(?:(?:r[ée]ponse|respuesta|risposta|resposta|antwort|lösung|ответ|jawaban|opci[oó]n|alternativa|opzione"
    r"|вариант)(?:\s+\w+)?\s*"
    r"(?:\b(?:est|es|è|é|ist|lautet|wäre|sera|serait|sería|adalah)\b|:|[—–-]\s)|(?:正解|答え)(?:は|:)|(?:정답|답)(?:은|:))"
    r"(?:\s*(?:(?:la|el|le|der|die|das|a|o|il)\s+|l')?(?:opci[oó]n"
    r"|letra|lettre|lettera|option|r[ée]ponse|opção|alternativa"
    r"|opzione"
    r"|buchstabe|вариант)?(?=[\s(\[\"'].))?(?:\s*(?:la|el|le|die|a|o)(?=\s))?"
)

VERDICTS = (
    rf"(?i:{_ANSWER}{_BE})<GAP><LIST>",
    rf"(?i:{_ANSWER}{_BE}(?:(?!\bnot\b|n't)[^.\n;:(\[]){{1,60}}\s)[(\[](?i:option |choice )?(?P<list><L>)[)\]](?=\s*(?:[.,\n]"
    rf"|\Z))",
    rf"(?i:{_ANSWER}{_NOT_BUT})<GAP><LIST>",
    rf"(?i:{_FITTING}\s+(?:\w+\s+)?{_NOUN}{_ABOUT}\s*{_BE})<GAP><LIST>",
    rf"(?i:{_FOREIGN})<GAP><LIST>",
    r"(?i:^[^\w\n]*+(?:final\s+|correct\s+)?(?:answer|choice|verdict|conclusion"
    r"|decision)[^\w\n]*+\n[^\w(\[]*+)<LIST>(?=[^\w\n]*(?:\n|\Z)|[).:]|\s+[—–(-])",
    r"^[ \t]*A:[ \t]*<LIST>(?=[\s.]*(?:\n|\Z))",
    r"(?:^|[.!?]\s)[^\w\n]*+(?i:(?:so|thus|hence|then|therefore|no|yes)\b[\s,.:]*)?(?i:it(?:'s| is| must be)\s+)"
    r"(?:(?i:not|n't)\s+[^.;:\n]{1,30}?,?\s+(?i:but|it's|it is)\s+)?(?i:rather |option |choice )?\(?<LIST>(?=\)?\s*:\s+\w)",
    BOX + r"[\s{(\[]{0,9}<LIST>[\s)\]}]*(?:[.):,][^\n]*?)?\}",
    r"(?i:<(?:final_?|correct_?)?(?:answer|choice|option|ans|letter|final|result|response|solution|output|verdict)>)<GAP><LIST>",
    r"(?i:[\"'](?:final_|correct_|selected_|best_|predicted_)?(?:答案|选项|选择|answer|choice|option|selection|prediction"
    r"|letter|final|best|pick|result|label|verdict|response)(?:_\w+)?[\"']\s*:)[\s\[\"']*<LIST>",
    r"\[\[\s{0,3}<LIST>\s*\]\]",
    r"<LIST>(?:\s*[).:]\s*[^.,;\n]{0,60}?|,|,?\s+(?:not|rather than|instead of|unlike)\s[^.,;\n]{1,40},)?\s*"
    rf"(?i:{_SEEM}\s+(?:(?!not\b)\w+\s+){{0,2}}?(?:the\s+(?:only\s+|most\s+)?(?:\w+\s+)?|(?:only\s+|most\s+)?(?:correct|right"
    rf"|best|appropriate|accurate|suitable)\s+)"
    r"(?:answers?|options?|choices?|response|match|one|translation|sentence|version|reading)\b)",
    r"(?i:\bmak(?:es?|ing)\s+)<LIST>\s*(?i:the\s+(?:only\s+)?(?:answer|choice|correct|right|best|most))",
    r"(?i:(?:\b(?:I|we|let's|let me|I'd|we'd|im)(?:'ll|'d|'m|\s+(?:will|would|should|must|shall|can|have|therefore|thus"
    r"|have to|am"
    r"|are going to|going to))*\s+|(?:^|[.!?;,]\s)[^\w\n]*+(?:(?:so|ok|okay|lol|well|then|alright|hm+|yeah"
    r"|and)\b[\s,.:]*)?(?!(?:pick|choos|select|answer|favou?r|prefer)ing\b))"
    r"(?:choose|choosing|chosen?|pick|picking|prefer|favou?r|stick(?:ing)? with|stay(?:ing)? with|go(?:ing)? for|select(?:ed)?"
    r"|selecting|go with|going with|opt for|settl(?:e|ed|ing) on|vote(?: for)?|say|guess"
    r"|answer(?:ing)?(?: with)?|conclude)"
    r"\s+(?:that\s+)?(?:with\s+)?(?:it's\s+|it is\s+|for\s+)?)<GAP><LIST>(?!\s*(?:,|\bor\b)\s*(?i:[A-Z]\b))",
    r"(?:答案|我的选择|我的回答)(?:选项)?(?:应该|应当|应|就|也|只能|最终)*(?:是|为|选择?|:|】|\]|(?=[(\[【]))<GAP><LIST>",
    r"(?:答案|^[ \t]*答[ \t]*:)\s*<LIST>",
    r"答案(?:不|并不|并非)是?[^,。\n]{1,12},?\s*而是<GAP><LIST>",
    r"(?:正确|最佳|合适|恰当|错误|题意|要求|不当|相符)的?(?:选项|答案|选择|说法|一项|一个|项)?(?:应该|应)?(?:是|为|:)<GAP><LIST>",
    r"(?<!不)(?:故|因此|所以|应|应该|应当|本题|此题|综上|我|我会|只能|最终|答案)[,，]?\s*(?:答案)?(?:我)?(?:应该"
    r"|应)?选择?(?!项)<GAP><LIST>",
    r"(?<![不非勿没误多能人])选择?(?!项)<GAP><LIST>",
    r"只有<GAP><LIST>\s*(?:选项|项)?\s*(?:是|才是|才)?\s*(?:正确|对|符合|成立)",
)
"""Forms of words and marks that state the answer; the last one counts."""

ALONE = rf"[^\w?]*+(?:\d+\s?[.):]\s?)?(?:(?i:the )?{_WORD}(?i:is\b)?|(?:应该)?是)<GAP><LIST>(?:选项|项)?吧?[^\w?:]*"
"""A reply that is nothing but labels."""

WORDS = r"(?i:\b(?:options?|choices?|letters?|answers?|statements?|and|or|the|as well as|correct|right|final)\b)"
"""Words inside a list that are no labels."""

OPEN = re.compile(r"(?i:\bor\b)|[/或]")
"""A list that leaves open which."""

ENUMERATED = re.compile(r"(?:(?<=\s)|(?<=^))\(?[A-Z][.):](?=\s)", re.MULTILINE)
"""An option as questions list them."""

LED = re.compile(
    r"(?:\A|[^\w\s]|\n|[一-鿿]|\b(?i:options?|choices?|answers?|letters?|statements?|only|that|so|and|but|then|thus|therefore"
    r"|hence|because|since"
    r"|sentence|candidate|version|response|translation|reading|interpretation|hypothesis|conclusion|prefer"
    r"|both|think|believe|conclude|say|is|are|while|as|or|of|which|makes?|making|however|clearly|likely|probably|verify"
    r"|the))\s*[(\[\"']*\Z"
)
"""What may stand before a label that begins a statement; after another noun it is that noun's name ("vitamin D is …")."""
