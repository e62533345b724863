"""What can be said of source code of any common language by its text: whether it is whole, and whether it only uses something."""

from __future__ import annotations

import re

_HASH = frozenset(
    re.findall(r"\w+", "ruby rb perl php r julia elixir bash sh shell nim crystal coffeescript awk tcl python make cmake")
)
_DASHES = frozenset(re.findall(r"\w+", "sql mysql postgresql sqlite plsql tsql lua haskell hs ada elm vhdl"))
_SEMICOLON = frozenset(re.findall(r"\w+", "lisp scheme clojure racket asm elisp"))
_SINGLE = frozenset(
    re.findall(
        r"\w+",
        "javascript jsx typescript tsx php ruby rb perl sql mysql postgresql sqlite plsql tsql lua r dart groovy bash sh shell"
        " elixir pascal",
    )
)
"""The languages in which single quotes hold a string of any length."""
_LONG = frozenset(re.findall(r"\w+", "php ruby rb perl sql mysql postgresql sqlite plsql tsql r bash sh shell elixir julia matlab"))
"""The languages in which a quoted string may go over the end of a line."""
_BACKTICK = frozenset(re.findall(r"\w+", "javascript jsx typescript tsx go"))
_REGEX = frozenset(re.findall(r"\w+", "javascript jsx typescript tsx ruby rb perl"))
_WORDS = {
    "lua": (r"\b(?:function|if|do)\b", r"\bend\b"),
    "ruby": (r"^[ \t]*(?:def|class|module|begin|case|if|unless|while|until|for)\b|= *(?:if|case|begin)\b", r"^[ \t]*end\b"),
    "julia": (r"^[ \t]*(?:mutable )?(?:function|if|for|while|begin|struct|let|module|try|macro)\b", r"\bend\b"),
    "elixir": (r"\bdo(?=[ \t]*$)|\bfn\b", r"\bend\b"),
    "pascal": (r"(?i:\b(?:begin|case|record|try)\b)", r"(?i:\bend\b)"),
}
"""What opens and closes a block where words do so, by language."""
_RUBY_DO = re.compile(r"\bdo(?=[ \t]*(?:\|[^|\n]*\|)?[ \t]*$)", re.MULTILINE)
_LOOP = re.compile(r"^[ \t]*(?:while|until|for)\b[^\n]*\bdo[ \t]*$", re.MULTILINE)
_PAIRS = {")": "(", "]": "[", "}": "{"}
_BREAKS_OFF = re.compile(
    r"(?:[,=(\[{.:&|+*/<-]|[=-]>|\b(?:and|or|where|select|from|join|on|by|return|new|else|then|in|of|if|let|const|var|set|values"
    r"|as))\s*\Z",
    re.IGNORECASE,
)
"""The end of code that must go on."""
_MARKED_ENDS = frozenset(re.findall(r"\w+", "c cpp java csharp cs rust php html xml"))
_MARKED_END = re.compile(r"[;})>]\s*\Z|^#[^\n]*\Z", re.MULTILINE)
"""The languages whose programs end in a mark, and such an end."""
_BEFORE_REGEX = re.compile(r"(?:[(,=:\[!&|?{};~]|\breturn|\A)\s*\Z")
_SIGNATURE = re.compile(
    r"(?!return\b|new\b|throw\b|await\b|yield\b)(?:\w+(?:<[\w<>, ]+>)?(?:\[\])?[*&]? ){1,4}\*?\w+"
    r"\((?:\w[\w<>\[\]*&: ]* [*&]*\w+(?:\[\])?(?:, )?)*\);"
)
_OUTPUT = re.compile(
    r"\s*(?:Traceback \(most recent|\w*(?:Error|Exception|Warning)\b: |Exception in thread|error(?:\[\w+\])?: |panic: |fatal: "
    r"|Segmentation fault|[^\n]*\bFile \"[^\n\"]+\", line \d+|Process finished|\+-{2,}[-+]*\+|={3,} test session|\$ )"
)
_CALL = re.compile(
    r"(?:(?:(?:const|let|var|val|auto|my|local|final|mut|int|long|double|float|bool|boolean|string|String|char) +)*[\w$@]+"
    r"(?:: ?[\w<>\[\]?]+)? *(?:=|:=|<-) *)?(?:await |new |print |puts |echo |p |SELECT |std::cout *<<)?[\w.$:!?<>@ ]*[(<\"'\[].*"
    r"[)\];\"'}\w]|(?:print|puts|echo|p) \S.*"
)
_COMMENT = re.compile(r"(?://|#|--|;;|/\*|\*|%|\{-).*|[\s)\]};,]*|\"[^\"]*\",?|[\w\"'., -]+,")
_TAIL = re.compile(r"\s*(?://|#|--|;;|/\*).*\Z")
_OPENS = re.compile(
    r"(?:\{|\bdo\b[^\n]*|\bthen|:)\s*\Z|=>|->|\)\s*\{|\bfunction\b|^\s*(?:def|fun|fn|func|function|class|struct|if|for|while"
    r"|switch)\b"
)
_ROUTINE = re.compile(
    r"\bCREATE (?:OR REPLACE )?(?:FUNCTION|PROCEDURE)\b|^\s*(?:\w+ )*(?:fun|sub|proc|trait|impl|struct|interface|object|module"
    r"|defmodule)\s+\w"
    r"|^\s*\(def\w* ",
    re.MULTILINE,
)
_HEADS = re.compile(
    r"\b(?:fn|func|fun|function|def|sub|class|struct|object)\s+(\w+)|\b(?:int|void|bool|boolean|long|double|float|char|string"
    r"|String|auto"
    r"|[A-Z]\w*(?:<[^<>\n]*>)?)[ *&]+(\w+)\s*\([^()\n]*\)\s*\{|^(\w+) ::",
    re.MULTILINE,
)
_MARKS = (
    (
        "c",
        r"#include\s*[<\"]|(?:static )?(?:int|void|double|float|char|long|bool|size_t|unsigned|std::\w+)[ *&]+\w+\([^)\n]*\)\s*\{",
    ),
    ("java", r"(?:public|private|protected|abstract|final)\s[\w<>\[\], ]+[({]|import java[x.]|class \w+[^\n:]*\{"),
    ("csharp", r"using \w+(?:\.\w+)*;|namespace \w+"),
    ("go", r"package \w+\s*$|func (?:\([^)\n]*\) )?\w+\([^\n]*\{$"),
    ("rust", r"(?:pub )?(?:fn|impl|struct|enum|trait)\b[^\n]*\{|use \w+(?:::\w+)+"),
    ("lua", r"(?:local )?function [\w.:]+\([^)\n]*\)(?:\s*$|[^{\n]*\bend$)"),
    ("javascript", r"(?:export |default |async )*function\b[^\n]*[({]|(?:const|let|var) \w+ = |(?:import|export) .*['\"];?$"),
    ("kotlin", r"(?:\w+ )*fun [^\n]*[{=]"),
    ("swift", r"(?:\w+ )*func \w+[^\n]*\{|import Foundation"),
    ("php", r"<\?php"),
    ("julia", r"\w+\([\w, :]*\) = [^\n]*(?:\?[^\n]*:|==|&&|\|\||\.\w+\()"),
    ("ruby", r"puts [\w\"'(\[]+[.(]|def [\w.?!]+(?:\([^)\n]*\))?\s*$"),
    ("elixir", r"defmodule \S+ do"),
    ("haskell", r"main = |main :: |\w+ :: [^\n]+(?:->|Int|String|Bool|IO)|module \S+ (?:\([^)]*\) )?where"),
    (
        "sql",
        r"(?:SELECT\b[\s\S]{1,400}?\bFROM\b|WITH (?:RECURSIVE )?\w+[^\n]*\bAS\b|INSERT INTO|UPDATE \w+ SET|DELETE FROM"
        r"|CREATE [A-Z]+) *",
    ),
    ("r", r"\w+ <- function\("),
    ("perl", r"use strict;|sub \w+ \{"),
    ("clojure", r"\((?:defn|defun|define|ns) "),
    ("scala", r"(?:object|trait|case class) \w+[^\n]*[{)]|def \w+[^\n]*\)(?:: ?[\w\[\]]+)? ="),
    ("bash", r"#!/(?:usr/)?bin/"),
)
"""How a program of a language begins."""
_LANGUAGES = [(name, re.compile(rf"(?:{mark})", re.MULTILINE)) for name, mark in _MARKS]
_PROSE = re.compile(r"\W{0,3}(?:[A-ZÀ-Þ][\w'’à-ÿ]*|I|It|The|This)(?: [\w'’à-ÿ`,()-]+){2}[^;{}]*[.:!?]\s*(?:$|\n)|[^\x00-\x7f]{4}")


