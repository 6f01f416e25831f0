# SPDX-License-Identifier: MIT
"""The outer loop: iterations are counted before they run, and end at a limit, a stop marker, a
failure, or when nothing is left."""
import json

import pytest
from outer import NOTE, WORK, Beads, bead, done, reasons, states, submit, tasks_done, waits, with_bd
from rld import ENDS, RpcError

GATED = {"implement": NOTE + 'gate "$RL_TASK_ID"\nanswer done\n'}
STORIES = {"userStories": [{"id": f"s-{n}", "title": f"do s-{n}", "passes": False} for n in range(1, 4)]}


@pytest.fixture
def beads(tmp_path):
    return Beads(tmp_path / "beads", *(bead(f"x-{n}") for n in range(1, 5)))


def iterations(daemon):
    """The rows, while no daemon runs."""
    return [(r["number"], r["state"]) for r in daemon.query("SELECT number, state FROM iteration ORDER BY number")]


# ---- counted first -------------------------------------------------------------------------------

def test_killed_right_after_each_count(make_daemon, tmp_path):
    """A number is never used again, and each attempt belongs to an iteration that is on disk."""
    names = [f"x-{n}" for n in range(8)]
    beads = Beads(tmp_path / "beads", *(bead(n) for n in names))
    daemon = make_daemon(scripts={"implement": WORK})
    run, told, since = submit(daemon, beads.path, on_lost="retry", iterations=20), [], 0
    while True:
        with daemon.events(since=since, run=run, types=["iteration.started", "run.state"]) as events:
            event = events.until("iteration.started", lambda e: True) if len(told) < len(names) else None
        if event is None:
            break
        daemon.kill()
        since = event["seq"]
        told.append(event["iteration"])
        rows = daemon.query("SELECT number FROM iteration ORDER BY number")
        counter = daemon.query("SELECT iteration FROM run")[0]["iteration"]
        assert rows[-1]["number"] == counter >= event["iteration"]
        daemon.start()
    assert daemon.ended(run)["state"] == "succeeded"
    assert told == list(range(1, len(names) + 1))
    assert tasks_done(daemon.play) == names and [d.iteration for d in done(daemon.play)] == told
    attempts = {(a["iteration"], a["task"]) for a in daemon.attempts(run)}
    daemon.stop()
    assert iterations(daemon) == [(n, "passed") for n in told] and attempts == set(zip(told, names))


def test_each_iteration_is_told(make_daemon, beads):
    daemon = make_daemon(scripts={"implement": WORK}, config={"parallel": 4})
    run = submit(daemon, beads.path, parallel=3, iterations=9)
    with daemon.events(run=run, types=["iteration.started", "iteration.ended", "run.state"]) as events:
        events.until_end()
        told = [(e["type"], e["iteration"], e.get("state")) for e in events.seen if e["type"] != "run.state"]
    assert told == [("iteration.started", 1, None), ("iteration.ended", 1, "passed"),
                    ("iteration.started", 2, None), ("iteration.ended", 2, "passed")]
    assert [d.iteration for d in sorted(done(daemon.play), key=lambda d: d.task)] == [1, 1, 1, 2]
    assert (daemon.run(run)["iteration"], daemon.run(run)["iterations"]) == (2, 9)


# ---- limits --------------------------------------------------------------------------------------

def test_the_limit_with_work_left(make_daemon, beads):
    daemon = make_daemon(scripts={"implement": WORK})
    finished = daemon.rlctl("run", "--beads", "-n", "3", cwd=beads.path, check=14)
    assert "limit: 3 iteration(s), 1 task(s) left" in finished.err
    row = daemon.run(1)
    assert (row["state"], row["cause"], row["iteration"]) == ("failed", "limit: 3 iteration(s), 1 task(s) left", 3), row
    assert states(daemon, 1)["x-4"] == "cancelled" and reasons(daemon, 1)["x-4"] == f"not started: {row['cause']}"
    daemon.rlctl("wait", 1, check=14)


@pytest.mark.parametrize("limit", [4, 5])
def test_the_limit_and_nothing_left(make_daemon, beads, limit):
    daemon = make_daemon(scripts={"implement": WORK})
    finished = daemon.rlctl("run", "--beads", "-n", limit, cwd=beads.path, check=0)
    assert "limit" not in finished.err and daemon.run(1)["iteration"] == 4


def test_the_limit_and_a_failure(make_daemon, beads):
    """The failure is what counts."""
    daemon = make_daemon(scripts={"implement": NOTE + "exit 3\n"})
    row = daemon.ended(submit(daemon, beads.path, iterations=1))
    assert row["state"] == "failed" and "status 3" in row["cause"], row
    daemon.rlctl("wait", 1, check=10)


