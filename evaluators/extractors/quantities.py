"""How the sentences and clauses that end a reply speak of its numbers: tables of words, data only."""

from __future__ import annotations

import re

GIVES_UP = re.compile(
    r"(?i:\b(?:cannot|can't|can not|could not|couldn't|unable to|impossible to|not possible to|not able to"
    r"|no way to)\s+(?:be\s+)?(?:\w+\s+){0,2}?"
    r"(?:determin\w*|answer|solve[d]?|say|tell|comput\w*|calculat\w*|f[io]u?nd|known|figure|give|provide|help|assist"
    r"|conclude|know|decide|share|predict|do|look|work|estimate|narrow|view|see|open|access|read)"
    r"|(?:\bnot|n't)(?: \w+)? (?:enough|sufficient|unique)\b|\b(?:insufficient|lacks?|missing|too little"
    r"|too few)\s+(?:\w+\s+){0,2}?(?:information|data|details?|values?|figures?)"
    r"|(?:don't|do not|did not|didn't) (?:know|tell|say)|\bno (?:idea|figure|numerical answer|answer|solutions?\b(?! is)"
    r"|real|such|inverse|unique)|\b(?:no longer|not) sure\b|\bsorry\b"
    r"|(?:is|are) (?:missing|unknown|not known|undefined|not defined|unclear)\b|(?:\bnot|n't|never) (?:\w+ )?(?:specif"
    r"|mention|giv"
    r"|stat|provid|told|says?|exist|work(?:ed)? (?:it|this|that) out)\w*|\bdepend(?:s|ing)? on\b|\bundefined\b"
    r"|\binfinitely many\b|\bdiverges\b"
    r"|\b(?:need|require)s? more (?:information|data|details)|\b(?:please|could you|can you) (?:clarify|specify|tell|provide"
    r"|confirm|share)|\bleaves? (?:that|it|this) open|\bleave (?:it |that |this |the rest )?to (?:you|the reader)"
    r"|\bwon't (?:estimate|answer|give)|\b(?:I'm|I am) (?:lost|stuck)|\b(?:run|ran) out of|\btry (?:it )?(?:on your own"
    r"|yourself)|\bgive up\b|\bforgot the\b|\bI can't\b|\bdoes not exist\b|your turn\b|\btry to apply|(?:would"
    r"|'d) (?:still )?need (?:the"
    r"|to know|to see|more)|both (?:satisfy|fit|work)\b|both (?:are|would be|seem) (?:possible|plausible|valid|correct"
    r"|acceptable)|without (?:further"
    r"|more|additional|any) information|(?:not|n't) (?:included|attached|shown|visible)|both (?:readings|answers"
    r"|interpretations|values)|\bequally (?:well|plausible|possible|valid"
    r"|legitimate)|no way of|don't see how|as far as (?:one|we|I|you) can|neither \w+ nor \w+ is (?:given|known)"
    r"|no (?:\w+ )?(?:value|number|figure|data) (?:is|are|was|for)|only be expressed|symbolically|\bambiguous|(?:do not"
    r"|don't) have (?:access|that|this|any)\b|\bunavailable|not available"
    r"|\b(?:HTTP|error|exception|traceback|overloaded|time(?:d )?out|rate limit\w*|token limit|queued)\b"
    r"|^[^\w\n]*(?:retry|try again))"
    r"|无法|不能确定|不知道|抱歉|对不起|(?:信息|条件|数据)(?:不足|不够|缺)|不足以|缺少|没有(?:给出|说明|告诉"
    r"|解)|未(?:给出|说明|知)|取决于|不确定|可能[^。]*也可能|两种可能|两种理解|请(?:提供"
    r"|说明|补充|读者)|算不出|自己(?:先)?试|试一试|题意不明|无(?:实数?)?解|不存在|都满足|都可以|都成立|不足|(?:書かれてい|求められ"
    r"|わから|でき|分から)(?:ない|ません)"
    r"|(?i:weiß nicht|nicht sicher|ne sais pas|\bno sé\b|haven't (?:computed|worked|calculated)|geht [^.]*nicht hervor"
    r"|nicht (?:klar|eindeutig|angegeben|genannt|bekannt|gesagt)|unklar|\bno (?:lo |se |nos )?"
    r"(?:aclara|dice|especifica|indica|sabe|precisa)|\bpas (?:précis|clair|indiqu|donn|dit)|(?:not|n't) (?:\w+ )?clear"
    r"|(?:let me know|tell me|say) which|can be (?:parsed|read|understood|interpreted|taken) (?:\w+ )?as\b[^.]*\bor (?:\w+ )?as\b"
    r"|lässt sich [^.]*nicht|il manque|deux solutions"
    r"|dos soluciones|zwei lösungen|ne (?:peux|peut|permet)"
    r"|no se puede|falta )",
    re.MULTILINE,
)
"""Saying that there is no answer."""
MAY_GIVE_UP = re.compile(
    r"(?i:not|n't|cannot|never|\bno |unable|impos|insuff|lack|missing|too |sorry|un(?:known|def|clear|avail)|depend|infinite"
    r"|diverg|information|data|details"
    r"|please|could you|can you|need |open|which|leave|lost|stuck|r[ua]n out|try|give up|http|error|excep|overload|timed? ?out"
    r"|limit|queued"
    r"|only be|symbolic|far as|neither|both|without|equally|ambig|turn|nicht|unkl|\bpas |kein|manque|soluciones|solutions"
    r"|lösungen|puede"
    r"|falta)"
    r"|[无不抱对信条数缺没未取可两请算题都書求わで分]"
)
"""One of its words: a quick test before the long one."""

