# SPDX-License-Identifier: MIT
"""Runs last: every method of rpc.discover and every command of rlctl help was used by some test of this session."""
import re
from pathlib import Path

import pytest
from rld import COMMANDS_USED, METHODS_CALLED


@pytest.fixture
def whole_session(request):
    here = {path.name for path in Path(__file__).parent.glob("test_*.py")}
    chosen = {item.fspath.basename for item in request.session.items}
    if request.config.option.keyword or here - chosen:
        pytest.skip("only a whole session can tell")


def test_every_method_was_called(whole_session, daemon):
    called = METHODS_CALLED.copy()
    offered = {m["name"] for m in daemon.call("rpc.discover")["methods"]}
    assert sorted(offered - called) == []


def test_every_command_was_used(whole_session, daemon):
    shown = daemon.rlctl("help", check=0).out
    offered = set()
    for name, words in re.findall(r"^  ([a-z]+) +(?:([a-z]+(?: ?[|] ?[a-z]+)+) )?", shown, re.M):
        offered |= {f"{name} {word.strip()}" for word in words.split("|")} if words else {name}
    assert {"run", "submit", "review show", "review verify", "config check"} <= offered, shown
    assert sorted(offered - COMMANDS_USED) == []