def language_of(code: str) -> str | None:
    """Return the language that `code` seems to begin in; None where none is recognized, or for Python."""
    begin = re.sub(r"\A(?:\s*(?://|#(?![i!])|--|/\*)[^\n]*\n)*\s*", "", code)
    return next((name for name, mark in _LANGUAGES if mark.match(begin)), None)


def is_whole(code: str, language: str) -> bool:
    """Return whether brackets, quotes and comments of `code` close and its last line does not have to go on."""
    bare = _bare(code, language)
    if bare is None or _BREAKS_OFF.search(bare.rstrip()) or (language in _MARKED_ENDS and not _MARKED_END.search(bare)):
        return False
    depth: list[str] = []
    for mark in re.findall(r"[()\[\]{}]", bare):
        if mark not in _PAIRS:
            depth.append(mark)
        elif not depth or depth.pop() != _PAIRS[mark]:
            return False
    if depth:
        return False
    name = {"rb": "ruby", "ex": "elixir", "jl": "julia"}.get(language, language)
    if name not in _WORDS:
        return True
    opened, closed = (len(re.findall(words, bare, re.MULTILINE)) for words in _WORDS[name])
    if name == "ruby":
        opened += len(_RUBY_DO.findall(bare)) - len(_LOOP.findall(bare))
    return opened <= closed