CONCLUDES = re.compile(
    r"(?i:\b(?:so|therefore|thus|hence|altogether|in total|in all|overall|finally|answer\w*|result|total|asks|asked|question"
    r"|we (?:get|have|find)|think|guess|estimate|say|comes? to|consequently|as a result|which means|means|also|donc"
    r"|insgesamt|en total|luego)\b)"
    r"|因此|所以|故|一共|总共|综上|答|题目(?:只)?(?:问|要求)|即|填"
)
"""Words of a sentence that draws the conclusion."""

ASIDE = re.compile(
    r"(?i:^[^\w\n]*(?:(?:(?:quick |sanity |double[- ]?)?check(?:ing)?|(?:to )?verif\w+|(?:you|we) (?:can|could) (?:verify"
    r"|check|confirm)\w*|to (?:check|double-check|confirm)|note|remark|confidence|p\.?s\.?|by the way|btw|incidentally"
    r"|for (?:reference|comparison|context)"
    r"|alternatively|in comparison|interestingly|fun fact|tip|caution|vérification|probe|comprobación|verifica|as a (?:check"
    r"|comparison))\b\s*(?=[:,(—–-]|that\b|this\b|it\b|the\b|with\b|\d|\()"
    r"|(?:a |the |one |another )?(?:common|frequent|typical|usual) (?:mistake|error|pitfall|trap)|(?:some|others|many|people"
    r"|students|anyone|everyone|most)\b[^.]{0,30}\b(?:would|might|may|could|say|get|think|replied|answer\w*|who|reply)"
    r"|had \w+ |if you(?:r|'\w+)?\b|(?:in|using) (?:other|imperial|metric|different|american) (?:units|words)|equivalently"
    r"|converted|that would be|if (?!so\b)[^,.]{3,80}\b(?:had|were|would|instead|wanted)\b|(?:let me know|I hope"
    r"|hope (?:this|that)|feel free|would you like|do you want|shall I|want me|if you (?:have|need|want|would|'d))"
    r"|it(?:'s| is)? (?:also|both|has|means|would)\b|(?:it|this|that|these|they)(?:'s| is| are| was| has| would)\s+(?:the|a"
    r"|an|also|both|only|in|within|between|because|well|less|more|close|confirm|consistent)\b"
    r"|(?:it|this|that)\s+(?:matches|confirms|agrees|checks|satisfies|makes sense|seems)|its\b[^.]{0,40}\bwould\b|(?:(?:my"
    r"|your|his|her|the) (?:\w+ )?(?:brother|cousin|friend|teacher|textbook|book|manual|colleague|professor"
    r"|classmate)(?:'s \w+)?\s+(?:says?|said|claims?|gets?|got|thinks?|has|wrote|gives)|(?:my|your) (?:brother|cousin|friend"
    r"|teacher|colleague)\b)))"
    r"|^\W*(?:验算|检验|检查|验证|注意?|备注|说明|另外|顺便|补充)[^。]{0,4}[:,]|^\W*(?:它"
    r"|这个数|这)(?:既|也|同时|恰好|正好是?(?:\D))|^\W*(?:有同学|有人|很多人)"
)
"""The beginning of a sentence beside the point: a check, a remark, an offer, what others think, what would be otherwise."""

ASIDE_MODE = re.compile(
    r"(?i:^[^\w\n]*(?:(?:quick |sanity |double[- ]?)?check(?:ing)?|verif\w+|(?:you|we) (?:can|could) (?:verify|check)"
    r"|to (?:check|verify)|note|remark|by the way|alternatively"
    r"|vérification|probe|comprobación)\b)|^\W*(?:验算|检验|检查|验证|备注)"
)
"""One that goes on after its first sentence."""