def test_nothing_to_do_is_no_iteration(make_daemon, tmp_path):
    beads = Beads(tmp_path / "beads", bead("x-1", status="closed"), bead("x-2", on=["gone"]),
                  bead("x-3", assignee="eve"))
    daemon = make_daemon(scripts={"implement": WORK})
    row = daemon.ended(submit(daemon, beads.path))
    assert (row["state"], row["iteration"]) == ("succeeded", 0) and daemon.play.starts() == [], row


# ---- stop markers --------------------------------------------------------------------------------

MARKERS = [
    ("no_beads_available", True), ("  No Beads Available \\t", True),
    ("I looked.\\n\\nno_beads_available\\nbye", True), ("no_beads_available.", False),
    ("it said no_beads_available", False), ("> no_beads_available", False),
    ("```\\nno_beads_available\\n```", False), ("~~~~\\nno beads available\\n~~~~", False),
    ("no tasks available", False),
]


@pytest.mark.parametrize("text, stops", MARKERS)
def test_a_line_of_its_own(make_daemon, beads, text, stops):
    daemon = make_daemon(scripts={"implement": NOTE + f"printf '{text}\\n'\n"})
    row = daemon.ended(submit(daemon, beads.path))
    assert row["state"] == "succeeded", row
    if stops:
        assert row["cause"] == "stop-marker: 4 task(s) left" and tasks_done(daemon.play) == ["x-1"], row
        assert states(daemon, 1)["x-1"] == "released" and set(list(states(daemon, 1).values())[1:]) == {"cancelled"}
        daemon.rlctl("wait", 1, check=0)
    else:
        assert row["cause"] is None and len(tasks_done(daemon.play)) == 4, row


def test_its_task_is_given_back_and_siblings_finish(make_daemon, tmp_path):
    daemon, _ = with_bd(make_daemon, tmp_path,
                        scripts={"implement": NOTE + 'gate "$RL_TASK_ID"\n'
                                 '[ "$RL_TASK_ID" != x-1 ] || answer no_beads_available\nanswer done\n'},
                        gates=["x-1", "x-2"], config={"parallel": 4})
    beads = Beads(tmp_path / "beads", *(bead(f"x-{n}") for n in range(1, 4)))
    run = submit(daemon, beads.path, parallel=2)
    for task in ("x-1", "x-2"):
        daemon.play.arrived(task)
    with daemon.events(run=run) as events:
        daemon.play.go("x-1")
        assert "stop marker" in events.until("review.skipped")["reason"]
    assert daemon.run(run)["state"] == "running", "the sibling works"
    daemon.play.go("x-2")
    row = daemon.ended(run)
    assert (row["state"], row["cause"]) == ("succeeded", "stop-marker: 2 task(s) left"), row
    assert states(daemon, run) == {"x-1": "released", "x-2": "passed", "x-3": "cancelled"}
    assert {i: s for i, (s, _) in beads.issues().items()} == {"x-1": "open", "x-2": "closed", "x-3": "open"}


@pytest.mark.parametrize("parallel", [1, 2])
def test_a_task_that_was_given_back_is_not_called_passed(make_daemon, beads, parallel):
    """Not in the lines of a run, not by show; and the list says why the run has ended."""
    daemon = make_daemon(scripts={"implement": NOTE +
                                  '[ "$RL_TASK_ID" != x-1 ] || answer no_beads_available\nanswer done\n'},
                         config={"parallel": 2})
    told = daemon.rlctl("run", "--beads", "-P", parallel, cwd=beads.path, check=0).err
    assert ("given back: the agent gave a stop marker" in told and "PASSED x-1" not in told
            and "passed: not reviewed: the agent gave" not in told), told
    assert parallel == 1 or "A1 STOPPED x-1: given back" in told, told
    shown = daemon.rlctl("show", 1, check=0).out
    assert "given back: the agent gave a stop marker" in shown and "not reviewed: the agent" not in shown, shown
    assert "stop-marker: " in daemon.rlctl("list", check=0).out


def test_in_the_text_of_a_fixer(make_daemon, repo):
    beads = Beads(repo.path, bead("x-1"), bead("x-2"))
    daemon = make_daemon(scripts={"implement": "echo one > work.txt\nanswer done\n",
                                  "review": "drift more\n", "fix": "answer no_beads_available\n"})
    row = daemon.ended(submit(daemon, beads.path, review={"enabled": True}))
    assert (row["state"], row["cause"]) == ("succeeded", "stop-marker: 2 task(s) left"), row
    assert [s[1] for s in daemon.play.starts()] == ["implement", "review",
                                                    "fix"] and states(daemon, 1)["x-1"] == "released"


