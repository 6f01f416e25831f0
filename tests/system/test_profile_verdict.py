# SPDX-License-Identifier: MIT
"""Profile verdict, sentence by sentence as it was asked for: implement, review, pass or drift, fix, review again."""
import pytest

import loop
from loop import End, Loop, say

PASS = say('I looked at it.\n\n{"verdict": "pass", "followUpPrompt": "LGTM, all checks passed."}')


def drift(text):
    return say('Not yet.\n\n{"verdict": "drift", "followUpPrompt": "%s"}' % text)


VERDICT = loop.Profile(
    name="verdict", passes=PASS, finds=drift, pass_word="pass", findings_word="drift", max_fixes=5,
    malformed=say("All is fine. I would pass it."),
    on_malformed=End("failed", "reviewer contract violation: no JSON object found in reviewer output", 10),
    on_exit=End("failed", "reviewer process exited with status 3", 10),
    on_signal=End("failed", "reviewer process killed by signal 9", 10),
    on_timeout=End("failed", "reviewer process timed out after 1s", 10),
    on_exhausted=End("failed", "drift unresolved after 5 fix attempt(s)", 10),
)


class TestMatrix(loop.Matrix):
    profile = VERDICT
