# SPDX-License-Identifier: MIT
"""Cancel works in every state that is not an end, is idempotent, and leaves no process."""
import os

import pytest
from rld import RpcError, alive, carriers, descendants

SCRIPTS = {"implement": "echo one > work.txt\n[ -e \"$PLAY/stop.implement\" ] && gate implement\nanswer first\n",
           "review.1": "[ -e \"$PLAY/stop.review\" ] && gate review\ndrift more\n",
           "review": "pass\n",
           "fix": "[ -e \"$PLAY/stop.fix\" ] && gate fix\necho two >> work.txt\nanswer second\n"}


@pytest.mark.parametrize("role", ["implement", "review", "fix"])
def test_while_an_agent_works(make_daemon, repo, role):
    daemon = make_daemon(scripts=SCRIPTS, gates=[role])
    (daemon.play.path / f"stop.{role}").touch()
    number = daemon.review(repo.path)
    pid = daemon.play.arrived(role)
    daemon.call("run.cancel", id=number)
    row = daemon.ended(number)
    assert row["state"] == "cancelled" and f"uid {os.getuid()}" in row["cause"], row
    assert not alive(pid)
    last = daemon.attempts(number)[-1]
    assert last["role"] == role and last["process"] == "cancelled", last
    assert [s["phase"] for s in row["slots"]] == ["cancelled"]
    assert daemon.play.starts()[-1][1] == role, "nothing is started after a cancel"


def test_while_queued(make_daemon, repo):
    daemon = make_daemon(scripts=SCRIPTS, gates=["implement"])
    (daemon.play.path / "stop.implement").touch()
    first = daemon.submit(repo.path)
    daemon.play.arrived("implement")
    second = daemon.submit(repo.path)
    assert daemon.run(second)["state"] == "queued"
    daemon.call("run.cancel", id=second)
    assert daemon.ended(second)["state"] == "cancelled"
    assert daemon.attempts(second) == []
    daemon.play.go("implement")
    assert daemon.ended(first)["state"] == "succeeded"


@pytest.mark.parametrize("phase", ["implementing", "reviewing", "fixing"])
def test_at_each_phase_as_it_begins(daemon, repo, phase):
    """Wherever the machine stands when the request comes, git steps included, it ends cancelled or
    with its true end."""
    with daemon.events() as events:
        number = daemon.review(repo.path)
        events.until("slot.phase", lambda e: e["phase"] == phase)
        try:
            assert daemon.call("run.cancel", id=number)["id"] == number
            end = "cancelled"
        except RpcError as error:
            assert error.code == 2
            end = "succeeded"
    assert daemon.ended(number)["state"] == end
    assert carriers([a["uuid"] for a in daemon.attempts(number)]) == []


@pytest.mark.broad
def test_after_each_event(make_daemon, repo):
    """Cancel at every event of a run, one run for each: no state is left that never ends."""
    daemon = make_daemon()
    at, seen = 0, 0
    while True:
        with daemon.events(since=0) as events:
            number = daemon.review(repo.path)
            for _ in range(at + 1):
                event = events.next()
                while event.get("run") != number:
                    event = events.next()
                if event["type"] == "run.state" and event["state"] in ("succeeded", "failed"):
                    break
            ended = event["type"] == "run.state" and event["state"] == "succeeded"
        if not ended:
            try:
                daemon.call("run.cancel", id=number)
            except RpcError as error:
                assert error.code == 2
        row = daemon.ended(number)
        assert row["state"] in ("cancelled", "succeeded"), row
        seen += row["state"] == "cancelled"
        (repo.path / "work.txt").unlink(missing_ok=True)
        if ended:
            break
        at += 1
    assert seen >= 8, f"{seen} of {at} cancels came in time"


def test_is_idempotent(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "trap '' TERM\ngate deaf\n"}, gates=["deaf"],
                         config={"limits": {"grace": "1s"}})
    number = daemon.submit(repo.path)
    daemon.play.arrived("deaf")
    for _ in range(3):
        daemon.call("run.cancel", id=number)
    row = daemon.ended(number)
    assert row["state"] == "cancelled"
    again = daemon.call("run.cancel", id=number)
    assert again["state"] == "cancelled" and again["cause"] == row["cause"]
    told = [e for e in daemon.call("event.list", since=0)["events"]
            if e["type"] == "run.state" and e["state"] == "cancelled"]
    assert len(told) == 1


def test_of_an_ended_run_is_wrong_state(daemon, repo):
    number = daemon.submit(repo.path)
    daemon.ended(number)
    with pytest.raises(RpcError) as error:
        daemon.call("run.cancel", id=number)
    assert error.value.code == 2


def test_of_no_run_is_not_found(daemon):
    with pytest.raises(RpcError) as error:
        daemon.call("run.cancel", id=99)
    assert error.value.code == 1 and error.value.data["kind"] == "not-found"


def test_check_changes_nothing(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "gate work\n"}, gates=["work"])
    number = daemon.submit(repo.path)
    daemon.play.arrived("work")
    daemon.call("run.cancel", id=number, check=True)
    assert daemon.run(number)["state"] == "running"
    daemon.play.go("work")
    assert daemon.ended(number)["state"] == "succeeded"


TREES = {
    "children": "sleep 1000 & sleep 1000 & sleep 1000 &",
    "sessions": "setsid sleep 1000 & setsid sh -c 'sleep 1000 & sleep 1000' &",
    "daemons": "(setsid sh -c '(setsid sleep 1000 &) ; sleep 1000' &)",
    "stopped": "sleep 1000 & kill -STOP $!; (setsid sleep 1000 & kill -STOP $!)",
    "deaf": "sh -c 'trap \"\" TERM HUP INT; sleep 1000 & wait; sleep 1000' &",
    "two hundred": "i=0; while [ $i -lt 200 ]; do i=$((i+1)); sleep 1000 & done",
}


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES.keys())
def test_process_trees(make_daemon, repo, tree):
    daemon = make_daemon(scripts={"implement": tree + "\ngate grown\n"}, gates=["grown"],
                         config={"limits": {"grace": "1s"}})
    number = daemon.submit(repo.path)
    daemon.play.arrived("grown")
    daemon.call("run.cancel", id=number)
    assert daemon.ended(number)["state"] == "cancelled"
    assert carriers([a["uuid"] for a in daemon.attempts(number)]) == []
    assert descendants(daemon.pid) == []


def test_a_held_run(make_daemon, repo):
    import signal
    from rld import proc_stat
    daemon = make_daemon(scripts={"implement": "gate work\n"}, gates=["work"])
    number = daemon.submit(repo.path)
    os.kill(proc_stat(daemon.play.arrived("work"))[1], signal.SIGKILL)
    assert daemon.ended(number)["state"] == "held"
    assert daemon.cancelled(number)["state"] == "cancelled"


def test_across_a_restart(make_daemon, repo):
    """A cancel that was answered holds, whatever happens to the daemon afterwards."""
    daemon = make_daemon(scripts={"implement": "trap '' TERM\ngate deaf\n"}, gates=["deaf"],
                         config={"limits": {"grace": "1s"}})
    number = daemon.submit(repo.path)
    pid = daemon.play.arrived("deaf")
    daemon.call("run.cancel", id=number)
    daemon.kill()
    daemon.start()
    assert daemon.ended(number)["state"] == "cancelled"
    assert not alive(pid)
