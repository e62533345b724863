"""How a clause treats a label that it names: words of judgement, denial, doubt and report, data only.

Each table is read against one stretch of a clause: what stands before the label, or what stands after it. English, Chinese and
the commonest words of German, French and Spanish.
"""

from __future__ import annotations

import re

OPTION_WORD = (
    r"(?i:(?:the\s+)?(?:correct\s+|right\s+|final\s+|best\s+)?(?:answers?|options?|choices?|letters?|statements?|sentences?"
    r"|versions?|responses?|labels?|items?"
    r"|alternatives?"
    r"|opci[oó]n|proposition|opção|r[ée]ponse|antwort|respuesta)"
    r"(?:\s+(?:choice|option|letter))?)\s*|选项\s*|选择\s*|答案\s*"
)

OTHER_NAME = re.compile(
    r"(?i:\b(?:vitamins?|hepatitis|plans?|groups?|types?|class(?:es)?|figures?|fig\.?|tables?|sections?|parts?|teams?"
    r"|points?|angles?"
    r"|events?|grades?|blood|influenza|appendix|machines?|schedule"
    r"|exhibit|pumps?|vertex|side|model|phase|step|case|product"
    r"|company"
    r"|city|country|room|theory|bus|train|player|person|series"
    r"|generation|protein|factor|meiosis|prophase|variable|set|matrix"
    r"|lemma"
    r"|theorem|article|chapter|amendment|form|gate|line|bag|urn|jar|assistant|let|level|category|tier|drug|patient|sample|reagent"
    r"|substance|compound|solution|state|firm|bond|stock|fund|project|process|layer|zone|site|strain|channel|block|node|string"
    r"|key of|degrees?|vector|container|sharp|minor|major|scenario|world war|henry|charles)\s*[(\"']?\Z)"
    r"|(?i:\b(?:angle|side|point|vertex|node|corner|one) (?:at|of)\s\Z)"
    r"|(?i:\b(?:vitamin|blood type|grade|hepatitis|I am|I'm|graph"
    r"|image|language|note|chord|register|drive|range|side|analysis|distance)[\s:]+(?:is|was|of"
    r"|to)?\s*\Z)"
    r"|(?:维生素|甲型|乙型|型|组|班|图|点|角|计划|方案|车|厂|机器|血型)\Z"
)
"""A noun that makes the letter after it a name of something else."""

ASSIGNS = re.compile(
    r"(?i:\b(?:belongs (?:to|in)|falls (?:in|into|under)|classif\w+ (?:\w+ )?as|goes (?:in|into|to)|assigned to)\s+(?:the\s+)?"
    r"(?:category|class|group|type|level|grade)\s\Z)"
)
"""A label that sorts something into its class."""