def test_not_in_the_text_of_a_reviewer(make_daemon, repo):
    beads = Beads(repo.path, bead("x-1"), bead("x-2"))
    daemon = make_daemon(scripts={"implement": NOTE + 'echo "$RL_TASK_ID" > work.txt\nanswer done\n',
                                  "review": "echo no_beads_available\npass\n"})
    row = daemon.ended(submit(daemon, beads.path, review={"enabled": True}))
    assert (row["state"], row["cause"]) == ("succeeded", None) and tasks_done(daemon.play) == ["x-1", "x-2"], row


def test_markers_of_the_run(make_daemon, beads):
    """They take the place of the default ones."""
    daemon = make_daemon(scripts={"implement": NOTE + '[ "$RL_TASK_ID" != x-2 ] && answer '
                                  'no_beads_available || answer "that is all"\n'})
    row = daemon.ended(submit(daemon, beads.path, stop_markers=["That is all"]))
    assert row["cause"] == "stop-marker: 3 task(s) left" and tasks_done(daemon.play) == ["x-1", "x-2"], row


@pytest.mark.parametrize("source", ["stories", "workflow", "prompt"])
def test_sources_that_have_markers(make_daemon, tmp_path, source):
    daemon = make_daemon(scripts={"implement": NOTE + "answer no_beads_available\n"})
    given = {"stories": {"stories": json.dumps(STORIES)},
             "workflow": {"workflow": "tasks: {a: {prompt: x}, b: {prompt: y}}"},
             "prompt": {"task": "x"}}[source]
    row = daemon.ended(daemon.call("run.submit", workdir=str(tmp_path), **given)["id"])
    assert row["state"] == "succeeded" and (row["cause"] == "stop-marker: 3 task(s) left") == (source == "stories"), row
    assert len(tasks_done(daemon.play)) == {"stories": 1, "workflow": 2, "prompt": 1}[source]


# ---- a failure -----------------------------------------------------------------------------------

@pytest.mark.parametrize("on_failure", ["stop", "continue"])
def test_siblings_of_a_failed_slot_finish(make_daemon, beads, on_failure):
    daemon = make_daemon(scripts={"implement": NOTE +
                                  'gate "$RL_TASK_ID"\n[ "$RL_TASK_ID" != x-1 ] || exit 3\nanswer done\n'},
                         gates=[f"x-{n}" for n in range(1, 5)], config={"parallel": 4})
    run = submit(daemon, beads.path, parallel=2, on_failure=on_failure)
    for task in ("x-1", "x-2"):
        daemon.play.arrived(task)
    daemon.play.go("x-1")
    with daemon.events(run=run) as events:
        events.until("slot.phase", lambda e: e["phase"] == "failed")
    assert daemon.run(run)["state"] == "running" and states(daemon, run)["x-2"] == "claimed"
    daemon.play.go("x-2")
    for task in ("x-3", "x-4") if on_failure == "continue" else ():
        daemon.play.arrived(task)
        daemon.play.go(task)
    row = daemon.ended(run)
    assert row["state"] == "failed" and "status 3" in row["cause"], row
    assert list(states(daemon, run).values()) == ["failed", "passed"] + ["cancelled" if on_failure == "stop"
                                                                         else "passed"] * 2
    with daemon.events(run=run, types=["iteration.ended"]) as events:
        assert events.next()["state"] == "failed"
    daemon.rlctl("wait", run, check=10)


def test_a_slot_that_waits_for_the_daemon_does_not_begin_after_a_failure(make_daemon, beads):
    """Slots that run finish; one that has none of the daemon yet is no running one."""
    daemon = make_daemon(scripts={"implement": NOTE +
                                  'gate "$RL_TASK_ID"\n[ "$RL_TASK_ID" != x-1 ] || exit 3\nanswer done\n'},
                         gates=["x-1", "x-2"], config={"parallel": 2})
    run = submit(daemon, beads.path, parallel=3)
    for task in ("x-1", "x-2"):
        daemon.play.arrived(task)
    assert daemon.run(run)["slots"][2]["reason"] == "all slots of the daemon are in use"
    daemon.play.go("x-1")
    with daemon.events(run=run) as events:
        events.until("slot.phase", lambda e: e["phase"] == "failed")
    daemon.play.go("x-2")
    assert daemon.ended(run)["state"] == "failed"
    assert sorted(tasks_done(daemon.play)) == ["x-1", "x-2"] and states(daemon, run)["x-3"] == "cancelled"
    # it is nobody's
    daemon.play.set({"implement": WORK})
    assert (daemon.ended(submit(daemon, beads.path))["state"] == "succeeded"
            and tasks_done(daemon.play, 2) == ["x-1", "x-3", "x-4"])


