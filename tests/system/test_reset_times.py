# SPDX-License-Identifier: MIT
"""Until when an account waits, by clocks of the place where the agent is."""
import datetime
import json
import shlex
import zoneinfo

import pytest

CODEX = "You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro) or try again at 8:25 AM."


def limited(daemon, repo, words):
    """A run whose agent was refused with these words: the run and its account, which waits."""
    output = "".join(json.dumps(d) + "\n" for d in ({"type": "thread.started", "thread_id": "t"},
                                                    {"type": "turn.failed", "error": {"message": words}}))
    daemon.play.set({"implement": f"printf '%s' {shlex.quote(output)}\nexit 1\n"})
    run = daemon.submit(repo.path, agent="coder")
    with daemon.events(run=run) as events:
        while events.next().get("phase") != "cooling":
            pass
    return run, next(a for a in daemon.call("cooldown.list")["accounts"] if a["account"] == "coder")


def clock(account, zone):
    until = datetime.datetime.fromisoformat(account["until"].replace("Z", "+00:00"))
    return until.astimezone(zoneinfo.ZoneInfo(zone)).strftime("%H:%M")


def daemon_in(make_daemon, zone, **settings):
    daemon = make_daemon(start=False, environment={"TZ": zone} if zone else {})
    daemon.write_config({"agent.coder": {"command": daemon.play.command(), "reader": "codex", **settings}})
    return daemon.start()


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kathmandu", "CET-1CEST,M3.5.0,M10.5.0/3"])
def test_a_clock_without_a_zone_is_of_the_agent(make_daemon, repo, zone):
    run, account = limited(daemon_in(make_daemon, zone), repo, CODEX)
    assert (account["in_force"], account["kind"]) == (True, "limit")
    assert clock(account, "Europe/Berlin" if zone.startswith("CET") else zone) == "08:25"


def test_the_settings_of_the_agent_come_first(make_daemon, repo):
    run, account = limited(daemon_in(make_daemon, "America/New_York", set={"TZ": "Asia/Tokyo"}), repo, CODEX)
    assert clock(account, "Asia/Tokyo") == "08:25"


def test_a_zone_that_nobody_knows_is_told(make_daemon, repo):
    daemon = daemon_in(make_daemon, "Asia/Tokyo")
    run, account = limited(daemon, repo, "You’ve hit your usage limit · resets 8:25am (Mars/Olympus)")
    assert clock(account, "Asia/Tokyo") == "08:25"
    warning, = daemon.run(run)["warnings"]
    assert "Mars/Olympus" in warning and "Asia/Tokyo" in warning


def test_a_zone_that_nobody_knows_is_told_once(make_daemon, repo):
    """Also to a daemon that has not told it itself."""
    daemon = daemon_in(make_daemon, "Asia/Tokyo")
    run, _ = limited(daemon, repo, "You’ve hit your usage limit · resets 8:25am (Mars/Olympus)")
    for restart in (False, True):
        if restart:
            daemon.kill()
            daemon.start()
        with daemon.events(run=run, since=None) as events:
            daemon.call("cooldown.clear", account="coder")
            events.until("attempt.ended")
            while events.next().get("phase") != "cooling":
                pass
        warning, = daemon.run(run)["warnings"]
        assert "Mars/Olympus" in warning


def test_a_slot_has_no_time_of_its_next_try_once_its_cooldown_is_cleared(make_daemon, repo):
    daemon = daemon_in(make_daemon, "Asia/Tokyo")
    run, _ = limited(daemon, repo, CODEX)
    assert daemon.run(run)["slots"][0]["next_at"]
    with daemon.connect() as rpc, daemon.connect() as other:
        rpc.send({"jsonrpc": "2.0", "id": 0, "method": "cooldown.clear", "params": {"account": "coder"}})
        # between the commit and the next try: each answer is held against rpc.discover
        while other.call("run.get", id=run)["slots"][0]["phase"] == "cooling":
            pass