REJECTS_BEFORE = re.compile(
    r"(?i:\b(?:not|n't|never|neither|nor|cannot|can't|no longer|instead of|rather than|as opposed to|unlike|than|over|without"
    r"|eliminat\w+|rul(?:e[sd]?|ing) out|exclud\w+|discard\w*|dismiss\w*|reject\w*|drop(?:s|ped|ping)?|cross(?:es|ed"
    r"|ing)? (?:out|off)"
    r"|str(?:ike|iking|uck)(?: out| off)?|scratch\w*|get rid of|throw out|knock(?:s|ed)? out|leav(?:e|es|ing) out|mov(?:ed?"
    r"|ing) away from"
    r"|wrong(?:ly)?|incorrect(?:ly)?|false|mistak\w+|mistook|confus\w+|mix(?:es|ed|ing)? up|trap|distractors?|decoy|tempt\w+"
    r"|lure\w*"
    r"|fall(?:s|ing)? for|fell for|avoid\w*|contradict\w*|worse|inferior|beats?|outperforms?|outweighs?|disagree\w*"
    r"|retract\w*|withdr\w+|against|forget|previous"
    r"|earlier|original(?:ly)?|at first|initial(?:ly)?|(?<!saying )(?<!says )so (?:is|are|does|was)|neither|nor"
    r"|was going to|were going to"
    r"|would have|query|first (?:instinct|thought|guess|impression|choice|reaction|idea|pick)"
    r"|runner-?up|second(?:-best| best| choice| place)|used to|(?-i:picking|choosing)|from"
    r"|similar to|look(?:ing|ed)? at|consider(?:s|ed|ing)?|examin\w+|check(?:s|ed|ing)?|test(?:s|ed|ing)?|start(?:s|ed|ing)? with"
    r"|turn(?:s|ed|ing)? to"
    r"|analysis|(?:choice|question|graph|value|case) of|about|regarding|as for|compar\w+|versus|vs\.?|between|among"
    r"|evaluat\w+|analy[sz]\w+|into|try|trying|tried|(?<!looks )(?<!seems )(?<!sounds )(?<!feels )like"
    r"|nicht|kein\w*|statt|ausschlie\w+|falsch|ne|pas|sauf|[ée]limin\w+|faux|no es|descart\w+|incorrect[ao])\b[^,;]{0,60}\Z)"
    r"|n't\b[^,;]{0,60}\Z|(?:不是|不能?选|不应|不该|并非|而非|而不|不取|排除|误选|误以为|错选|错认"
    r"|混淆|除了?|剔除|不同于|[甲乙丙丁]说|不像|比|收回|没有|很难|难以|未必|不一定|不能|人选"
    r"|先看|再看|来看|看看|分析|考虑|关于|首先|起初|一开始|原先|想到)[^,;。]{0,12}\Z"
)
"""Words before a label that turn it down, hold it up for comparison or only look at it."""

DENIES = re.compile(
    r"(?i:\b(?:n't|not|never|doubt\w*|neither|nor|nobody|none|unclear whether|hard to (?:say|see))\b[^,;.]*\Z)|n't\b[^,;.]*\Z"
    r"|(?:很难|难说|不能|未必|不一定|不认为|不是|并非|无法)[^,;。]*\Z"
)
"""A denial of what a clause says of its subject."""

DENIES_SUBJECT = re.compile(
    r"(?i:\b(?:(?:is|was|be|are) (?:not|never)|(?:isn|wasn|aren|can)'t(?: be)?|cannot be|(?:wrong|incorrect|false|bad|worst"
    r"|tempting|common) (?:answer|choice|pick|guess)|trap(?: answer| option| choice)?"
    r"|distractor|decoy|runner-?up|second(?:-best| best| choice| place)?|previous|earlier|original(?:ly)?|at first"
    r"|initial(?:ly)?|next(?:,)? (?:option|choice|is)|first (?:option|choice|statement|one|instinct|thought|guess|impression"
    r"|reaction|idea|pick)"
    r"|last (?:option|choice|statement)|not)\s*(?:the|is|was|would be|are|\s)*(?:option|choice)?[\s(\"']*\Z)|(?:n't"
    r"|not) (?:\w+ )?(?:think|believe|say|suppose|agree"
    r"|expect)\b[^,;]*\Z|(?i:\b(?:(?<!saying )(?<!says )so|neither|nor) (?:is|are|was)\s*\Z)|(?:不是|并非|不可能|不能"
    r"|不应该?"
    r"|不该|应该不|不要|而非|而不|未必|误|错|不|人)(?:是|选|取|填|为)?(?:选项)?[^,;。]{0,2}\Z"
)
"""A copula's subject, or the copula itself, that turns the label after it down."""