# ---- the pause between two iterations ------------------------------------------------------------

LONG = 3600 * 1000


def test_a_pause_can_be_cancelled(make_daemon, beads):
    daemon = make_daemon(scripts={"implement": WORK})
    run = submit(daemon, beads.path, pause_ms=LONG)
    waits(daemon, run, "pausing between iterations")
    assert tasks_done(daemon.play) == ["x-1"]
    daemon.rlctl("cancel", run, check=0)
    row = daemon.ended(run)
    assert row["state"] == "cancelled" and list(states(daemon, run).values()) == ["passed"] + ["cancelled"] * 3, row


def test_a_pause_outlives_the_daemon(make_daemon, beads):
    daemon = make_daemon(scripts={"implement": WORK})
    run = submit(daemon, beads.path, pause_ms=LONG)
    waits(daemon, run, "pausing between iterations")
    before = daemon.run(run)["next_at"]
    daemon.kill()
    daemon.start()
    row = daemon.run(run)
    assert (row["state"], row["reason"], row["next_at"]) == ("running", "pausing between iterations",
                                                             before) and before is not None, row
    assert tasks_done(daemon.play) == ["x-1"]
    # whoever pauses and resumes does not wait for it any more
    daemon.call("run.pause", id=run)
    assert daemon.run(run)["state"] == "paused"
    with daemon.events(run=run, types=["iteration.started"],
                       since=daemon.call("event.list", since=0)["next"] - 1) as events:
        daemon.call("run.resume", id=run)
        assert events.until("iteration.started")["iteration"] == 2
    with daemon.events(run=run) as events:
        events.until("slot.phase", lambda e: e["phase"] == "passed" and e["task"] == "x-2")
    assert tasks_done(daemon.play) == ["x-1", "x-2"]


def test_a_pause_and_a_clock_that_was_set_back(make_daemon, beads):
    """The row is that of a clock that was three days ahead."""
    daemon = make_daemon(scripts={"implement": WORK})
    run = submit(daemon, beads.path, pause_ms=2000, iterations=2)
    waits(daemon, run, "pausing between iterations")
    daemon.stop()
    daemon.query("UPDATE run SET next_at = next_at + ?", 3 * 24 * 3600 * 1000)
    daemon.start()
    assert daemon.ended(run)["cause"].startswith("limit: 2 iteration(s)") and tasks_done(daemon.play) == ["x-1", "x-2"]


def test_nobody_waits_after_the_last_iteration(make_daemon, beads):
    """Neither at its limit, nor when a story or a step was the last: only a source that may have
    more is asked once more."""
    daemon = make_daemon(scripts={"implement": WORK})
    rows = daemon.ended(submit(daemon, beads.path, pause_ms=1),
                        daemon.call("run.submit", workdir=str(beads.path),
                                    stories=json.dumps(STORIES), iterations=1, pause_ms=LONG)["id"])
    assert [r["state"] for r in rows] == ["succeeded", "failed"] and rows[1]["cause"].startswith("limit: 1"), rows


# ---- again ---------------------------------------------------------------------------------------

FLOW = "tasks: {a: {prompt: x}, b: {prompt: x}, c: {prompt: x, depends_on: [b]}, d: {prompt: x, depends_on: [a]}}"


def test_a_retry_does_what_did_not_pass(make_daemon, tmp_path):
    daemon = make_daemon(scripts={"implement": NOTE + '[ "$RL_RUN.$RL_TASK_ID" != 1.b ] || exit 3\nanswer done\n'})
    row = daemon.ended(daemon.call("run.submit", workdir=str(tmp_path), workflow=FLOW, on_failure="continue")["id"])
    assert row["state"] == "failed" and tasks_done(daemon.play) == ["a", "b", "d"], row
    again = daemon.call("run.retry", id=1)["id"]
    row = daemon.ended(again)
    assert (row["state"], row["retry_of"]) == ("succeeded", 1) and tasks_done(daemon.play, again) == ["b", "c"], row
    assert (states(daemon, again) == {"b": "passed", "c": "passed"}
            or states(daemon, again) == {"a": "done", "b": "passed", "c": "passed", "d": "done"})


