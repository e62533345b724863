"""How much speaks for a number being what its sentence states: a table of weights, and their sum.

Every number of a sentence gets the weights of `BEFORE` and `AFTER` whose pattern fits what stands round it; the heaviest number is
what the sentence states, the last of equals. The weights are set by hand and small on purpose: what matters is their order.
"""

from __future__ import annotations

import re

_MEASURES = re.findall(
    r"\w+",
    "total sum average area number value speed cost amount length price sample volume mean ratio rate profit increase "
    "decrease drop rise change gain loss difference product maximum minimum distance probability chance percentage angle "
    "age weight height width radius perimeter score salary duration temperature ",
)
_LENGTH = r"(?:[cmk]?m|in|ft|feet|inches|meters?|metres?|units?|yards?)"
_LEAD = (
    r"(?:\s+(?i:exactly|about|only|just|approximately|roughly|around|nearly|him|her|them|us|me|with|you|a|an|total|of|now"
    r"|still|then|thus|therefore|donc|alors|ainsi|somit|also|entonces|de|up|another|down|out|at|to|simply))*"
)
BEFORE: tuple[tuple[str, int, re.Pattern[str]], ...] = (
    ("end of an equation", 5, re.compile(r"(?:[=≈≃→⇒]|->|=>)\s*[$€£¥₹≈~({]*\s*(?:(?i:about|approximately|roughly)\s*)?\Z")),
    (
        "object of a verb of result",
        2,
        re.compile(
            rf"(?i:\b(?:is|are|was|were|be|'s|equals?|equal to|gives?|gets?"
            rf"|getting|got|makes?|leaves?|leaving|left|totals?|comes?"
            rf"|comes (?:out )?to|amounts?|adds up|costs?|pays?|needs?|takes?|earns?|spends?|saves?|becomes?"
            rf"|remains?|yields?|obtain"
            rf"|keep"
            rf"|find|reach(?:es)?|works out|stands|settles|(?:went up|went down|rose|fell|increased|decreased|dropped"
            rf"|grew|rises|falls) by|end up"
            rf"|arrive"
            rf"|agree on|down|up|short by|has|have|owns?|ist|sind|beträgt"
            rf"|kostet|bleiben|est|sont|reste|es|son|quedan|zahlt|braucht){_LEAD}\s*[$€£¥₹]?\s*\Z)"
        ),
    ),
    (
        "Chinese verb of result",
        2,
        re.compile(
            r"(?:是|为|[一-鿿]了|[分变达提降增减][成为到至]|得到?|共|需要?|剩下?|有|等于|约|花了?|付了?|付款|即"
            r"|还|要|用了?|填|找回?|合计|总计|达到?|才|取|达|到|就是)\s*(?:大?约"
            r"|了)?\s*[€£¥₹$]?\s*\Z"
        ),
    ),
    ("after a colon", 1, re.compile(r"[:：]\s*[$€£¥₹≈~]*\s*\Z")),
    (
        "given beforehand",
        -8,
        re.compile(
            r"(?i:\b(?:for|with|at|when|if|where|given|in|substitut\w+|plug(?:ging)?|insert\w*|setting|let|using|taking"
            r"|put(?:ting)?)\s+[a-z]\w?\s*=\s*[$]?\Z)"
        ),
    ),
    ("compared in Chinese", -2, re.compile(r"比[^,，。]*\Z")),
    ("upper end", -1, re.compile(r"(?i:\bfrom\b[^.;]{1,15}\bto\s+[$€£]?\Z)")),
    ("hedged", -6, re.compile(r"(?i:\b(?:might|may|could|maybe|perhaps)\b[^.;,]{0,20}\Z)|可能[^,。]{0,6}\Z")),
    ("ordinal of several", -3, re.compile(r"(?i:\b(?:first|last|next|previous)\s+\Z)")),
    (
        "whole of a part",
        -4,
        re.compile(
            r"\d\s+(?:[a-z]+\s+)?(?:of|out of)\s+(?:(?:the|her|his|their|its|these|all)\s+(?:[a-z]+\s+)?)?\Z"
            r"|\d more\b[^.;,]*\bto (?:reach|get|get to|make|have)\s+\Z"
        ),
    ),
    (
        "denied",
        -5,
        re.compile(
            r"(?i:(?:\b(?:not|never|neither|nor|rather than|instead of|cannot be|unlike|versus|vs\.?)\b"
            r"|n't\b)(?:(?!\bbut\b)[^,;.]){0,20}\Z)|(?:不是|并非|而非|而不是|不等于|不可能|不能)[^,。]{0,8}\Z"
        ),
    ),
    (
        "index",
        -6,
        re.compile(
            r"(?i:\b(?:steps?|equations?|parts?|cases?|questions?|problems?"
            r"|examples?|chapter|figure|table|option|method|line|round"
            r"|grade|section|theorem|lemma|page|http|error(?: code)?|code|day|week"
            r"|(?<!per )year|no\.|number|item|type)\s*#?\s*\Z)|第\s*\Z"
            r"|(?<=\w)\[\Z|[.,]\[\Z"
        ),
    ),
    ("name", -1, re.compile(r"(?<=[\w,;] )(?!Total|Answer|Result|Sum|USD|EUR|GBP|Rs|RM|CHF)[A-Z][a-z]+\s\Z")),
    (
        "date",
        -3,
        re.compile(
            r"(?:January|February|March|April|May|June|July|August|September|October|November|December)\s+(?:\d{1,2},?\s+)?\Z"
        ),
    ),
    (
        "rate",
        -5,
        re.compile(
            r"(?i:\b(?:per|every|each|(?<!no more )(?<!no less )(?<!no fewer )than|to the nearest|rounded to"
            r"|nearest)\s+[$€£]?\Z)"
            r"|每\s*\Z|/\s*\Z"
        ),
    ),
    (
        "operand",
        -6,
        re.compile(
            r"[\w)\]}%]\s*(?:[-−+*×·÷/^]|\\times|\\cdot|\\div)\s*[$€£({]*\Z|(?<=\d)\s*[x]\s*\Z|\\sqrt\s*\{?\Z|[(,]\s*\Z(?<=\w\()"
        ),
    ),
    (
        "adjunct",
        -2,
        re.compile(
            "(?i:"
            + "".join(f"(?<!{noun} )" for noun in _MEASURES)
            + r"\bof|\b(?:for|from|in|into|onto|across|against|above|below|at|after|before|by|within|without|on|until"
            r"|since|between|among|during|through|over|under|with"
            r"|für|von|mit|nach|aus|bei|pour|(?<!est )(?<!donc )(?<!es )de|avec|par|para|con|en"
            r"|to (?!get|make|give|obtain|be|find|have|yield|equal"
            r"|reach)[a-z]+))\s+(?:(?!(?:most|least|is|are|was|were|be|total|all|fact|sum"
            r"|average|get|gets|gives|makes|there|have|has|we|just|only|about|exactly|roughly"
            r"|approximately)\b)[A-Za-z']+\s+)?[€£¥₹$]?\s*\Z"
        ),
    ),
    (
        "one form more",
        -2,
        re.compile(
            r"(?i:\d[^.;]{0,25}(?<!\sand\s\d\d\sminutes,\s)(?:\bi\.\s?e\.?,?|\bthat is,?|\bin other words,?|\bequivalently,?"
            r"|\bor(?: about| roughly)?(?! \d+ in total))\s*[$€£]?\Z)|\d[^。]{0,8}(?:也就是|即)\s*\Z"
        ),
    ),
    (
        "after a reason",
        -4,
        re.compile(
            r"(?i:(?:\b(?:because|since|given that|denn|car|porque)\b|, as\b(?! (?:well|an?|the)\b))"
            r"(?:(?!\b(?:so|thus|hence|therefore)\b)[^;,])*\Z)"
            r"|因为[^,，。]*\Z"
        ),
    ),
    ("in a relative clause", -2, re.compile(r"(?i:,\s+(?:which|who) (?:is|was|are|were)\s+\Z)")),
    (
        "of somebody else",
        -3,
        re.compile(
            r"(?i:(?:\b(?:while|whereas)\b|\d[^.;]*\band (?:his|her|their|the) (?:daughter|son|sister|brother|mother"
            r"|father|friend|wife"
            r"|husband|cousin|aunt|uncle|neighbou?r|other)\b)[^.;]*\Z)"
        ),
    ),
    (
        "operand in words",
        -6,
        re.compile(
            r"(?i:\b(?:add(?:ing)?(?! up)|subtract(?:ing)?|multiply(?:ing)?|divid(?:e|ing)|deduct(?:ing)?)\s+"
            r"(?:(?!(?:get|gets|give|gives|obtain|make|makes|yields?|equals|have|find|is"
            r"|leaves)\b)[\w$]+\s+){0,9}?(?:of\s+)?(?:by\s+|from\s+|to\s+|with\s+)?[$€£]?\Z)"
        ),
    ),
    ("in brackets", -7, re.compile(r"\S\s*\([^()]*\Z")),
    ("rounded form", -6, re.compile(r"=\s*[-−]?\d+/\d+\s*≈\s*\Z")),
    ("side of a figure", -6, re.compile(rf"\d\s*(?:{_LENGTH}\s*(?:by|[x×*·+−-])|by)\s*\Z")),
    ("one of those counted", -9, re.compile(r"(?i:\bthere (?:are|were) (?:\w+ )?\d+ [a-z ]{3,40}[,:(—–-][^.;]*\b[a-z]\s*=\s*\Z)")),
    (
        "compared with",
        -4,
        re.compile(r"(?i:\b(?:twice|double|triple|thrice|half|as \w+ as)\s+(?:of\s+)?(?:[\w']+\s+){0,2}[$€£]?\Z)"),
    ),
    ("one of the parts", -3, re.compile(r"其中[^。]*\Z|(?i:\b(?:of which|including|namely)\b[^.]*\Z)")),
)
AFTER: tuple[tuple[str, int, re.Pattern[str]], ...] = (
    (
        "operand",
        -6,
        re.compile(
            r"(?!\s*[/-]\s*[a-z])\s*(?:(?:[+*×·÷^]|\\times|\\cdot|\\div)\s*[\w({\\$]|(?:[-−/]\s*|\s[-−/]\s)[\d({\\]"
            r"|\\?[%]\s*(?:of\s+[$€£]?\d|×\s|\*\s)|[a-z]\s*[-+=*]|[xyn]\b)"
        ),
    ),
    ("turned down", -5, re.compile(r"(?i:[a-z ]{0,12}\btoo (?:small|large|big|high|low|much|little|few|many)\b)")),
    ("side of a figure", -6, re.compile(rf"\s*(?:{_LENGTH}\s*)?(?:by|x|×|\*|·)\s*\d|\s*{_LENGTH}\s*[-+−]\s*\d")),
    ("squared operand", -8, re.compile(r"[²³]\s*[-+−×·*/]")),
    ("ways", 2, re.compile(r"\s+(?:different |distinct |possible )?ways\b")),
    ("bounded", -5, re.compile(r"\s*[$]?\s*(?:[<>≤≥]|\\[lg]eq?\b)\s*[$]?\d")),
    ("left of an equation", -4, re.compile(r"[\s$)}]*(?:[a-zA-Z%°²³]+\s?)?\s*=(?!=)")),
    (
        "count of steps",
        -6,
        re.compile(
            r"[ ]?(?:(?:simple |easy |main )?(?i:steps|parts|cases|stages"
            r"|decimal places?|significant|equations|unknowns|variables)\b|步|个步骤|位小数)"
        ),
    ),
    ("month", -3, re.compile(r"\s+(?:January|February|March|April|May|June|July|August|September|October|November|December)\b")),
    ("deadline", -2, re.compile(r"-(?i:hour|day|minute|week|month|year|page|seat|story|foot|point)\b")),
    ("multiple of a constant", -6, re.compile(r"\s?(?:\(\s?[a-z]\b|π|\\pi|√|\\sqrt)")),
    ("part of a compound", -2, re.compile(r"\s+(?:hours?|minutes?|feet|pounds|dollars|days|weeks|years|euros)\s+and\s+\d")),
    ("in total", 5, re.compile(r"\s*(?:[a-z]+\s+)?(?i:in total|altogether|in all|together(?! with)|combined)\b")),
    (
        "compared",
        -1,
        re.compile(
            r"\s+(?:\w+\s+)?(?i:older|younger|more|less|fewer|taller|larger|smaller|longer|shorter|greater|higher|lower|faster"
            r"|slower)\s+than\b"
        ),
    ),
    ("distance in time", -1, re.compile(r"\s+(?i:(?:minute|hour|day|week|month|year)s?\s+(?:from (?:now|today)|ago))\b")),
    ("confidence", -6, re.compile(r"\s*%\s*(?i:sure|certain|confident|confidence)\b")),
    ("clock", -5, re.compile(r"\s?(?i:a\.?m\.?|p\.?m\.?|o'clock)\b")),
    (
        "denied",
        -5,
        re.compile(
            r"(?i:[a-z ]{0,12}\b(?:would not|wouldn't|isn't|is not|wasn't|was not|doesn't|cannot|can't"
            r"|is therefore not|is (?:wrong"
            r"|incorrect"
            r"|impossible)|works? neither)\b)"
        ),
    ),
    ("Chinese operation", -7, re.compile(r"[一-鿿]{0,2}(?:加上|减去|乘以|除以|乘|除(?!了))")),
)
