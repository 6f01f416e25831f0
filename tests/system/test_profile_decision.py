# SPDX-License-Identifier: MIT
"""Profile decision, scenario by scenario as it was asked for: a coder, a reviewer that says GO or NO_GO, a human at the end."""
import pytest

import loop
from loop import End, Loop, say

GO = say('Read it.\n\n{"decision": "GO", "feedback": "All criteria met."}')


def no_go(text):
    return say('Not yet.\n\n{"decision": "NO_GO", "feedback": "%s"}' % text)


DECISION = loop.Profile(
    name="decision", passes=GO, finds=no_go, pass_word="GO", findings_word="NO_GO", max_fixes=2,
    malformed=say('{"decision": "go", "feedback": "All criteria met."}'),
    on_malformed=End("failed", 'reviewer contract violation: invalid decision: expected "GO" or "NO_GO", got "go"', 10),
    on_exit=End("failed", "reviewer process exited with status 3", 10),
    on_signal=End("failed", "reviewer process killed by signal 9", 10),
    on_timeout=End("failed", "reviewer process timed out after 1s", 10),
    on_exhausted=End("held", "NO_GO unresolved after 2 fix attempt(s)", 13),
    artifacts=(".ai-sdd/state/review-logs/t1.json",),
)


class TestMatrix(loop.Matrix):
    profile = DECISION
