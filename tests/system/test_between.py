# SPDX-License-Identifier: MIT
"""What happens to a run between its slots: people who decide, cancel and retry meanwhile, sources
that fail, and deaths."""

import pytest
from outer import WORK, Beads, bead, states, submit, tasks_done, with_bd
from rld import ENDS, Repo, RpcError, can_trace
from trees import STOPS, beads, trees  # noqa: F401

NEVER = {"profile": "verdict", "max_fixes": 0, "on_exhausted": "hold"}


def holds(daemon, run=None):
    return daemon.call("hold.list", state="open", **({"run": run} if run else {}))["holds"]


def told(daemon, run, since=0, **wanted):
    """Wait for an event run.state that says so."""
    with daemon.events(run=run, since=since, types=["run.state"]) as events:
        return events.until("run.state", lambda e: wanted.items() <= e.items())


# ---- retry ---------------------------------------------------------------------------------------

def test_retry_of_a_cancelled_run_whose_task_has_passed(trees):
    """The cancel came while its work tree was removed: there is nothing to do again."""
    t = trees()
    number, _ = t.submit_to("after-pin", task="do it", review=True, integrate="merge")
    t.stop_at("clear")
    t.play.go("after-pin")
    t.play.arrived("clear")
    t.daemon.call("run.cancel", id=number)
    t.play.go("clear")
    row = t.daemon.ended(number)
    assert (row["state"], row["tasks"][0]["state"]) == ("cancelled", "passed"), row
    with pytest.raises(RpcError) as error:
        t.daemon.call("run.retry", id=number)
    assert error.value.code == 2 and "passed" in error.value.message, error.value


def test_retry_of_a_held_run_waits_until_its_task_is_given_back(make_daemon, tmp_path):
    repo = Repo(tmp_path / "r")
    Beads(repo.path, bead("x-1"))
    daemon, bd = with_bd(make_daemon, tmp_path,
                         scripts={"implement": WORK, "review.1": "drift 'never good'\n",
                                  "review": "pass\n"}, config={"parallel": 4})
    first = submit(daemon, repo.path, isolation="worktree", review={"enabled": True, **NEVER})
    assert daemon.ended(first)["state"] == "held"
    daemon.play.set({"review.1": "pass\n"})
    bd.stop("release", "before")
    again = daemon.call("run.retry", id=first)["id"]
    daemon.play.arrived("bd")
    told(daemon, again, state="queued", reason=f"waits for run {first}")
    daemon.play.go("bd")
    row = daemon.ended(again)
    assert (row["state"], row["cause"], states(daemon, again)) == ("succeeded", None, {"x-1": "passed"}), row
    assert daemon.run(first)["state"] == "cancelled" and tasks_done(daemon.play) == ["x-1"]


# ---- cancel --------------------------------------------------------------------------------------

@pytest.mark.parametrize("state", ["paused", "queued"])
def test_killed_when_a_cancel_waits_for_the_preparation(make_daemon, repo, state):
    """The run was paused while it prepared (and perhaps sent on); the record is what such a
    death leaves behind."""
    daemon = make_daemon(scripts={"implement": "gate implement\n"}, gates=["implement"])
    first, run = daemon.submit(repo.path), daemon.submit(repo.path)
    daemon.play.arrived("implement")
    daemon.kill()
    database = daemon.database()
    database.execute("UPDATE run SET state = ?, started_at = created_at, "
                     "cause = 'cancelled by uid 0', end_kind = 'cancelled', "
                     "reason = 'cancelling', wait_kind = 'cancelling' WHERE id = ?", (state, run))
    database.close()
    daemon.start()
    row = daemon.ended(run)
    assert (row["state"], row["cause"]) == ("cancelled", "cancelled by uid 0")
    daemon.play.go("implement")
    assert daemon.ended(first)["state"] == "succeeded"


# ---- a source that fails between two iterations --------------------------------------------------

def test_a_source_that_fails_leaves_what_is_held_to_people(trees, repo):
    beads(repo, "x-1", "x-2")
    t = trees(scripts={"implement": 'echo "$RL_TASK_ID" > "$RL_TASK_ID.txt"; '
                       'echo "{" > "%s/.beads/issues.jsonl"; answer done\n' % repo.path,
                       "review": "drift 'never good'\n"})
    number = t.submit(parallel=1, review=NEVER)
    row = t.daemon.ended(number)
    assert row["state"] == "held" and "load of beads failed" in row["reason"], row
    hold, = holds(t.daemon, number)
    with t.daemon.events(run=number, types=["run.state"]) as events:
        t.daemon.call("hold.approve", id=hold["id"])
        events.until("run.state", lambda e: e["state"] in ENDS)
    row = t.daemon.run(number)
    assert row["state"] == "failed" and "load of beads failed" in row["cause"], row
    assert {k: v["state"] for k, v in t.tasks(number).items()} == {"x-1": "passed", "x-2": "cancelled"}
    assert holds(t.daemon) == [] and t.slot(number, "x-1")["worktree"] is None


