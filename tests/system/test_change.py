# SPDX-License-Identifier: MIT
"""run.change: an unfinished run gets other settings; attempts under way keep theirs."""
import os
import subprocess

import pytest
from rld import BUILD, RpcError
from test_budget import CLAUDE, says, stories

FIX = 'gate "fix.$nth"\necho "fix $nth" >> work.txt\nanswer fixed\n'
DRIFT = "drift \"point $nth\"\n"


def rlctl(daemon, *words):
    done = subprocess.run([BUILD / "rlctl", "--socket", str(daemon.socket), *words], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"})
    return done.returncode, done.stdout, done.stderr


def settings(daemon, number):
    return daemon.run(number)["review"]


def test_more_fix_rounds(make_daemon, repo):
    """For the task under way, and across a death of the daemon."""
    daemon = make_daemon(scripts={"implement": "echo one > work.txt\nanswer done\n", "review": DRIFT,
                                  "review.4": "pass\n", "fix": FIX}, gates=["fix.1", "fix.2", "fix.3"])
    number = daemon.review(repo.path, review={"profile": "verdict", "max_fixes": 1})
    daemon.play.arrived("fix.1")
    assert rlctl(daemon, "change", str(number), "--review-max-fix-attempts", "3")[0] == 0
    daemon.kill()
    daemon.start()
    daemon.play.go("fix.1")
    for gate in ("fix.2", "fix.3"):
        daemon.play.arrived(gate)
        daemon.play.go(gate)
    row = daemon.ended(number)
    assert row["state"] == "succeeded", row
    assert settings(daemon, number)["max_fixes"] == 3


def test_fewer_fix_rounds(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "echo one > work.txt\nanswer done\n", "review": DRIFT,
                                  "fix": FIX}, gates=["fix.1"])
    number = daemon.review(repo.path, review={"profile": "verdict", "max_fixes": 5})
    daemon.play.arrived("fix.1")
    daemon.call("run.change", id=number, max_fixes=0)
    daemon.play.go("fix.1")
    row = daemon.ended(number)
    assert row["state"] in ("failed", "held") and "after 1 fix attempt" in (row["cause"] or row["reason"]), row
    assert len(daemon.play.starts(number, "fix")) == 1


def test_the_limit_of_later_attempts(make_daemon, repo):
    """The one under way keeps its own."""
    daemon = make_daemon(scripts={"implement": "gate here\necho one > work.txt\nanswer done\n",
                                  "review": "exec sleep 1000\n"}, gates=["here"],
                         config={"limits": {"grace": "1s", "timeout": "1h", "idle_timeout": "1h"}})
    number = daemon.review(repo.path, review={"profile": "verdict"})
    daemon.play.arrived("here")
    daemon.call("run.change", id=number, timeout="1s")
    daemon.play.go("here")
    daemon.ended(number)
    assert [(a["role"], a["process"]) for a in daemon.attempts(number)] == [("implement", "exited"),
                                                                            ("review", "timeout")]


def test_a_budget_is_raised(make_daemon, repo):
    """The second task would no longer have started."""
    daemon = make_daemon(scripts={"implement": "gate \"$RL_TASK_ID\"\ntouch $RL_TASK_ID\n" + says(0.5)},
                         gates=["a", "b"], config=CLAUDE)
    number = daemon.submit(str(repo.path), task=None, stories=stories("a", "b"), max_cost=0.5)
    daemon.play.arrived("a")
    daemon.call("run.change", id=number, max_cost=5)
    daemon.play.go("a")
    daemon.play.arrived("b")
    daemon.play.go("b")
    row = daemon.ended(number)
    assert row["state"] == "succeeded" and row["totals"]["cost_usd"] == 1, row


def test_the_floor_is_lowered(make_daemon, repo):
    """A run that waits for more space than the disk has goes on."""
    daemon = make_daemon(scripts={"implement": "echo one > work.txt\nanswer done\n"},
                         config={"limits": {"disk_floor": "1T"}})
    number = daemon.submit(repo.path)
    while not any(slot["wait_kind"] == "space" for slot in daemon.run(number)["slots"]):
        pass
    status, out, err = rlctl(daemon, "change", str(number), "--disk-floor", "0")
    assert (status, out) == (0, "") and "changed" in err, err
    assert daemon.ended(number)["state"] == "succeeded"