def is_output(code: str) -> bool:
    """Return whether `code` is what a program prints when it fails, or a table."""
    return bool(_OUTPUT.match(code))


def is_use(code: str) -> bool:
    """Return whether `code` holds nothing but calls, prints and comments."""
    lines = [line.strip() for line in code.strip().splitlines()]
    if any(_OPENS.search(line) for line in lines):
        return False
    calls = [line for line in lines if not _COMMENT.fullmatch(line)]
    return bool(calls) and all(_CALL.fullmatch(_TAIL.sub("", line)) for line in calls)


def is_signature(code: str) -> bool:
    """Return whether `code` only declares a function, as in C or Java."""
    return bool(_SIGNATURE.fullmatch(code.strip()))


def defines_routine(code: str) -> bool:
    """Return whether `code` defines a function, or a type, as languages unlike Python or C write it."""
    return bool(_ROUTINE.search(code))


def heads(code: str) -> set[str]:
    """Return the names of the functions and types that `code` defines."""
    return {name for found in _HEADS.findall(code) for name in found if name}


def foreign(view: str) -> tuple[int, int] | None:
    """Return where a program of another language than Python stands in a text without a fence, if one begins a paragraph."""
    starts = [match.end() for match in re.finditer(r"\A\s*|\n[ \t]*\n(?=\S)", view)][:20]
    for start in starts:
        if not (language := language_of(view[start:])) or _PROSE.match(view, start):
            continue
        breaks = [match.start() for match in re.finditer(r"\n[ \t]*\n", view[start:])]
        talk = next((start + cut for cut in breaks if _PROSE.match(view[start + cut :].lstrip())), len(view))
        return (start, start + len(view[start:talk].rstrip())) if is_whole(view[start:talk], language) else None
    return None


def _bare(code: str, language: str) -> str | None:
    """Return `code` without strings and comments; None where one of them is never closed."""
    kept: list[str] = []
    place = 0
    while place < len(code):
        found = _token(code, place, language, kept)
        if found is None:
            kept.append(code[place])
            place += 1
        elif found < 0:
            return None
        else:
            kept.append(" " if code[place] in "/#-;%{" and code[place : place + 2] != '""' else '"')
            place = found
    return "".join(kept)


def _token(code: str, place: int, language: str, kept: list[str]) -> int | None:
    """Return where a string or comment that begins at `place` ends, -1 where it never does, None where none begins."""
    mark, pair = code[place], code[place : place + 2]
    if (
        (pair == "//" and language not in _HASH - {"php"} | _DASHES)
        or (mark == "#" and language in _HASH)
        or (pair == "--" and language in _DASHES)
        or (mark == ";" and language in _SEMICOLON)
    ):
        return _after(code, "\n", place, len(code))
    if pair == "/*" and language not in _HASH - {"php"}:
        return _after(code, "*/", place + 2)
    if pair == "[[" and language == "lua":
        return _after(code, "]]", place + 2)
    if pair == "{-" and language in _DASHES:
        return _after(code, "-}", place + 2)
    if code.startswith('"""', place) and language not in ("c", "cpp", "sql"):
        return _after(code, '"""', place + 3)
    if mark == '"' or (mark == "'" and language in _SINGLE) or (mark == "`" and language in _BACKTICK):
        return _quoted(code, place, "\n" if mark != "`" and language not in _LONG else "")
    if mark == "'":
        char = re.compile(r"'(?:\\[^'\n]{1,9}|\\'|[^\\'\n])'").match(code, place)
        return char.end() if char else None
    if mark == "/" and language in _REGEX and _BEFORE_REGEX.search("".join(kept[-12:])):
        regex = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\n])*\]|[^/\\\n\[])+/").match(code, place)
        return regex.end() if regex else None
    return None


def _after(code: str, mark: str, start: int, missing: int = -1) -> int:
    end = code.find(mark, start)
    return missing if end < 0 else end + (0 if mark == "\n" else len(mark))


def _quoted(code: str, place: int, stop: str) -> int:
    """Return where a quoted string ends; one that may not go over a line's end ends there if the code goes on."""
    end = place + 1
    while end < len(code) and code[end] != code[place]:
        if code[end] == stop:
            return end
        end += 2 if code[end] == "\\" else 1
    return end + 1 if end < len(code) else -1