REJECTS_AFTER = re.compile(
    r"(?i:^[^\w]*(?:(?:is|are|was|were|be|would be|seems?|looks?|must be|can be|could be|gets?|also|both|all|clearly"
    r"|obviously|simply|just|then"
    r"|therefore|being|itself|has to be|have to be|too)\s+)*(?:not|n't|wrong|incorrect|false|out\b|worse|weaker|half"
    r"|eliminated|ruled out|excluded|discarded|dismissed"
    r"|rejected|crossed|impossible|distract\w+|too|off\b|invalid|untrue|irrelevant|unrelated|mistaken|inaccurate|unlikely"
    r"|implausible"
    r"|doubtful|unclear|tempting|a (?:trap|distractor|decoy|mistake|typo)|in error|the (?:wrong|opposite|reverse)|another"
    r"|a different|only (?:partly|half|partially)"
    r"|never|cannot|can't|fails?|falls?|misses|misstate\w*|ignores?|lacks?|contradicts?|confuses?|confused|mix(?:es)?"
    r"|reverses?|overstates?"
    r"|goes too far|violates?|omits?|overlooks?|doesn't|don't|didn't|does not|do not|did not|has nothing|have nothing|isn't"
    r"|aren't|wasn't|weren't"
    r"|wouldn't|won't|no longer|can go|drops? out|nicht|falsch|sind falsch|ist falsch|est fausse?|est faux|n'est|no es"
    r"|tombent|fallen|es incorrect)\b)"
    r"|^[^\w]*(?:\w+\s+){1,3}(?:n't|not)\b|^\s*(?:isn|doesn|don|can|won|wasn|aren|didn)'t"
    r"|^[^。;]{0,24}?(?:错误|有误|错|間違|不对|不符|不正确|不成立|不当|不合|不可|不能|不是|不一定|不属"
    r"|不妥|不构成|误[导解]|排除|矛盾|相反|片面|偷换|混淆|无关|×|✗|✘|❌)"
    r"|^[】」)]*は[^。]*(?:ません|ない|違|誤)"
    r"|^\W*(?:×|✗|✘|❌)"
)
"""What follows a label that is turned down."""