def test_another_priority(make_daemon, repo, tmp_path):
    """The run that came last starts first."""
    daemon = make_daemon(scripts={"implement": "gate \"run.$RL_RUN\"\nanswer done\n"},
                         gates=["run.1", "run.2", "run.3"], config={"parallel": 1})
    numbers = []
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
        numbers.append(daemon.submit(tmp_path / name))
    daemon.play.arrived("run.1")
    answer = daemon.call("run.change", id=numbers[2], priority=5)
    assert answer["reason"] == daemon.run(numbers[2])["reason"] == "all slots of the daemon are in use"
    daemon.restart()
    daemon.play.go("run.1")
    for gate in ("run.3", "run.2"):
        daemon.play.arrived(gate)
        daemon.play.go(gate)
    assert all(daemon.ended(number)["state"] == "succeeded" for number in numbers)


def test_more_slots(make_daemon, repo):
    """A free slot takes the next task at once."""
    daemon = make_daemon(scripts={"implement": "gate \"$RL_TASK_ID\"\necho x > $RL_TASK_ID.txt\nanswer done\n"},
                         gates=["a", "b", "c"])
    number = daemon.submit(str(repo.path), task=None, stories=stories("a", "b", "c"), isolation="worktree", parallel=1)
    daemon.play.arrived("a")
    with daemon.events(run=number) as events:
        daemon.call("run.change", id=number, parallel=2)
        assert events.until("run.changed")["changes"] == ["parallel"]
    daemon.play.arrived("b")
    daemon.play.go("a")
    daemon.play.arrived("c")
    for gate in ("b", "c"):
        daemon.play.go(gate)
    assert daemon.ended(number)["state"] == "succeeded"


def test_added_stories(make_daemon, repo):
    """They are done after those known, and marked in the file; known ones stay as submitted,
    whatever the file says of them now. A death of the daemon changes nothing."""
    path = repo.path / "prd.json"
    path.write_text(stories("a"))
    repo.git("add", ".")
    repo.git("commit", "-qm", "prd")
    daemon = make_daemon(scripts={"implement": "gate \"$RL_TASK_ID\"\necho x > $RL_TASK_ID.txt\nanswer done\n"},
                         gates=["a", "b", "c"])
    number = daemon.submit(str(repo.path), task=None, stories=stories("a"), stories_path=str(path))
    daemon.play.arrived("a")
    path.write_text(stories("b", "a", "c").replace("do a", "do not"))
    assert rlctl(daemon, "change", str(number), "--stories", str(path))[0] == 0
    daemon.kill()
    daemon.start()
    for gate in ("a", "b", "c"):
        if gate != "a":
            daemon.play.arrived(gate)
        daemon.play.go(gate)
    row = daemon.ended(number)
    assert row["state"] == "succeeded" and [t["id"] for t in row["tasks"]] == ["a", "b", "c"], row
    assert row["tasks"][0]["title"] == "do a"
    assert path.read_text().count('"passes": true') == 3


def test_what_is_refused(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "gate here\nanswer done\n"}, gates=["here"])
    number = daemon.submit(repo.path)
    daemon.play.arrived("here")
    before = settings(daemon, number)
    for field, params, words in (
            ("id", {}, "nothing to change"),
            ("parallel", {"parallel": 2}, "share a directory"),
            ("max_cost", {"max_cost": 0}, "max_cost"),
            ("timeout", {"timeout": "soon"}, "timeout"),
            ("priority", {"priority": 101}, "priority"),
            ("stories", {"stories": stories("a")}, "no stories"),
            ("stories", {"stories": "{"}, "line 1"),
            ("colour", {"colour": "red"}, "colour")):
        with pytest.raises(RpcError, match=words) as refused:
            daemon.call("run.change", id=number, **params)
        assert refused.value.data["field"] == field, refused.value
    daemon.call("run.change", id=number, max_fixes=7, check=True)
    assert settings(daemon, number) == before
    status, _, err = rlctl(daemon, "change", str(number))
    assert status != 0 and "nothing to change" in err
    daemon.play.go("here")
    daemon.ended(number)
    with pytest.raises(RpcError, match="has ended") as refused:
        daemon.call("run.change", id=number, priority=1)
    assert refused.value.data["hint"].startswith("its result stands"), "a retry would be refused"
    with pytest.raises(RpcError, match="no such run"):
        daemon.call("run.change", id=99, priority=1)
