# SPDX-License-Identifier: MIT
"""Profile comments, sentence by sentence as it was asked for: an unbiased reader of the diff, a fresh fixer for each must-fix."""
import json

import pytest

import loop
from loop import End, Loop, write

FILE = "review-comments.json"


def comments(*items, summary="as said"):
    """A reviewer that writes these: (severity, text) or whole objects."""
    items = [i if isinstance(i, dict) else {"file": "work.txt", "line": 1, "severity": i[0], "comment": i[1]} for i in items]
    return write(FILE, json.dumps({"comments": items, "summary": summary}))


CLEAN = comments(summary="Clean review - no issues found")

COMMENTS = loop.Profile(
    name="comments", passes=CLEAN, finds=lambda text: comments(("must-fix", text)), pass_word="pass", findings_word="must-fix",
    max_fixes=2, malformed=comments(("Must-Fix", "a name")),
    on_malformed=End("failed", 'reviewer contract violation: invalid severity: expected "must-fix" or "suggestion", got "Must-Fix"', 10),
    on_exit=End("failed", "reviewer process exited with status 3", 10),
    on_signal=End("failed", "reviewer process killed by signal 9", 10),
    on_timeout=End("failed", "reviewer process timed out after 1s", 10),
    on_exhausted=End("succeeded", "known issues: 1; must-fix unresolved after 2 fix attempt(s)", 0),
    artifacts=(FILE,),
)


class TestMatrix(loop.Matrix):
    profile = COMMENTS
