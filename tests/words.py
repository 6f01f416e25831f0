# SPDX-License-Identifier: MIT
"""The words of the project: what its C sources say to users and to readers, and the
terms that they use."""
import re

TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|^[ \t]*#[ \t]*include[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|'
                   r'[^\'\\\n])*\'', re.S | re.M)
# of two literals that make one string
BETWEEN = re.compile(r"(?:\s|\\\n|\bPRI[a-zA-Z]\d+\b)*")

# Files whose strings are patterns for the output of other programs, not sentences of ours.
PATTERNS = ("daemon/agent/notice.c", "daemon/agent/refusal.c", "daemon/agent/reset.c", "daemon/base/secret_patterns.c")

# What is said in other words: a pattern (ignoring case), and what to write instead.
TERMS = (
    (r"lanes?", "slot"),
    (r"seats?|seated", "permit"),
    (r"desks?", "queue"),
    (r"set(?:s|ting)? aside", "reserve (budget), save or rename (files)"),
    (r"by leave", "accepted by policy"),
    (r"go(?:es|ing)? on|went on", "continue, or keep running"),
    (r"anew", "again"),
    (r"mend(?:s|ed|ing)?", "fix or correct"),
    (r"whoever|whomever|somebody|anybody|everybody", "the process, the user, the slot"),
    (r"knobs?", "setting"),
    (r"gives? back what", "release"),
    (r"is no (?:regular|valid|name|number|socket|symbolic)", "is not a"),
)
TERMS_RE = re.compile("|".join(rf"\b(?P<t{i}>{pattern})\b" for i, (pattern, _) in enumerate(TERMS)), re.I)


def tokens(text):
    """(line, "comment" or "string", text) of a C source; literals that make one
    string are joined."""
    literal, begin, end = None, 0, 0
    for match in TOKEN.finditer(text):
        token = match.group()
        if token[0] == '"' and literal is not None and BETWEEN.fullmatch(text, end, match.start()):
            literal, end = literal + token[1:-1], match.end()
            continue
        if literal is not None:
            yield text.count("\n", 0, begin) + 1, "string", literal
            literal = None
        if token[0] == '"':
            literal, begin, end = token[1:-1], match.start(), match.end()
        elif token.startswith("/*"):
            body = re.sub(r"\n[ \t]*\*?[ \t]?", "\n", token[2:-2]).strip()
            yield text.count("\n", 0, match.start()) + 1, "comment", body
    if literal is not None:
        yield text.count("\n", 0, begin) + 1, "string", literal


def visible(name, text):
    """(line, string) for each string of a C source that a user may read: one with two words."""
    if name not in PATTERNS:
        for line, kind, literal in tokens(text):
            if kind == "string" and re.search(r"[a-z]{2}[,;:.]? |[%a-z] [a-z]{2}", literal):
                yield line, literal


def misused(text):
    """(offset, word, what to write instead) for each word of a text that is not one of the
    project's terms."""
    for match in TERMS_RE.finditer(text):
        yield match.start(), match.group(), TERMS[int(match.lastgroup[1:])][1]