_MORE = (
    r"(?:better|stronger|more|most|least|(?!rest|test|west|interest|forest|guest|quest|request|harvest|protest|honest"
    r"|modest)\w{2,}est)\b"
)
_TITLE = r"^\s*[).:]\s*(?:[\"][^\"]{1,80}[\"]|[^.;,\n]{1,80}?)\s*,?\s+"
FAVOURS_AFTER = re.compile(
    r"^[).:]\s[^\n]{1,80}[:,–—-]\s*(?i:yes|correct|right|true)\W*\Z|"
    r"(?i:^[\s)\]]*[a-z]+s\s+[^.;,\n]{0,60}\b(?:accurately|correctly|perfectly|exactly|best)\b)|"
    r"(?i:^\s+(?:choice|option|answer|one)\s+(?:is|must be|seems)\s+(?:the\s+|clearly\s+)*(?:right|correct|best|only|answer))|"
    rf"(?i:^[\s)\]]*(?:is|are|has|was|seems|looks|gives|describes|covers|captures|offers|fits)\s+(?:the\s+|by far\s+|a bit\s+"
    rf"|slightly\s+|much\s+)*{_MORE})|"
    rf"(?i:{_TITLE}(?:is|was|are|must be|remains)\s+(?:\w+\s+){{0,2}}?(?:what(?! (?:most|many|some|people|students"
    rf"|everyone))|correct|right|the (?:right|correct|best|only"
    rf"|one|answer|option|choice))\b)|"
    r"^[】」)\s]*(?:だけ|のみ|が正|が最|です|である|입니다|이다)|"
    r"^[\s)\]\"']*it (?:is|must be|has to be)\b|"
    r"(?i:^[\s)\]\"'.,:;—–-]*(?:\([^()]{0,60}\)\s*)?(?:(?:alone|beats|outperforms|clearly|really|indeed|then|therefore|still"
    r"|also|just"
    r"|probably|definitely|certainly|surely|itself|here"
    r"|thus|obviously|actually|easily|only)\s+)*"
    r"(?:(?:(?:is|was|are|being|must be|has to be|should be|seems?(?: to be)?|sounds|feels|appears?(?: to be)?"
    r"|looks?(?: to be)?|would be"
    r"|becomes|makes?|gives?|offers|provides|remains)\s+)"
    r"(?:\w+ly\s+|still\s+|indeed\s+|thus\s+|therefore\s+|by far\s+|then\s+|in fact\s+|also\s+|most\s+|quite\s+|a\s+|the\s+"
    r"|our\s+|your\s+|my\s+|final\s+|more\s+|only\s+){0,4}"
    r"(?:correct|right(?! (?:angle|triangle|side|hand))|true(?! (?:about|of|for))|best|better|good|strong\w*|fit\w*|one"
    r"|answer|choice|option|winner|match\w*|solution|response|pick|safest|only|odd|exception|sense|ideal"
    r"|likely|likeliest|accurate|appropriate|suitable|valid|preferable|convincing|plausible|closest|supported|consistent"
    r"|proper|key|needed|required|what(?! (?:most|many|some|people|students|everyone))|where|left"
    r"|logical|backed|confirmed|justified|indicated|implied|suggested|sound|accepted|defensible|precise|complete|faithful"
    r"|chosen|intended|credited)"
    r"|(?:alone|beats|outperforms|wins?|survives?|remains?|stands?|rings true|does the job|holds?|works?|follows|prevails"
    r"|checks out|applies|stays"
    r"|best|correctly"
    r"|captures? it|makes? (?:the most |more |most |perfect )?sense"
    r"|fits?|matches|match|satisf(?:y|ies)|agrees|corresponds|comes out|answers the question|accounts for|nails it|edges"
    r"|qualifies|is (?:the way to go|fine|ok"
    r"|okay|spot on|it)|richtig|stimmt(?! nicht)|passt(?! nicht)|trifft zu|ist (?:die )?(?:richtige?|zutreffend|korrekt)"
    r"|(?:qui )?convient(?! pas)"
    r"|est (?:la )?(?:bonne|juste|exacte?|vraie?)|es (?:la )?(?:adecuada|verdadera)|encaja|for me|has my|of course|(?:has"
    r"|needs|ought) to be (?:chosen|selected|picked|ticked|marked|the)"
    r"|should be (?:chosen|selected|picked|marked)|gets my|(?:obviously|clearly|definitely|certainly)(?=\W*\Z)"
    r"|does(?!\s+not|n't)|lists|reads|ist richtig|est correcte?"
    r"|es (?:la )?correct\w*)\b"
    r"|correct\b|right\b|yes\b|true\b|✓|✔|✅|√))"
    r"|^[\s)\]:,.]*(?:选?项)?\s*(?:[\"“][^\"”]{0,40}[\"”])?(?:是|就是|则|才"
    r"|才是|最|更|均|都|显然|应|为|无疑|的说法|的表述|说法|表述){0,3}\s*"
    r"(?:正确|对(?!应|于)|符合|当选|合适|恰当|贴合|准确|忠实|成立|没错|无误|入选|√|✓|才|吻合|相符|满足|吧"
    r"|了[。!]?$|最佳|更|最|答案|正解)|^\W*(?:√|✓|✔|✅)"
)
"""What follows a label that is upheld."""

ONLY_BEFORE = re.compile(
    r"(?i:\b(?:only|just|solely|leav(?:es|ing)|left with|nothing (?:but|except)|none (?:but|except)|no (?:one|option"
    r"|answer) (?:but|except)|remaining|remains|making|makes?"
    r"|so)\s+(?:us\s+)?(?:with\s+)?(?:only\s+|just\s+)?(?:the\s+)?(?:option|choice|answer|letter)?\s*[(\"]?\Z)"
    r"|(?:只有|唯有|仅有?|唯一|只能是|只剩下?|剩下?|还剩)(?:选项)?\s*[(]?\Z"
)
"""Words that single a label out."""

CHOOSES = re.compile(
    r"(?i:\b(?:settl\w+|go|going|pick\w*|choos\w+|select\w*|say|opt|opted|decid\w+|conclud\w+|stick\w*|lean\w*|leav\w+"
    r"|prefer\w*|take|taking|labell?ed|marked|called)\b)"
)
LOOKS_AT = re.compile(
    r"(?i:\A(?:look|consider|examin|check|compar|evaluat|analy|eliminat|rul|exclud|test|try|tried|(?:choice|question|graph"
    r"|value|case) of))"
)
"""Words of `REJECTS_BEFORE` that a later verb of choice overrides."""