def test_a_source_that_fails_fails_what_waits_for_the_review(trees, repo):
    beads(repo, "x-1", "x-2")
    t = trees(scripts={"implement": 'echo "$RL_TASK_ID" > "$RL_TASK_ID.txt"; '
                       'echo "{" > "%s/.beads/issues.jsonl"; answer done\n' % repo.path})
    number = t.submit(parallel=1, review={"profile": "verdict", "scope": "run"})
    row = t.daemon.ended(number)
    assert row["state"] == "failed" and "load of beads failed" in row["cause"], row
    task = t.tasks(number)["x-1"]
    assert task["state"] == "failed" and task["reason"] == f"not reviewed: {row['cause']}", (task, row["cause"])
    assert t.slot(number, "x-1")["worktree"] is None
    t.daemon.stop()
    assert t.daemon.query("SELECT count(*) AS n FROM claim WHERE state = 'held'")[0]["n"] == 0


def test_killed_before_the_run_has_ended_for_its_source(trees, repo):
    """Nobody pays for the review of the rest; the record is what such a death leaves behind."""
    beads(repo, "x-1", "x-2")
    t = trees(scripts={"implement.2": "gate at\n", "implement": 'echo "$RL_TASK_ID" > "$RL_TASK_ID.txt"; answer done\n',
                       "review": "pass\n"}, gates=["at"])
    number = t.submit(parallel=1, review={"profile": "verdict", "scope": "run"})
    t.daemon.play.arrived("at")
    t.daemon.kill()
    cause = "not reviewed: load of beads failed"
    database = t.daemon.database()
    database.execute("UPDATE slot SET stage = 'failed', end_kind = 'not-reviewed', cause = ? "
                     "WHERE task = 'x-1'", (cause,))
    database.execute("UPDATE task SET state = 'failed', end_kind = 'not-reviewed', reason = ? "
                     "WHERE id = 'x-1'", (cause,))
    database.close()
    t.daemon.start()
    t.daemon.play.go("at")
    row = t.daemon.ended(number)
    assert (row["state"], row["cause"], row["end_kind"]) == ("failed", cause, "not-reviewed")
    assert {a["role"] for a in t.daemon.attempts(number)} == {"implement"}


# ---- a decision between two iterations -----------------------------------------------------------

def test_sent_back_while_the_source_is_asked(make_daemon, tmp_path):
    """The run keeps the only slot of the daemon between its iterations; who was sent back gets it
    when nothing else is to do."""
    repo = Repo(tmp_path / "r")
    Beads(repo.path, bead("x-1"))
    daemon, bd = with_bd(make_daemon, tmp_path,
                         scripts={"implement": "rm -f $PLAY/never; touch \"$PLAY/bd.ready.before\"\n" + WORK,
                                  "review.1": "drift 'never good'\n",
                                  "review": "pass\n", "fix": "echo fixed > fixed\nanswer fixed\n"},
                         config={"parallel": 1})
    run = submit(daemon, repo.path, isolation="worktree", review={"enabled": True, **NEVER})
    daemon.play.arrived("bd")
    hold, = holds(daemon, run)
    daemon.call("hold.rework", id=hold["id"], message="fix it")
    daemon.play.go("bd")
    row = daemon.ended(run)
    assert row["state"] == "succeeded" and [s[1] for s in daemon.play.starts(run)] == ["implement",
                                                                                       "review", "fix",
                                                                                       "review"], row


# ---- a review of the whole run that is held ------------------------------------------------------

def test_nothing_is_begun_while_the_review_of_the_run_is_held(trees, repo):
    """After a death, too: what is new would pass with the rest, and nobody has reviewed it."""
    beads(repo, "x-1")
    t = trees(scripts={"review": "drift 'never good'\n"})
    number = t.submit(parallel=1, review={**NEVER, "scope": "run"})
    assert t.daemon.ended(number)["state"] == "held"
    hold, = holds(t.daemon, number)
    t.daemon.kill()
    beads(repo, "x-1", "x-2", commit=False)
    t.daemon.start()
    assert t.daemon.run(number)["state"] == "held" and set(t.tasks(number)) == {"x-1"}
    with t.daemon.events(since=None, run=number, types=["run.state"]) as events:
        t.daemon.call("hold.approve", id=hold["id"])
        events.until_end()
    assert t.tasks(number).get("x-2", {"state": "open"})["state"] != "passed"


