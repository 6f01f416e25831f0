# SPDX-License-Identifier: MIT
"""run.pause and run.resume: what runs ends by itself, nothing more is started, and only
resume undoes it."""
import pytest
from rld import Repo, RpcError

GATES = [f"g{i}" for i in range(1, 7)]
SCRIPTS = {"implement": "gate g$RL_RUN\necho one > work.txt\nanswer done\n", "review": "pass\n"}


@pytest.fixture
def daemon(make_daemon):
    return make_daemon(scripts=SCRIPTS, gates=GATES, config={"parallel": 2})


@pytest.fixture
def repos(tmp_path):
    return iter(Repo(tmp_path / f"r{i}") for i in range(20))


def refused(daemon, method, code, **params):
    with pytest.raises(RpcError) as error:
        daemon.call(method, **params)
    assert error.value.code == code, error.value
    return error.value


def pause_at_work(daemon, repo):
    """A run that is paused while its implementer stands at the gate."""
    run = daemon.review(repo.path)
    daemon.play.arrived(f"g{run}")
    row = daemon.call("run.pause", id=run)
    assert (row["state"], row["paused"]) == ("paused", True), row
    return run


def implemented(daemon, run):
    """Let the implementer end, and see that end on disk."""
    daemon.play.go(f"g{run}")
    with daemon.events(run=run) as events:
        assert events.until("attempt.ended")["state"] == "exited"


def test_what_runs_ends_and_nothing_more_starts(daemon, repos):
    run = pause_at_work(daemon, next(repos))
    implemented(daemon, run)
    # from its start to its end while the first one does nothing
    other = daemon.review(next(repos).path)
    daemon.play.arrived(f"g{other}")
    daemon.play.go(f"g{other}")
    assert daemon.ended(other)["state"] == "succeeded"
    assert [s[1] for s in daemon.play.starts(run)] == ["implement"]
    row = daemon.run(run)
    assert (row["state"], row["paused"], row["tasks"][0]["state"]) == ("paused", True, "claimed"), row
    assert [r["id"] for r in daemon.call("run.list", state="paused")["runs"]] == [run]
    assert daemon.call("daemon.status")["runs"]["paused"] == 1
    daemon.call("run.resume", id=run)
    row = daemon.ended(run)
    assert (row["state"], row["paused"]) == ("succeeded", False), row
    assert [s[1] for s in daemon.play.starts(run)] == ["implement", "review"]


def test_resume_while_the_agent_still_runs(daemon, repos):
    run = pause_at_work(daemon, next(repos))
    row = daemon.call("run.resume", id=run)
    assert (row["state"], row["paused"]) == ("running", False), row
    daemon.play.go(f"g{run}")
    assert daemon.ended(run)["state"] == "succeeded"
    assert [s[1] for s in daemon.play.starts(run)] == ["implement", "review"]


def test_resume_answers_with_the_state_that_it_leads_to(daemon, repos):
    run = pause_at_work(daemon, next(repos))
    implemented(daemon, run)
    others = [daemon.review(next(repos).path) for _ in range(2)]
    for other in others:
        daemon.play.arrived(f"g{other}")
    # both slots are taken: it waits, and says for what
    assert daemon.rlctl("resume", run, check=0).err == f"Run {run}: queued; all slots of the daemon are in use.\n"
    daemon.call("run.pause", id=run)
    daemon.cancelled(others[0])
    assert daemon.rlctl("resume", run, check=0).err == f"Run {run}: running.\n"
    assert daemon.ended(run)["state"] == "succeeded"
    assert [s[1] for s in daemon.play.starts(run)] == ["implement", "review"]
    daemon.cancelled(others[1])