BESIDE_HEADING = re.compile(
    r"(?i:^[^\w\n]*(?:\w+ )?(?:tips?|notes?|remarks?|extras?|bonus|common (?:mistakes?|errors?)|mistakes to avoid"
    r"|further \w+|practice|good to know|background|check|verification|sanity check|did you know|next steps?"
    r"|study tips?)(?: \w+)?\W*\Z)"
    r"|^\W*(?:提示|注意|备注|拓展|常见错误|易错点|小结|检验|验算)\W*\Z"
)
"""A heading of what does not belong to the answer."""

OTHERWISE = re.compile(
    r"(?i:^[^\w\n]*an? (?:second|third|fourth|fifth|extra|additional|further|bigger|faster|larger|smaller)\b[^.]*\bwould\b"
    r"|^[^\w\n]*(?:without|otherwise|at the (?:regular|full|old|original|usual|normal|list)"
    r"|had (?:\w+ )+?)\b[^.]*\bwould\b|\bwould have"
    r" (?:been|paid|had|cost|taken|needed|\w+ed)\b|^[^\w\n]*(?:an?|one|some\w*|any\w*|my|your)\b[^.,]{0,40}\b(?:would"
    r"|might|may|could)"
    r" (?:say|answer|get|think|claim|argue|reply|object|write|guess|arrive|come)\b)"
)
"""What would be otherwise, or what others would say, whatever the sentence comes to."""

OFFER = re.compile(
    r"(?i:\b(?:would|do) you (?:like|want)|\bshall I|\bshould I|(?:^\W*|do you )want (?:me|\d+|more|another|to)|\b(?:make"
    r"|makes) sense"
    r"|\bdoes (?:that|this) help|\bany (?:other )?questions|\banything else|\bis that (?:ok|clear)|,\s*(?:right|isn't it|no"
    r"|ok)\s*\Z)"
)
PLAN = re.compile(
    r"(?i:^\W*(?:(?:so|now|next|first|firstly|second|then|okay|ok|alright|finally|sure|great question|hint"
    r"|step \d+)\b[\s,!:.]*)*(?:(?:we|I)\s+(?:first |now |then |just |only )?(?:want to|(?:need|have) to (?:first )?(?:find"
    r"|comput|calculat|determine|solve|know|figure|add|multiply|subtract|divide|set|look|work|read|check)"
    r"|must (?:find|comput|calculat|determine|solve)|set|could tell)|(?:we|I)'(?:ll|d)\b(?! (?:say|report|answer|go|guess"
    r"|estimate|put|call))|let's|let us|let me|let \w+ (?:be\b|=|denote)|to (?:solve|find|answer|determine|compute|calculate"
    r"|get)\b"
    r"|(?:it|this|the (?:user|question|problem|task|exercise|text)) (?:is about|deals|asks|states|says|gives|wants"
    r"|concerns|mentions|tells|describes"
    r"|involves)"
    r"|(?:we|you) (?:are|were) (?:given|told|asked)|you (?:ask|want)|we know|it is given|(?:given|known)(?: data| values?"
    r"| facts)?\s*[:,]|suppose|assume|I (?:will|would|shall)|I am going|we (?:will|shall|should)\b|my plan|the plan|plan:"
    r"|(?:start|begin|draw|list|imagine|picture|try|subtract|add|multiply|divide|take|count|find|use|apply|solve|set"
    r"|consider|think|plug|round|compute|calculate"
    r"|simplify|convert|give|write|put|determine|expected|remember)\b(?![^.]*(?:=|\band (?:you|it|that)[^.]*\d|:\s*-?\d))"
    r"|hint\b|um \b[^,.]* zu (?:berechnen|finden|bestimmen|lösen)|il (?:faut|suffit de) \w+(?:er|ir|re)\b|on (?:doit|cherche)"
    r"|hay que|tenemos que|debemos|se (?:debe|busca|pide)|man (?:muss|sucht)"
    r"|primero|zuerst|d'abord))"
    r"|^\W*(?:提示|可以先|题目|问题是|已知|设|假设|求|条件|要(?:求|解|计算)|我们?(?:先|首先|需要|将|要|会|可以"
    r"|分)|首先|首先,|下面|接下来|步骤|解题思路|思路|让我|请)"
    r"|[,，]\s*(?:试)?求[^,。]*\Z|分\s*\d+\s*步|先(?:求|算|计算|求出)[^。]*(?:再|然后|最后)"
    r"|列出?方程|(?i:\b(?:(?:we|I) (?:want|seek) the|looking for|want to know|what (?:we|I|you) (?:need|want)|is sought"
    r"|we seek)\b(?!\W*(?:is|are|was"
    r"|[=:])(?!\w))|\b(?:will|would) (?:give|yield|tell|lead)\b[^.]*\b(?:answer|result)|\bneeds? to be\b|\bfollows by\b"
    r"|\bto be (?:solved|determined|found)\b|\bto solve\b|\bshould be (?:rounded|given|a|an|written|expressed)\b|即可求)"
)
INTENDS = re.compile(
    r"(?i:^\W*let \w+ (?:be\b|=|denote)|\b(?:I|we|you|one)(?:'d| would| could| should| can| must| need to"
    r"| have to)\s+(?:first|then|now|just|simply|next"
    r"|multiply|add|subtract|divide|find|compute|calculate|use|take)\b|\bcan (?:now |then )?be (?:solved|found|computed"
    r"|determined|calculated)\b|\b(?:will|shall|'ll) (?:use|apply|first|now|start|compute|calculate)\b|\b(?:let's|let us"
    r"|let me) (?:first |now )?(?:compute|calculate|find|work|solve|start|see|think|begin|use|check|call|denote|define)"
    r"|\b(?:primero|despu[ée]s|luego|entonces|por último|finalmente)\s+(?:se )?\w{3,}ría(?:mos|n)?\b"
    r"|\b(?:j'|je |on |nous )\w{3,}r(?:ais|ait|ions)\s+(?:d'abord|ensuite|puis|alors|enfin)\b"
    r"|\b(?:d'abord|ensuite|puis|enfin),?\s+(?:j'|je |on |nous )\w{3,}r(?:ais|ait|ions)\b"
    r"|\b(?:würden?|müssten?|könnten?|sollten?) (?:(?:ich|man|wir|sie|er) )?(?:zuerst|zunächst|erst|dann|danach)\b"
    r"|^\W*(?:zuerst|zunächst|dann|danach) (?:würden?|müssten?|könnten?|sollten?)\b)"
)
"""A plan, whatever else the sentence says."""
STATES = re.compile(
    r"(?i:[=≈]|, so (?!(?:we|I|let)\b)|\b(?:gets?|gives?|got|makes?|equals?|leaves?|leaving|(?:total|result"
    r"|answer)(?=\s*(?:is|was|of|[=:])))\b|\bi\.e\b)|得|共"
    r"|等于|即(?!可)|填|应为|答案"
)
"""What shows that a sentence of a plan, or of data, comes to a result all the same."""