@pytest.mark.parametrize("dies", [False, True])
def test_what_came_late_is_reviewed_too(trees, repo, dies):
    """A run that was held asks its source again when it goes on. What was accepted before does not
    count for what is new."""
    beads(repo, "x-1")
    t = trees(scripts={"review": "drift 'never good'\n"})
    number = t.submit(parallel=1, review={**NEVER, "scope": "run"})
    assert t.daemon.ended(number)["state"] == "held"
    beads(repo, "x-1", "x-2", commit=False)
    if dies:
        t.daemon.kill()
        t.daemon.start()
    first, = holds(t.daemon, number)
    with t.daemon.events(since=None, run=number, types=["run.state"]) as events:
        t.daemon.call("hold.approve", id=first["id"])
        events.until_end()
    assert {k: v["state"] for k, v in t.tasks(number).items()} == {"x-1": "passed", "x-2": "implemented"}
    second, = holds(t.daemon, number)
    assert second["id"] != first["id"]
    t.daemon.call("hold.approve", id=second["id"])
    row = t.daemon.ended(number)
    assert (row["state"] == "succeeded"
            and [r["decision"] for r in t.daemon.reviews(number)] == ["drift", "accepted"] * 2), row


def test_cancelled_behind_the_review_of_the_run(trees, repo):
    """The review has failed, and its work tree is being removed: all that it was
    about has failed."""
    beads(repo, "x-1", "x-2")
    t = trees(scripts={"review": "drift 'never good'\n", "fix": "echo more > more.txt\nanswer done\n"})
    number, _ = t.submit_to("save", parallel=1, integrate="merge",
                            review={"profile": "verdict", "scope": "run", "max_fixes": 1})
    assert [a["role"] for a in t.daemon.attempts(number)] == ["implement", "implement", "review", "fix", "review"]
    t.daemon.call("run.cancel", id=number)
    t.play.go("save")
    row = t.daemon.ended(number)
    assert row["state"] == "cancelled" and {k: v["state"]
                                            for k, v in t.tasks(number).items()} == {"x-1": "failed",
                                                                                     "x-2": "failed"}, row


# ---- the base of a commit agent ------------------------------------------------------------------

def test_killed_before_it_knows_what_an_agent_commits_on(trees, repo):
    t = trees(scripts={"implement": "echo one > work.txt\nanswer done\n",
                       "commit": "git add work.txt && git commit -q -m work\nanswer done\n"})
    number, _ = t.submit_to("base", task="do it", isolation="shared", commit="agent")
    head = repo.git("rev-parse", "HEAD")
    t.stop_at("base")
    t.play.go("base")
    t.play.arrived("base")
    t.daemon.kill()
    t.daemon.start()
    row = t.daemon.ended(number)
    assert (row["state"], row["base_commit"]) == ("succeeded", head), row


# ---- who has passed or given back, after a death -------------------------------------------------

def test_a_story_that_was_given_back_is_done_after_a_death(make_daemon, tmp_path):
    prd = ('{"userStories": [{"id": "s-1", "title": "one", "passes": false}, {"id": "s-2", '
           '"title": "two", "passes": false}]}')
    path = tmp_path / "prd.json"
    path.write_text(prd)
    daemon = make_daemon(scripts={"implement": 'gate "$RL_RUN"\n' + WORK}, gates=["1", "2"], config={"parallel": 4})
    repo = Repo(tmp_path / "r")
    runs = []
    for n in (1, 2):
        runs.append(submit(daemon, repo.path, stories=prd, stories_path=str(path), isolation="worktree", parallel=1))
        daemon.play.arrived(str(n))
    assert [states(daemon, r) for r in runs][1] == {"s-1": "taken", "s-2": "claimed"}
    assert daemon.cancelled(runs[0])["state"] == "cancelled"
    daemon.kill()
    daemon.start()
    daemon.play.go("2")
    daemon.play.arrived("2")
    daemon.play.go("2")
    row = daemon.ended(runs[1])
    assert (row["state"], states(daemon, runs[1])) == ("succeeded", {"s-1": "passed", "s-2": "passed"}), row


# ---- more of retry -------------------------------------------------------------------------------