def test_a_queued_run_is_passed_over(daemon, repos):
    first, second, third, fourth = (daemon.review(next(repos).path) for _ in range(4))
    daemon.play.arrived(f"g{first}")
    daemon.play.arrived(f"g{second}")
    row = daemon.call("run.pause", id=third)
    assert (row["state"], row["paused"]) == ("queued", True), row
    with daemon.events(run=third) as events:
        events.until("run.state", lambda e: e.get("reason") == "paused")
    daemon.play.go(f"g{first}")
    daemon.play.arrived(f"g{fourth}")
    assert daemon.play.starts(third) == [] and daemon.run(third)["reason"] == "paused"
    daemon.play.go(f"g{second}")
    daemon.ended(second)
    row = daemon.call("run.resume", id=third)
    assert not row["paused"]
    daemon.play.arrived(f"g{third}")
    for run in (third, fourth):
        daemon.play.go(f"g{run}")
    assert {r["state"] for r in daemon.ended(third, fourth)} == {"succeeded"}


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_a_pause_outlives_the_daemon(daemon, repos, end):
    run = pause_at_work(daemon, next(repos))
    waiting = daemon.review(next(repos).path, priority=-1)
    daemon.play.arrived(f"g{waiting}")
    queued = daemon.review(next(repos).path)
    daemon.call("run.pause", id=queued)
    getattr(daemon, end)()
    daemon.play.go(f"g{run}")
    daemon.start()
    with daemon.events(run=run) as events:
        events.until("attempt.ended")
    daemon.play.go(f"g{waiting}")
    assert daemon.ended(waiting)["state"] == "succeeded"
    rows = daemon.run(run), daemon.run(queued)
    assert [(r["state"], r["paused"]) for r in rows] == [("paused", True), ("queued", True)], rows
    assert [s[1] for s in daemon.play.starts(run)] == ["implement"] and daemon.play.starts(queued) == []
    daemon.call("run.resume", id=run)
    assert daemon.ended(run)["state"] == "succeeded"
    daemon.call("run.resume", id=queued)
    daemon.play.arrived(f"g{queued}")
    daemon.play.go(f"g{queued}")
    assert daemon.ended(queued)["state"] == "succeeded"


def test_a_paused_run_can_be_cancelled(daemon, repos):
    run = pause_at_work(daemon, next(repos))
    row = daemon.cancelled(run)
    assert row["state"] == "cancelled" and [s[1] for s in daemon.play.starts(run)] == ["implement"], row
    assert refused(daemon, "run.resume", 2, id=run).data["field"] == "id"


def test_what_is_refused(daemon, repos):
    run = pause_at_work(daemon, next(repos))
    refused(daemon, "run.pause", 2, id=run)
    assert refused(daemon, "run.pause", 1, id=99).data["field"] == "id"
    refused(daemon, "run.resume", 1, id=99)
    refused(daemon, "run.pause", -32602, id="x")
    daemon.call("run.resume", id=run)
    refused(daemon, "run.resume", 2, id=run)
    daemon.play.go(f"g{run}")
    daemon.ended(run)
    for method in ("run.pause", "run.resume"):
        error = refused(daemon, method, 2, id=run)
        assert error.message == f"run {run} has ended: succeeded" and error.data["hint"], error


HELD = {"review": "drift 'never good'\n", "fix": "echo $nth >> work.txt\nanswer fixed\n"}


def pause_held(daemon, repo, **settings):
    """A held run that is paused, and its hold."""
    daemon.play.set(HELD)
    run = daemon.review(repo.path, review={"on_exhausted": "hold", "max_fixes": 0}, **settings)
    daemon.play.arrived(f"g{run}")
    daemon.play.go(f"g{run}")
    assert daemon.ended(run)["state"] == "held"
    assert daemon.rlctl("pause", run, check=0).err == \
        f'Run {run}: held and paused; decisions start no attempt. "rlctl resume {run}" continues the run.\n'
    row = daemon.run(run)
    assert (row["state"], row["paused"]) == ("held", True), row
    refused(daemon, "run.pause", 2, id=run)
    return run, daemon.call("hold.list", run=run, state="open")["holds"][0]["id"]


def test_resume_leaves_a_held_run_held(daemon, repos):
    run, hold = pause_held(daemon, next(repos))
    row = daemon.call("run.resume", id=run)
    assert (row["state"], row["paused"]) == ("held", False), row
    refused(daemon, "run.resume", 2, id=run)
    daemon.call("hold.reject", id=hold)
    assert daemon.ended(run)["state"] == "failed"