def test_a_retry_of_beads(make_daemon, beads):
    daemon = make_daemon(scripts={"implement": NOTE + '[ "$RL_RUN.$RL_TASK_ID" != 1.x-2 ] || exit 3\nanswer done\n'})
    assert daemon.ended(submit(daemon, beads.path))["state"] == "failed"
    row = daemon.ended(int(daemon.rlctl("retry", 1, check=0).out.split()[0]))
    assert row["state"] == "succeeded" and tasks_done(daemon.play) == ["x-1", "x-2", "x-2", "x-3", "x-4"], row


def test_a_retry_of_a_prd(make_daemon, tmp_path):
    path = tmp_path / "prd.json"
    path.write_text(json.dumps(STORIES))
    daemon = make_daemon(scripts={"implement": NOTE + '[ "$RL_RUN.$RL_TASK_ID" != 1.s-2 ] || exit 3\nanswer done\n'})
    daemon.ended(daemon.call("run.submit", workdir=str(tmp_path), stories=path.read_text(),
                             stories_path=str(path))["id"])
    row = daemon.ended(daemon.call("run.retry", id=1)["id"])
    assert row["state"] == "succeeded" and tasks_done(daemon.play, 2) == ["s-2", "s-3"], row
    assert all(s["passes"] for s in json.loads(path.read_text())["userStories"])


def test_a_retry_leaves_out_what_has_passed_in_another_run(make_daemon, tmp_path):
    """Its text is that of the old run; what the PRD says by now was paid for."""
    path = tmp_path / "prd.json"
    path.write_text(json.dumps(STORIES))
    daemon = make_daemon(scripts={"implement": NOTE + '[ "$RL_RUN" != 1 -a "$RL_RUN.$RL_TASK_ID" '
                                  '!= 2.s-3 ] || exit 3\nanswer done\n'})
    for end in ("failed", "failed"):
        assert daemon.ended(daemon.call("run.submit", workdir=str(tmp_path), stories=path.read_text(),
                                        stories_path=str(path))["id"])["state"] == end
    daemon.restart()
    assert daemon.ended(daemon.call("run.retry", id=1)["id"])["state"] == "succeeded"
    assert tasks_done(daemon.play, 2) == ["s-1", "s-2", "s-3"] and tasks_done(daemon.play, 3) == ["s-3"]
    with pytest.raises(RpcError) as refused:
        daemon.call("run.retry", id=2)
    assert "all tasks of the run have passed" in refused.value.message


# ---- who may change what meanwhile ---------------------------------------------------------------

def test_the_developers_prompt_is_read_again_and_the_reviewers_is_not(make_daemon, repo):
    beads = Beads(repo.path, bead("x-1"), bead("x-2"))
    repo.write(".ai_agents/prompts/developer.md", "BUILD-ONE {{task}}\n")
    repo.write(".ai_agents/prompts/reviewer.md", "JUDGE-ONE {{task}}\n")
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "prompts")
    daemon = make_daemon(scripts={"implement": 'sed -i s/ONE/TWO/ .ai_agents/prompts/*.md\n'
                                  'echo "$RL_TASK_ID" > work.txt\nanswer done\n', "review": "pass\n"})
    assert daemon.ended(submit(daemon, beads.path, review={"enabled": True}))["state"] == "succeeded"
    prompts = {(role, n): daemon.play.prompt(1, role, n).decode() for role in ("implement", "review") for n in (1, 2)}
    assert "BUILD-ONE" in prompts["implement", 1] and "BUILD-TWO" in prompts["implement", 2]
    assert "JUDGE-ONE" in prompts["review",
                                  1] and "JUDGE-ONE" in prompts["review",
                                                                2], "a coder does not write his judge"


def test_cancelled_in_every_state_of_the_loop(make_daemon, beads):
    """Once more is no error; what was claimed is given back."""
    daemon = make_daemon(scripts=GATED, gates=[f"x-{n}" for n in range(1, 5)], config={"parallel": 1})
    run, queued = submit(daemon, beads.path, parallel=2), submit(daemon, beads.path, parallel=2)
    daemon.play.arrived("x-1")
    for number in (queued, run):
        daemon.call("run.cancel", id=number)
        assert daemon.ended(number)["state"] == "cancelled"
        daemon.call("run.cancel", id=number)
    assert daemon.run(run)["state"] in ENDS and "claimed" not in states(daemon, run).values()
    daemon.play.set({"implement": WORK})
    assert daemon.ended(submit(daemon, beads.path))["state"] == "succeeded" and len(tasks_done(daemon.play, 3)) == 4