REPORTS = re.compile(
    r"(?i:\b(?:some(?:one|body)?|(?<!the )others?|people|everyone|everybody|anyone|students?|candidates|many|most (?:people"
    r"|students"
    r"|candidates|test|would)|they|he|she"
    r"|according to (?:the|my|your) (?:\w+ )?key|textbook|manual|book|teacher|friend|brother|sister|colleague|professor"
    r"|forum|website|internet|user|you (?:may|might"
    r"|could|would|said|say|wrote|chose|picked|answered)"
    r"|readers?|(?<!the )(?<!these )claims|claimed|swears?|(?<!I'd )(?<!would )(?<!I )argue[sd]?|(?<!that )(?<!which )says"
    r"|said|told|thinks"
    r"|your (?:answer|choice|guess)|(?:one"
    r"|you) (?:may|might|could))\b)"
    r"|很多人|有人|有些|同学|网上|别人|大家|有的|小[明红华刚]|老师|朋友|常见|易(?:错|误)"
)
SUPPOSES = re.compile(
    r"(?i:^\W*(?:(?:and|but|then|or|also|note\W+)\s+)*(?:(?:if|unless)(?! (?:I|we|you|forced|pressed|anything)\b)|whether"
    r"|suppos\w+|assum\w+|had\b|were\b|in case|under (?:the|this|that)|should (?:the|it)|when(?:ever)?\b"
    r"|depending|otherwise|provided|wenn|falls|si\b|sofern)\b)|\b(?:if|unless|whether|depends on|depending on|had (?:the|it"
    r"|we|they|been))\b(?! (?:I|we) (?:had|have|must|absolutely|really))"
    r"|^\W*(?:如果|若|假如|假设|倘若|要是|否则)|是否"
)
UNDECIDED = re.compile(
    r"(?i:\b(?:either|toss-?up|coin|torn|can't (?:decide|tell|say|choose|pick)|cannot (?:decide|tell|say|choose"
    r"|be (?:decided|determined))|undecided|not sure (?:which|whether)"
    r"|between|sowohl|entweder|kommen infrage|tous les deux|depende"
    r"|ambos|one of)\b)|都有可能|都说得通|还是|都可以|两个都|都行|无法(?:判断|确定|回答|选"
    r"|给出|得出)|没有给出"
)
MAYBE = re.compile(
    r"(?i:\b(?:maybe|perhaps|(?:could|might|may) (?:also |well |just as well )?be|any of|[A-Z][a-z]+ (?:chose|picked|said"
    r"|answered|selected|wrote)"
    r"|(?:un)?clear (?:if|whether))\b)|可能|也许|或许"
)
"""A guess that commits to nothing."""

GIVES_UP = re.compile(
    r"(?i:\b(?:give up|no idea|back and forth|stuck|lost here|(?:cannot|can't|couldn't|could not|unable to|not able to"
    r"|impossible to) (?:\w+ ){0,3}?(?:tell|say|answer|decide|determin\w+|choose|pick|help|settle|know|work out|identify"
    r"|match|judge|verify|narrow|be (?:\w+ )?(?:determined|decided|settled|answered)|single (?:\w+ )?out)"
    r"|no longer (?:sure|think|believe)|(?:don't|do not) (?:know|have (?:enough|access|the))|not (?:enough|sufficient)"
    r"|insufficient|(?:need|require)s? (?:more|a|the|to see) \w+ (?:to|before)|please (?:provide|tell|clarify|share|specify"
    r"|paste|send)"
    r"|could you (?:please )?(?:tell|provide|paste|share|clarify|specify)|which (?:edition|one|sense) (?:you|do you)"
    r"|(?:shall|should) I (?:go|proceed|continue)|none of (?:these|them|those|the (?!above))|no (?:correct|single"
    r"|right) (?:answer|option)"
    r"|isn't listed|not (?:listed|among|in the list)|doesn't say|either way|(?:does|do)(?:n't| not) (?:give|say|specify"
    r"|state|tell|mention|provide)|not specified|too vague)\b)|无法(?:判断"
    r"|确定|回答|作答|给出|选)|不能确定|不确定|说不准|分不出|选不出|拿不定|难以取舍|不知道|不清楚|请(?:补充|提供)"
    r"|没有(?:找到|给出|提供)|未说明|还得再|都不正确|均不正确|题意不明|不能回答|ne peux pas|puis pas"
    r"|lässt sich (?:das )?nicht|no puedo"
)
"""Saying that there is no answer, or none yet."""

