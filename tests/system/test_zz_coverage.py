# SPDX-License-Identifier: MIT
"""Runs last: every method of rpc.discover and every command of rlctl help was used by some test of this session."""
import re

import pytest
from rld import COMMANDS_USED, METHODS_CALLED


@pytest.fixture
def whole_session(request):
    session = request.session
    files = {item.fspath.basename for item in session.items}
    if len(files) < 10 or session.config.option.keyword or getattr(session, "some_failed", False):
        pytest.skip("only after a whole session that passed")


def test_every_method_was_called(whole_session, daemon):
    called = METHODS_CALLED.copy()
    offered = {m["name"] for m in daemon.call("rpc.discover")["methods"]}
    assert sorted(offered - called) == []


def test_every_command_was_used(whole_session, daemon):
    used = COMMANDS_USED.copy()
    shown = daemon.rlctl("help", check=0).out
    offered = set(re.findall(r"^ {2,}([a-z]+(?: (?:show|verify|check|export))?)\b", shown, re.M))
    assert offered, shown
    missing = {c for c in offered if c not in used and not any(u.startswith(c + " ") for u in used)}
    assert sorted(missing - {"help"}) == []