UNFINISHED = re.compile(
    r"(?i:(?:,|^)\s*(?:so\s+)?to (?:get|find|obtain|compute|calculate|determine) [^,.:=!?]{0,50}\Z)|[=+×÷*/:(\[&<>~]\s*\Z"
    r"|(?<=\s)[-−]\s*\Z|(?:\.\.\.|…)\s*\Z|\$\s*\Z|####\s*\Z"
    r"|(?i:\b(?:by|of|the|to|and|or|is|are|was|were|an?|with|from|so|we|has|have|had|then|for|times|plus|minus|that|which|in"
    r"|but|if|get|gives?|equals?"
    r"|makes?|at|on|as|because|since|therefore|thus|hence|per|each|every|her|his|their|its|this|about|only|will|would|also"
    r"|than|when|let|need|must)\s*\Z)"
    r"|(?i:(?<=\w )(?:que|qui|quien|el|la|los|las|le|les|un|una|une|des|du|del|al|y|et|und|der|das|den|dem|ein|eine|mit"
    r"|von|für|con|por|para"
    r"|avec|pour|est|es|son|sont|ist|sind|cuesta|cuestan|coûte|coûtent|ergibt|beträgt|folgt|donc|donde|où|kostet|quedan?"
    r"|reste|tiene|recorrería|faut|noch|wir|nous|elle"
    r"|entspr(?:icht|echen)|ergeben|macht|machen|erhält|erhalten|bekommt|bekommen|haben|bedeutet|werden|also|somit|daher"
    r"|dass|auf|zu|im|je|pro|bei|donne|donnent|fait|font|vaut|valent|signifie|obtient|correspond|correspondent|égale|à"
    r"|sur|dans|chaque|alors|equivalen?|corresponden?|equivale a|corresponde a|igual a|obtenemos|obtiene|significa|hacen?"
    r"|sobre|entre|cada|entonces)\s*\Z)"
    r"|(?:需要|应该|应|找回|剩下|还有|共有|那么|如果|因为|有|用|所以|因此|故|则|即|得|为|是|等于|再|然后|接着|和|的|以及|共|并且|又|由|设)\s*\Z|(?i:^\W*(?:step|part)\s+\d+\W*\Z)",
    re.MULTILINE,
)
CUT = re.compile(
    r"(?:,\s*(?i:y|et|und|pero|mais|aber|que|qui|donc|puis|dann|luego|and|then|so|but|which|for|we|she|he|they|with|since"
    r"|because|now|if)\b|,(?=[一-鿿]))[^,]{4,}\Z"
)
LOOP = re.compile(r"(?:\d+\s*[,、]\s*){4}\d*\s*\Z")