def test_retry_of_a_workflow_reviews_what_was_only_skipped(make_daemon, repo):
    """--skip-review has no effect on a retry, for tasks with a review of their own neither."""
    flow = '{"tasks": {"a": {"prompt": "do a", "overlays": {"agentic_review": {"enabled": true}}}}}'
    daemon = make_daemon(scripts={"implement.1": "exit 3\n",
                                  "implement": "echo one > work.txt\nanswer done\n",
                                  "review": """echo '{"decision": "GO", "feedback": "well"}'\n"""})
    run = submit(daemon, repo.path, workflow=flow, skip_review=True)
    assert daemon.ended(run)["state"] == "failed"
    daemon.play.set({"implement.1": "echo one > work.txt\nanswer done\n"})
    again = daemon.call("run.retry", id=run)["id"]
    assert daemon.ended(again)["state"] == "succeeded"
    assert [s[1] for s in daemon.play.starts(again)] == ["implement", "review"]


def test_the_users_own_file_of_that_name_stays(trees, repo):
    """Profile comments in a work tree: what lies in the user's tree under the name of the carrier
    is no leftover of the run."""
    repo.write("review-comments.json", "mine\n")
    t = trees(scripts={"review": "echo '{\"comments\": []}' > \"$RL_REVIEW_FILE\"\n"})
    row = t.run(task="do it", review={"profile": "comments"})
    assert repo.read("review-comments.json") == "mine\n", row


# ---- a run after one that fails ------------------------------------------------------------------

@pytest.mark.skipif(not can_trace(), reason="strace is missing or may not trace here")
def test_what_it_comes_after_fails_while_it_is_on_its_way_to_the_disk(make_daemon, tmp_path):
    """A slow disk: the submit is decided, and not recorded yet, when the run before it fails."""
    work = tmp_path / "work"
    work.mkdir()
    slow = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync", "-e",
            "inject=fdatasync:delay_exit=400000"]
    daemon = make_daemon(scripts={"implement": "gate g\nexit 3\n"}, gates=["g"], config={"parallel": 4}, prefix=slow)
    first = daemon.submit(work)
    daemon.play.arrived("g")
    with daemon.connect() as rpc:
        rpc.send_raw(rpc.frame(rpc.request("run.submit", {"task": "do it", "workdir": str(work), "after": first})))
        for _ in range(20):
            daemon.call("daemon.status")
        daemon.play.go("g")
        answer = rpc.reply()
    if "result" in answer:
        row = daemon.ended(answer["result"]["id"])
        assert (row["state"], row["cause"]) == ("cancelled", f"run {first}, which must succeed first, failed"), row
    assert [s[0] for s in daemon.play.starts()] == [first]


# ---- what is remembered beside the rows ----------------------------------------------------------

def test_picked_after_a_death_although_it_has_passed_before(make_daemon, tmp_path):
    """It was opened again since: that another run has passed it counts no more."""
    source = Beads(tmp_path / "beads", bead("x-1"))
    daemon = make_daemon(scripts={"implement": WORK})
    first = submit(daemon, source.path)
    assert daemon.ended(first)["state"] == "succeeded"
    source.write(bead("x-1", updated_at="2099-01-01T00:00:00Z"))
    daemon.play.set({"implement": "gate g\necho 'Updated task: x-1'\n"})
    daemon.play.gates("g")
    run = submit(daemon, source.path, assign="agent", iterations=1)
    daemon.play.arrived("g")
    daemon.kill()
    daemon.start()
    daemon.play.go("g")
    row = daemon.ended(run)
    assert (row["state"], states(daemon, run)) == ("succeeded", {"x-1": "passed"}), row


def test_what_the_user_does_while_a_run_is_paused_is_not_the_work_of_its_next_task(make_daemon, tmp_path):
    repo = Repo(tmp_path / "r")
    Beads(repo.path, bead("x-1"), bead("x-2"))
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "beads")
    daemon, bd = with_bd(make_daemon, tmp_path, scripts={
        "implement.1": "[ $RL_RUN = 1 ] && touch \"$PLAY/bd.ready.before\"; echo one > one\nanswer done\n",
        "implement": "echo two > two\nanswer done\n", "review": "pass\n"}, config={"parallel": 1})
    run = submit(daemon, repo.path, review={"enabled": True, "profile": "verdict"})
    daemon.play.arrived("bd")
    daemon.call("run.pause", id=run)
    other = daemon.submit(Repo(tmp_path / "other").path)
    daemon.play.go("bd")
    assert daemon.ended(other)["state"] == "succeeded", "the paused run does nothing any more"
    repo.write("of-the-user", "of the user\n")
    daemon.call("run.resume", id=run)
    assert daemon.ended(run)["state"] == "succeeded"
    told = [daemon.play.prompt(run, "review", n).decode() for n in (1, 2)]
    assert "+one" in told[0] and "+two" in told[1] and "of the user" not in told[1]