COPULA = re.compile(
    r"(?i:\b(?:is|are|was|be|being|becomes|would make it|it's|that's|ist|lautet|est|es|sera|sería|reste|bleibt|queda"
    r"|é)\b\s*(?:the\s+|la\s+|el\s+|die\s+|le\s+)?)(?:"
    + OPTION_WORD
    + r")?[\s(\"'\[]*\Z|(?:是|为|选|填|就|即|取)(?:选项)?[\s(\"'\[「【]*\Z"
)
"""A verb whose complement is the label."""

UNSETTLED = re.compile(
    r"都有可能|都说得通|都可以|两个都|(?i:\b(?:both|either) (?:are|is|would be|seem"
    r"|could be)\s+(?:\w+\s)?(?:possible|plausible|defensible"
    r"|acceptable|fine|legitimate))"
)
"""After two answers: neither is preferred."""

REMEMBERS = re.compile(
    r"(?i:\b(?:at first(?! (?:glance|sight))|initially|originally|earlier|my first"
    r"|first thought|(?<!if )I had(?! to\b)|used to|was going to)\b)|起初|一开始|原先|首先想到|先前"
)
"""What was thought before."""

CONCEDES = re.compile(r"(?i:^\W*(?:al|even )?though\b[^,;]*\Z|^\W*while\b[^,;]*\Z)")
"""What is granted before the point is made."""

TURNS_TO = re.compile(r"(?i:^\W*(?:next|first|now|second|third|start|consider|look|see)\b)|^\W*(?:先|再|首先|其次)")
"""The next thing to look at."""

POINTS = re.compile(
    r"(?i:\b(?:lines? up|belongs|falls|classif\w+|goes (?:in|into)|agrees?|next to|land\w*|points?|leads?|arrives?"
    r"|coincid\w+|gets?|get|not|as in|confident in|money|bet|based on|support\w*|favou?rs?|prefer\w*|except|choosing"
    r"|given (?:in|by)"
    r"|stated (?:in|by)|offered (?:in|by)|found in)\b)|(?:" + OPTION_WORD + r")[\s(\"']*\Z|[(,]\s*\Z"
    r"|(?i:\b(?:probably|presumably|surely|certainly|definitely|clearly|obviously|actually|rather)\s+[(]?\Z)"
)
"""What a sentence needs at least to point to a label: a word for it, a verb that leads to it, or a bracket round it."""

CONCLUDES = re.compile(
    r"(?i:\b(?:so|therefore|thus|hence|consequently|accordingly|overall|on balance|in (?:conclusion|summary|short|the end"
    r"|sum)|to (?:conclude|sum up)|finally|final(?:ly)?|ultimately|then|means|which is|that's|that is|must be"
    r"|settle|go(?:ing)? (?:with|for)|pick|choose|select|submit|answer|verdict|conclusion|decision|vote|bet|guess|lean\w*"
    r"|stick\w*|mark|tick|circle|circling|enter|(?:look|seem|sound|feel)s? like|me quedo|opte|il faut|convient|hand\w* in"
    r"|lock\w* in|put\w* (?:me )?down|leaves?|leaving|remains?|left|only"
    r"|correct|right|best|match\w*|fits?|correspond\w*|also|donc|also|daher|luego|je choisis|il reste|bleibt|queda)\b)"
    r"|∴|→|⇒|=>|->|所以|因此|故|综上|可见|应|选|填|答|只剩|只有|对应|就是|便是|那就|最终|改|定为|才"
)
"""Words of a sentence that comes to a conclusion."""
