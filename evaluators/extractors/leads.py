"""What the text that leads to a block of code says of it."""

from __future__ import annotations

import re

SETS_ASIDE = re.compile(
    r"(?i:\b(?:alternative(?:ly)?|not recommend|for (?:comparison|reference|context)|(?:your|the) (?:original|old"
    r"|existing|previous)|original"
    r"|first attempt|naive|brute[- ]force|buggy|broken|wrong version"
    r"|instead of|rather than|don't (?:use|do|write)|avoid|used to be"
    r"|(?:example|sample)s?(?: of)? (?:usage|use|call)|usage|tests?|unit tests?|pytest|run it|prints?|output|how (?:to"
    r"|you) (?:use|call|run)"
    r"|key (?:line|part|step|idea)|would (?:look|be)|another (?:way|version|option)|also (?:possible|write)|one could"
    r"|alternativ\w*|andere (?:variante|möglichkeit|fassung)|man könnte|geht auch|(?:autre|otra|outra|altra) (?:façon|manière"
    r"|version|solution"
    r"|forma|manera|versión|opción|solución|maneira|versão|opção|solução|versione|soluzione)|on peut aussi|on pourrait"
    r"|también se (?:puede"
    r"|podría)|também (?:pode|é possível)|si può anche|un altro modo|можно (?:и|также|ещё|еще)|друг(?:ой|ая) (?:способ|вариант"
    r"|версия)"
    r"|moins lisible|menos (?:legible|eficiente|legível)|weniger (?:lesbar|effizient))\b)"
    r"|別解|別の|다른 방법|原来的|原始|参考|对比|另一种|也可以|不推荐|测试|用法|示例|输出|关键"
)
PUTS_FORWARD = re.compile(
    r"(?i:\b(?:final|complete|full|whole|correct(?:ed)?|fix(?:ed)?|updated?|improved?|better|revised|please use|here is|here's"
    r"|here it is|putting|new version|should be|does it|instead[:.]?\s*\Z|use this|the solution|replace"
    r"|korrigiert\w*|verbessert\w*|endgültig\w*|vollständig\w*|richtig\w*|besser|corrigée?|améliorée?|finale|complète|définitive"
    r"|mieux"
    r"|corregid[ao]|mejorad[ao]|definitiv[ao]|complet[ao]|correct[ao]|mejor|corrett[ao]|migliorat[ao]|meglio|corrigid[ao]"
    r"|melhorad[ao]|melhor"
    r"|исправлен\w*|окончательн\w*|итогов\w*|полн(?:ый|ая|ое)|улучшен\w*|лучше)\b)|最终|完整"
    r"|正确|修正|改进|改为|更新|如下|实现"
)
QUOTES = re.compile(
    r"(?i:\b(?:you|they|he|she) (?:wrote|posted|gave|sent|have|had|provided|shared|pasted)\b|\byour (?:current|existing"
    r"|original|own|code|snippet|program|version|attempt|function)\b)"
    r"|(?i:\bpseudo-?code\b)|伪代码|原代码|原程序|(?:修改|优化|改进)前"
    r"|(?i:\b(?<!hier ist )(?<!voici )(?<!tienes )(?<!está )(?<!ecco )(?<!вот )(?:ihre?|deine?|euer) (?:\w+ )?(?:code|programm"
    r"|funktion|version"
    r"|skript)\b|\b(?<!hier ist )(?<!voici )(?<!tienes )(?<!está )(?<!ecco )(?<!вот )(?:votre|ton|ta) (?:code|programme|fonction"
    r"|version|script)\b|\b(?<!hier ist )(?<!voici )(?<!tienes )(?<!está )(?<!ecco )(?<!вот )(?:tu|su|il tuo|la tua|il suo"
    r"|(?<!está o )seu|(?<!está a )sua"
    r"|teu) (?:código|programa"
    r"|función|versión|codice|programma|funzione|versione|função|versão)\b"
    r"|\b(?<!hier ist )(?<!voici )(?<!tienes )(?<!está )(?<!ecco )(?<!вот )(?:ваш\w*|тво\w+) (?:код|программ\w+|функци\w+"
    r"|верси\w+))"
    r"|(?:你|您)的(?:代码|程序|函数|版本)|(?:你|您)(?:的原|写的|提供的|给出的)"
)
FRAGMENT = re.compile(
    r"(?i:\b(?:bug|change|replace|problem|issue|fault|mistake|culprit|important|key|crucial|condition)\b[^.\n]*"
    r"\b(?:line|condition|statement|expression|call|check|loop|part|bit)\b)|(?:关键|问题|错误|改)[^。\n]*(?:行|语句|条件|表达式)"
)
"""What leads to a line or two of a program."""
USAGE = re.compile(
    r"(?i:\b(?:how (?:to|you)|to) (?:use|call|invoke) (?:it|this|the function)\b|\busage\b|\b(?:ejemplo|exemple|exemplo"
    r"|esempio) d(?:e |'|i )(?:uso|us[oa]\w*|utili[sz]\w+|appel|llamada|chamada|chiamata)|\bverwendung|\b(?:beispiel)?aufruf\b"
    r"|пример (?:использования|вызова))|用法|使用方法|调用方[式法]|使用例|사용 ?예"
)
OUTPUT = re.compile(
    r"(?i:(?:^|\n|[.!] )\W*(?:(?:the|its|sample|example|expected|program|die|la|le|a|il|l') ?)*(?:output|result|prints?|ausgabe"
    r"|sortie|résultat|salida|resultado"
    r"|saída|uscita|risultato|вывод|результат)\b[^\n.]{0,30}[:.]?\W*\Z)|(?:输出|结果|出力|출력)\w{0,6}[:：]?\W*\Z"
)
"""What leads to what a program prints."""
