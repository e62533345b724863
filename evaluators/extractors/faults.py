"""How writers call what they stated wrong, take it back, or give up."""

from __future__ import annotations

import re

_CODE = "code|program|function|version|snippet|implementation|script|class"
_VALUE = "answer|result|value|box|number|count|total|figure|expression|solution|calculation|one|formula"
_OTHER = "first|earlier|previous|initial|original|other|old|second|alternative|student|textbook|official|naive"
_IT = (
    rf"(?<!\w)(?=[imtw])(?:(?:this|that|it|these|mine|the above|what i (?:wrote|boxed|gave|had|said))"
    rf"|(?:the|my|this|that) (?:(?!(?:{_OTHER})\b)\w+ ){{0,2}}?(?:{_VALUE}|{_CODE})(?: (?:above|there|i (?:gave|boxed|wrote"
    rf"|had)))?)"
)
_HOW = (
    r"(?: (?:\w+ly|now|also|still|just|all|so|far|therefore|thus|hence|even|quite|very|too|of course|in fact|after all|"
    r"wrong and))*"
)
_BAD = (
    r"(?:wrong|incorrect|mistaken|invalid|void|unfounded|unreliable|nonsense|broken|buggy|flawed|faulty|obsolete|withdrawn"
    r"|retracted|ignored|discarded|disregarded|thrown (?:away|out)|redone|an? (?:\w+ )?(?:mistake|typo|slip|misprint|error)"
    r"|in error"
    r"|impossible(?! to)|off by|too (?:large|small|high|low|big|many|few)|(?:with|using|based on|from) (?:the|an?) (?:wrong"
    r"|incorrect"
    r"|false))\b(?! to\b)"
)
_GOOD = (
    r"(?:right|correct|true(?! that)|valid|it|so|attained|acceptable|usable|reliable|a (?:\w+ )?solution|what"
    r"|the (?:(?:final|right|correct|true) )?(?:answer|result|value))\b"
)
STATED_WRONG = re.compile(
    rf"{_IT}(?:(?:'s| is| was| are| must be| turn(?:s|ed) out to be| seems| looks| should be| has to be| needs to be){_HOW} {_BAD}"
    rf"|(?:'s not| is not| isn't| was not| wasn't| are not| can't be| cannot be|,? too,? can't be"
    rf"| (?:doesn't|does not) (?:seem|look)){_HOW} {_GOOD}"
    r"| (?:can't|cannot) be(?=[\s:,]*\Z|[:,])| (?:and |should not|shouldn't|must not|cannot|can't)[^.;\n]{0,40}?"
    r"\bbe (?:used|trusted|taken|relied)\b"
    r"| (?:rests on|comes from|relies on|is based on|was based on) (?:an? |the |my )?(?:\w+ )?(?:mis\w+|error|slip|wrong)\b"
    r"| (?:is|was) (?:what i|my) (?:wrote )?(?:first|initial|earlier)\b[^.\n]{0,30}\bbut\b)"
    r"|\bthere must be (?:an? )?(?:\w+ )?(?:mistake|error|slip)\b"
)
STATED_WRONG_IN_EUROPE = re.compile(
    r"(?:\b(?:das|dies\w*|es|(?:die|meine|diese) (?:antwort|lösung)|(?:das|mein) ergebnis|der (?:wert"
    r"|code))\b(?:(?!\bnicht falsch)[^.,;!?\n]){0,18}?"
    r"\b(?:falsch|verkehrt|ungültig|hinfällig|(?:stimmt|passt|geht|funktioniert)(?: \w+)? nicht(?! (?:mit|für|bei|in)\b)"
    r"|nicht (?:richtig|korrekt|stimmen))"
    r"|\b(?:c'est|ce n'est|cela|ceci|ce (?:résultat|code)|(?:cette|la|ma) (?:réponse|valeur|fonction))\b[^.,;!?\n]{0,18}?"
    r"\b(?:faux|fausse|incorrecte?|erronée?|pas (?:correcte?|juste|bonne|bon|valable))\b"
    r"|\b(?:est[oae]|es[oa]|iss?t?o|(?:el|mi|o|meu) resultado|(?:la|mi|a|minha) resp(?:ue|o)sta|[eo] código)\b[^.,;!?\n]{0,18}?"
    r"\b(?:mal|equivocad\w|incorrect\w|incorret\w|erróne\w|errad\w|n(?:o|ão) (?:es|está|é) (?:corr?ect\w|corret\w|bien|cert\w"
    r"|válid\w))\b"
    r"|\b(?:questo|quest[ao] (?:risultato|risposta|codice|valore|soluzione)|il (?:mio )?risultato"
    r"|la (?:mia )?risposta)\b[^.,;!?\n]{0,18}?"
    r"\b(?:sbagliat[oa]|errat[oa]|scorrett[oa]|non (?:è |può essere )?(?:corrett[oa]|giust[oa]|valid[oa]))\b"
    r"|\b(?:dit|dat|het|(?:dit|mijn|het) antwoord)\b[^.,;!?\n]{0,18}?\b(?:fout|onjuist|verkeerd|niet (?:juist|correct|goed))\b"
    r"|\b(?:это|ответ|результат|значение|код)\b[^.,;!?\n]{0,18}?\b(?:неверн|неправильн|ошибочн|не подходит|не верно|не работает))"
)
STATED_WRONG_IN_ASIA = re.compile(
    r"(?:@it|[这此它该]|[上前]面|验证后?|发现|上述|以上|刚才|刚刚|之前|框|我|(?<![^面述上我]的)(?:答案|结果|代码|程序|写法|计算"
    r"|推导|解法|做法))"
    r"(?:(?!因为|由于|如果|会|避免|防止|是否|检查|注意|不要|别|抛|返回)[^。！？；，,\n]){0,10}?(?:不对|(?:[算写看搞弄数]|是|都"
    r"|也|全)错"
    r"|错[了的]|错误的|有误|不正确|不成立|不可能(?:是答案|成立)|作废"
    r"|不符合?题意|不满足(?:条件|题意|要求)|不能用(?=[，。,！\s了]|\Z)|不算数|不可[靠取]|无效|有问题|漏[掉了算]|忘[了记])"
    r"|[抄看算弄搞记写读数]错|[看弄搞写记]反|看漏|划掉|推翻|理解错|出了?差错|站不住脚|请勿采用|此路不通|(?:^|[，,。；;\s])(?:哦"
    r"|啊|呃|嗯)?[，,]?(?:不对|错了)"
    r"|(?:これ|それ|この|上の|答え|結果)[^。、\n]{0,10}(?:間違|誤り|正しくな|違い)|(?:위|답|결과|이것)[^.\n]{0,10}(?:틀렸|틀린"
    r"|잘못)"
)
"""The statement, or something said of it, is called wrong."""
TAKEN_BACK = re.compile(
    r"(?:\bi(?:'\w+)?(?: (?:am|have|must|need|had|will|would|want|should|can|like|hereby|now|therefore|to|only|rather|better|do))*"
    r" (?:retract|withdraw|take (?:(?:that|it|this|my \w+)(?: \w+)?) back|re(?:do|think|compute|calculate|check|count|consider)\b"
    r"(?! (?:it )?if)|start over|was wrong\b)"
    r"|\bi (?:no longer (?:trust|think|believe|stand)|(?:do not|don't|cannot|can't) (?:trust|stand (?:by|behind)"
    r"|vouch for) (?:this|that|it"
    r"|my)\b)"
    r"|\b(?=[dfist])(?<!\bto )(?<!n't )(?<!not )(?<!may )(?<!\bwe )(?<!will )(?<!\bi )(?:ignore|disregard|discard|scra(?:p|tch)"
    r"|forget|strike"
    r"|throw (?:away|out)|(?:do not|don't) (?:take(?= \w+ as)|use|trust|rely on|submit|run|count on))"
    rf"(?: (?:this|that|it|(?:the |my )?@it|(?:the|my|this|that) (?:(?:above|last|boxed|final|previous) )?"
    rf"(?:above|{_VALUE}|{_CODE}))\b"
    r"(?! (?:for|in|on|with|if|when|unless|at)\b)|[,.;:]|\s*\Z)"
    r"|\b(?:ignorieren|vergessen) sie|\bbitte ignorier|\bignor(?:ez|ad|em)\b|\bn'utilisez pas\b|\bno (?:lo|la) (?:use|tome)"
    r"|\b(?:игнорируйте|не используйте))"
    r"|(?:忽略|无视|不要(?:使用|采用|用|参考)|别用|请勿使用|勿用)(?=[它这此该我]|[上前]面|上述|以上|\s*[，。,！!]|\s*\Z)"
    r"|(?:撤回|收回)"
    r"|无視してください|使わないで"
)
"""The writer takes it back, or asks not to use it."""
GIVEN_UP = re.compile(
    r"(?:\bi(?:'m| am)? (?:can't|cannot|could not|couldn't|unable to|not able to|do not|don't|did not|didn't|won't|will not|not)"
    r"(?: (?:\w+ ){0,2}?(?:give|giving|offer|offering|provide|find|have|state|produce|commit to|locate|say|see how to|supply)"
    r"(?: (?!simpler|shorter|better|nicer|more|faster|closed|other|another|your|any (?:mistake|error))\w+){0,4}?"
    r" (?:answer|value|result|solution|version|count|number|program|code|mistake|error|flaw|one|finish\w*|proceed|continue)\b"
    r"| (?:\w+ )?decide\b)"
    r"|\bi(?: am left with| have|'ve) no (?:\w+ )?(?:answer|solution|result|value)|\bi(?:'m| am) stuck\b|\bundecided\b"
    r"|\b(?:do not|don't|can't|cannot) (?:know|tell|say) which\b|\binsufficient to (?:choose|decide)|\bunanswered\b"
    r"|\bunknown to me\b|\bleave (?:it|this|the (?:question|answer|matter)) open\b|\bno solution i can\b|\bi(?:'d| would|'ll"
    r"| will)? (?:have|need) to start (?:again|over|afresh)\b"
    r"|\bi(?:'d| would)(?: have| need| want) to (?:\w+ )?(?:look|check|see|know|compute)\b[^.\n]{0,40}\b(?:instead|before i"
    r"|first)\b)"
    r"|(?:给|得|求|算|写)不(?:出|到)|没有?找到|没有?头绪|没法算|另行求解|(?:无法|不能|没法)(?:给出|得出|得到|求出|作答|回答"
    r"|提供)|重新(?:计算|列举|推导|考虑|算|做)"
)
"""The writer has no answer after all."""
OWN_SLIP = re.compile(
    r"(?:\bi(?:'ve| have| must have| seem to have| apparently| simply)* (?:forgot(?! to (?:mention|say|add|note))|misread"
    r"|overlooked|miscounted"
    r"|miscalculated|slipped|erred)\b|\b(?:ich )?ziehe (?:die|meine|diese) \w+ zurück|\bich habe mich (?:geirrt|verrechnet"
    r"|vertan)|\bje me suis trompée?\b|\bje retire\b"
    r"|\bme equivoqué\b"
    r"|\bmi sono sbagliat[oa]\b|\bho sbagliato\b|\berrei\b|\bretiro (?:esta|la|a|essa)\b|\bя ошибся|\bя ошиблась|\bснимаю\b)"
    r"|間違えました|間違えた"
)
"""A slip that the writer admits."""
SLIP = re.compile(
    r"(?:\b(?:can't|cannot) be (?:determined|answered|solved)\b|\bno (?:unique|definite) (?:answer|solution)\b|\bi (?:forgot"
    r"|missed|mis\w+|overlooked|used the wrong|mixed up|confused|swapped|counted\b[^.\n]{0,40}\btwice|double-?counted"
    r"|over-?counted|treated"
    r"|dropped"
    r"|lost|made an? (?:\w+ )?(?:mistake|error|slip))\b|\b(?:it|that|this|there) should (?:be|read|have been) (?:instead "
    r"|rather )?[-\\\d]|\bdoppelt gezählt|\bes (?:müssten?|sollten?) [^.]*sein|\b(?:deux fois|dos veces|due volte|duas vezes"
    r"|дважды)\b|数了两[遍次]|应[为该]|\bich habe\b[^.\n]{0,40}\b(?:vergessen|verwechselt|übersehen)"
    r"|\bj'ai (?:oublié|confondu|mal)|\b(?:olvidé|confundí|esqueci|confundi)\b|\bя (?:забыл|перепутал|ошиб))"
    r"|我?把[^。，\n]{1,20}(?:看成|当成|当作)|(?:忘记?|漏)了|読み落と|見落と"
)
"""What is a slip after a turn such as "wait"."""