@pytest.mark.parametrize("end", [None, "kill"])
def test_rework_of_a_paused_run_waits_for_resume(daemon, repos, end):
    run, hold = pause_held(daemon, next(repos))
    if end is not None:
        getattr(daemon, end)()
        daemon.start()
    daemon.call("hold.rework", id=hold, message="once more")
    waits = daemon.run(run)
    assert (waits["state"], waits["paused"], waits["reason"]) == ("queued", True, "paused"), waits
    daemon.play.set({**HELD, "implement": SCRIPTS["implement"], "review": "pass\n"})
    # from its start to its end: the paused run is passed over
    other = daemon.review(next(repos).path)
    daemon.play.arrived(f"g{other}")
    daemon.play.go(f"g{other}")
    assert daemon.ended(other)["state"] == "succeeded"
    assert [s[1] for s in daemon.play.starts(run)] == ["implement", "review"]
    assert daemon.call("run.resume", id=run)["state"] == "running"
    assert daemon.ended(run)["state"] == "succeeded"
    assert [s[1] for s in daemon.play.starts(run)] == ["implement", "review", "fix", "review"]


def test_approve_of_a_paused_run_starts_no_commit_agent(daemon, repos):
    run, hold = pause_held(daemon, next(repos), commit="agent")
    daemon.play.set({"commit": "git add -A\ngit commit -qm done\nanswer committed\n"})
    with daemon.events(run=run) as events:
        daemon.call("hold.approve", id=hold)
        events.until("slot.phase", lambda e: e["phase"] == "committing")
    # decided on after it, and on its way before the commit would be
    other = daemon.review(next(repos).path)
    daemon.play.arrived(f"g{other}")
    row = daemon.run(run)
    assert (row["state"], row["paused"]) == ("paused", True), row
    assert [s[1] for s in daemon.play.starts(run)] == ["implement", "review"]
    daemon.call("run.resume", id=run)
    assert daemon.ended(run)["state"] == "succeeded"
    assert [s[1] for s in daemon.play.starts(run)] == ["implement", "review", "commit"]
    daemon.cancelled(other)


def test_check_changes_nothing(daemon, repos):
    run = daemon.review(next(repos).path)
    daemon.play.arrived(f"g{run}")
    assert daemon.call("run.pause", id=run, check=True)["state"] == "running"
    refused(daemon, "run.resume", 2, id=run, check=True)
    assert not daemon.run(run)["paused"]
    daemon.call("run.pause", id=run)
    assert daemon.call("run.resume", id=run, check=True)["paused"]
    assert daemon.run(run)["state"] == "paused"
    daemon.call("run.resume", id=run)
    daemon.play.go(f"g{run}")
    assert daemon.ended(run)["state"] == "succeeded"


def test_the_commands(daemon, repos):
    runs = [daemon.review(next(repos).path) for _ in range(2)]
    for run in runs:
        daemon.play.arrived(f"g{run}")
    done = daemon.rlctl("pause", *runs, check=0)
    assert done.out == "" and [line.split(";")[0]
                               for line in done.err.splitlines()] == [f"Run {r}: paused" for r in runs]
    assert f'"rlctl resume {runs[0]}"' in done.err
    listed = daemon.rlctl("list", "--state", "paused", check=0).out
    assert [line.split()[:2] for line in listed.splitlines()[1:]] == [[str(r), "paused"] for r in reversed(runs)]
    shown = daemon.rlctl("show", runs[0], check=0).out
    assert shown.splitlines()[0] == f"Run {runs[0]}  paused"
    done = daemon.rlctl("pause", runs[0], 99, check=1)
    assert "already paused" in done.err and "no such run: 99" in done.err
    done = daemon.rlctl("resume", *runs, check=0)
    assert [line.split(":")[0]
            for line in done.err.splitlines()] == [f"Run {r}" for r in runs] and "paused" not in done.err
    for run in runs:
        daemon.play.go(f"g{run}")
    daemon.ended(*runs)
    assert "has ended" in daemon.rlctl("resume", runs[0], check=1).err
    assert daemon.rlctl("pause", "x", check=2).out == ""
