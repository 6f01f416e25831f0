# SPDX-License-Identifier: MIT
"""The tasks of a workflow (requirement 001): dependencies, an agent and a review of its own for
each, and people who decide."""
import json

import pytest
from outer import NOTE, WORK, reasons, states, submit, tasks_done
from rld import SANITIZED, Play, RpcError, rss_kib

GO = """echo '{"decision": "GO", "feedback": "all criteria met"}'\n"""
NO_GO = """echo '{"decision": "NO_GO", "feedback": "add a test"}'\n"""

DIAMOND = """
name: diamond
tasks:
  last:
    prompt: put it together
    depends_on: [left, right]
  first:
    prompt: begin
  right: {prompt: the right side, depends_on: [first]}
  left: {prompt: the left side, depends_on: [first]}
"""


def flow(**tasks):
    """A workflow in JSON, which is YAML."""
    return json.dumps({"version": "1", "name": "flow",
                       "tasks": {name: {"prompt": f"do {name}", **keys} for name, keys in tasks.items()}})


def reviewed(**keys):
    return {"agentic_review": {"enabled": True, **keys}}


@pytest.fixture
def work(tmp_path):
    path = tmp_path / "work"
    path.mkdir()
    return path


# ---- dependencies --------------------------------------------------------------------------------

def test_a_task_starts_when_all_before_it_have_passed(make_daemon, work):
    daemon = make_daemon(scripts={"implement": NOTE + 'gate "$RL_TASK_ID"\nanswer done\n'},
                         gates=["first", "left", "right", "last"], config={"parallel": 4})
    run = submit(daemon, work, workflow=DIAMOND, parallel=4)
    daemon.play.arrived("first")
    assert daemon.run(run)["tasks"][0]["reason"] is None or "waits" in daemon.run(run)["tasks"][0]["reason"]
    assert len(daemon.play.starts()) == 1
    daemon.play.go("first")
    for side in ("left", "right"):      # both at once
        daemon.play.arrived(side)
    assert len(daemon.play.starts()) == 3
    daemon.play.go("left")
    with daemon.events(run=run) as events:
        events.until("slot.phase", lambda e: e["phase"] == "passed" and e["task"] == "left")
    assert len(daemon.play.starts()) == 3 and states(daemon, run)["last"] == "open"
    daemon.play.go("right")
    daemon.play.arrived("last")
    daemon.play.go("last")
    row = daemon.ended(run)
    assert row["state"] == "succeeded" and set(states(daemon, run).values()) == {"passed"}, row
    assert [t["id"] for t in row["tasks"]] == ["last", "first", "right", "left"], "as written"


def test_the_order_of_the_file_where_nothing_else_says(make_daemon, work):
    daemon = make_daemon(scripts={"implement": WORK})
    assert daemon.ended(submit(daemon, work, workflow=DIAMOND))["state"] == "succeeded"
    assert tasks_done(daemon.play) == ["first", "right", "left", "last"]


CHAIN = flow(a={}, b={"depends_on": ["a"]}, c={"depends_on": ["b"]}, d={}, e={"depends_on": ["d", "c"]})


def test_dependants_of_a_failed_task_never_start(make_daemon, work):
    daemon = make_daemon(scripts={"implement": NOTE + '[ "$RL_TASK_ID" != a ] || exit 3\nanswer done\n'})
    row = daemon.ended(submit(daemon, work, workflow=CHAIN, on_failure="continue"))
    assert row["state"] == "failed" and tasks_done(daemon.play) == ["a", "d"], row
    assert states(daemon, 1) == {"a": "failed", "b": "cancelled", "c": "cancelled", "d": "passed", "e": "cancelled"}
    told = reasons(daemon, 1)
    assert "status 3" in told["a"] and told["d"] is None
    assert (told["b"] == "depends on a, which failed" and told["c"] == "depends on b, which never starts"
            and told["e"] == "depends on c, which never starts")
    shown = daemon.rlctl("show", 1, check=0).out
    assert "depends on a, which failed" in shown


def test_and_nobody_starts_after_a_failure_that_stops_the_run(make_daemon, work):
    daemon = make_daemon(scripts={"implement": NOTE + '[ "$RL_TASK_ID" != a ] || exit 3\nanswer done\n'})
    row = daemon.ended(submit(daemon, work, workflow=CHAIN))
    assert row["state"] == "failed" and tasks_done(daemon.play) == ["a"], row
    told = reasons(daemon, 1)
    assert (told["b"] == "depends on a, which failed" and told["d"].startswith("not started: ")
            and "status 3" in told["d"])


def test_killed_between_tasks_that_depend(make_daemon, work):
    daemon = make_daemon(scripts={"implement": NOTE + 'gate "$RL_TASK_ID"\nanswer done\n'},
                         gates=["a", "b", "c", "d", "e"])
    run = submit(daemon, work, workflow=CHAIN)
    for task in "abcde":
        daemon.play.arrived(task)
        daemon.kill()
        daemon.start()
        daemon.play.go(task)
    assert daemon.ended(run)["state"] == "succeeded" and tasks_done(daemon.play) == list("abcde")


# ---- an agent and a review of its own ------------------------------------------------------------

@pytest.fixture
def team(make_daemon, tmp_path):
    """A daemon with three agents: play, the default one, dev and critic; each has
    scripts of its own."""
    def make(**scripts):
        plays = {name: Play(tmp_path / f"{name}.play", texts) for name, texts in {
            "dev": {"implement": WORK, "fix": "echo fixed >> work.txt\nanswer fixed\n"},
            "critic": {"review": GO}, **scripts}.items()}
        config = {f"agent.{name}": {"command": play.command(), "reader": "text",
                                    "writable": [str(play.path)]} for name, play in plays.items()}
        daemon = make_daemon(scripts={"implement": NOTE + 'echo "$RL_TASK_ID" >> work.txt\nanswer done\n',
                                      "review": GO, "fix": "echo fixed >> work.txt\nanswer fixed\n"},
                             config=config)
        daemon.plays = plays
        return daemon
    return make


def who(daemon, run=1):
    return [(a["task"], a["role"], a["agent"]) for a in daemon.attempts(run)]


def test_agents_and_overlays(team, repo):
    """The overlay decides whether and by whom a task is reviewed, whatever the run says."""
    daemon = team()
    text = flow(plain={}, own={"agent": "dev"},
                off={"overlays": {"agentic_review": {"enabled": False, "reviewer_agent": "critic"}}},
                both={"acceptance_criteria": ["it is tested", "it is documented"],
                      "overlays": reviewed(coder_agent="dev", reviewer_agent="critic",
                                           exit_conditions=["review.decision == GO"])},
                default={"overlays": reviewed()})
    row = daemon.ended(submit(daemon, repo.path, workflow=text, review={"enabled": True, "profile": "verdict"}))
    assert row["state"] == "succeeded", row
    assert who(daemon) == [("plain", "implement", "play"), ("own", "implement", "dev"), ("off", "implement", "play"),
                           ("both", "implement", "dev"), ("both", "review", "critic"),
                           ("default", "implement", "play"), ("default", "review", "play")]
    assert [(r["task_id"], r["decision"], r["coder_agent"], r["reviewer_agent"])
            for r in daemon.reviews(1)] == [("both", "GO", "dev", "critic"),
                                            ("default", "GO", "play", "play")]
    prompt = daemon.plays["critic"].prompt(1, "review").decode()
    assert "it is tested" in prompt and "it is documented" in prompt
    assert repo.git("for-each-ref", "--format=%(refname)",
                    daemon.ref("passed")).split() == [daemon.ref("passed", 1, task)
                                                      for task in ("both", "default")]
    assert "review     none: each task of the workflow has its own, or none\n" in daemon.rlctl("show", 1, check=0).out
    report = daemon.rlctl("report", 1, check=0).out
    assert "not reviewed  " not in report and "review is off" not in report, report


def test_the_coder_runs_again_with_the_feedback(team, repo):
    daemon = team(critic={"review.1": NO_GO, "review": GO})
    text = flow(a={"overlays": reviewed(coder_agent="dev", reviewer_agent="critic")})
    assert daemon.ended(submit(daemon, repo.path, workflow=text))["state"] == "succeeded"
    assert [w[1:] for w in who(daemon)] == [("implement", "dev"), ("review", "critic"),
                                            ("fix", "dev"), ("review", "critic")]
    assert "add a test" in daemon.plays["dev"].prompt(1, "fix").decode()


@pytest.mark.parametrize("reviews", [1, 2, 3])
def test_max_iterations(team, repo, reviews):
    """So many reviews, then a person, with the whole history; what does not depend on it goes on in
    a work tree of its own."""
    daemon = team(critic={"review": NO_GO},
                  dev={"implement": WORK, "fix": "echo $nth >> work.txt\nanswer \"fix $nth\"\n"})
    text = flow(a={"overlays": reviewed(coder_agent="dev", reviewer_agent="critic", max_iterations=reviews)},
                b={"depends_on": ["a"]}, c={})
    run = submit(daemon, repo.path, workflow=text, isolation="worktree", review={"stall_limit": 0})
    row = daemon.ended(run)
    assert row["state"] == "held" and states(daemon, run)["b"] == "open" and states(daemon, run)["c"] == "passed", row
    assert (sum(w == ("a", "review", "critic") for w in who(daemon)) == reviews
            and sum(w == ("a", "fix", "dev") for w in who(daemon)) == reviews - 1)
    hold = daemon.call("hold.list")["holds"][0]
    assert (hold["task"], len(hold["reviews"])) == ("a", reviews), hold
    daemon.rlctl("wait", run, check=13)


def test_a_held_task_keeps_the_one_directory(team, repo):
    """Its work lies there, so the others wait, and say for what; once it is decided they begin."""
    daemon = team(critic={"review": NO_GO})
    run = submit(daemon, repo.path,
                 workflow=flow(a={"overlays": reviewed(reviewer_agent="critic", max_iterations=1)},
                               b={}, c={"depends_on": ["b"]}))
    assert daemon.ended(run)["state"] == "held" and tasks_done(daemon.play) == ["a"]
    assert states(daemon, run) == {"a": "claimed", "b": "open", "c": "open"}
    assert (reasons(daemon, run)["b"] == "waits for the decision on hold 1 (a)"
            and reasons(daemon, run)["c"] == "waits for b")
    assert "waits for the decision on hold 1 (a)" in daemon.rlctl("show", run, check=0).out
    with daemon.events(run=run, types=["run.state"]) as events:
        daemon.call("hold.approve", id=1)
        events.until("run.state", lambda e: e["state"] == "succeeded")
    assert tasks_done(daemon.play) == ["a", "b", "c"] and set(reasons(daemon, run).values()) <= {
        None, reasons(daemon, run)["a"], reasons(daemon, run)["b"]}


def test_in_a_work_tree_of_its_own_it_holds_nobody_up(team, repo):
    daemon = team(critic={"review": NO_GO})
    run = submit(daemon, repo.path, isolation="worktree",
                 workflow=flow(a={"overlays": reviewed(reviewer_agent="critic", max_iterations=1)},
                               b={}, c={"depends_on": ["a"]}))
    assert daemon.ended(run)["state"] == "held" and states(daemon, run) == {"a": "claimed", "b": "passed", "c": "open"}
    assert reasons(daemon, run)["c"] == "waits for a"


def test_a_held_run_at_its_limit_says_so(team, repo):
    daemon = team(critic={"review": NO_GO})
    run = submit(daemon, repo.path, iterations=1,
                 workflow=flow(a={"overlays": reviewed(reviewer_agent="critic", max_iterations=1)}, b={}))
    assert (daemon.ended(run)["state"] == "held"
            and reasons(daemon, run)["b"] == "the run has completed its 1 iteration(s)")


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_a_person_decides(team, repo, decision):
    daemon = team(critic={"review": NO_GO})
    run = submit(daemon, repo.path,
                 workflow=flow(a={"overlays": reviewed(reviewer_agent="critic", max_iterations=1)},
                               b={"depends_on": ["a"]}))
    assert daemon.ended(run)["state"] == "held"
    with daemon.events(run=run, types=["run.state"]) as events:
        daemon.call(f"hold.{decision}", id=daemon.call("hold.list")["holds"][0]["id"], message="I looked at it")
        events.until("run.state", lambda e: e["state"] in ("succeeded", "failed"))
    row = daemon.run(run)
    if decision == "approve":
        assert row["state"] == "succeeded" and states(daemon, run) == {"a": "passed", "b": "passed"}, row
        assert repo.git("for-each-ref", daemon.ref("passed")) == "", "an end by leave pins nothing"
    else:
        assert row["state"] == "failed" and states(daemon, run) == {"a": "failed", "b": "cancelled"}, row
        assert reasons(daemon, run)["b"] == "depends on a, which failed"
        assert tasks_done(daemon.play) == ["a"]


# ---- what is refused -----------------------------------------------------------------------------

def wrong_overlay(line):
    return f"tasks:\n  a:\n    prompt: x\n    overlays:\n      agentic_review:\n        enabled: true\n        {line}\n"


@pytest.mark.parametrize("text, place, words", [
    (wrong_overlay("max_iteration: 3"), "7:9", "max_iteration"),
    (wrong_overlay("max_iterations: 0"), "7:25", "1"), (wrong_overlay("max_iterations: yes"), "7:25", ""),
    (wrong_overlay('exit_conditions: ["review.decision == NO_GO"]'), "7:27", "review.decision == GO"),
    (wrong_overlay("coder_agent: nobody"), "7:22", "nobody"),
    ("tasks:\n  a:\n    prompt: x\n    overlays:\n      agentic_review: {max_iterations: 3}\n", "5:", "enabled"),
    ("tasks:\n  a: {prompt: x, depends_on: [b]}\n  b: {prompt: x, depends_on: [c]}\n"
     "  c: {prompt: x, depends_on: [a]}\n", "", "a -> b -> c -> a"),
    ("tasks:\n  a: {prompt: x, depends_on: [a]}\n", "2:", "cycle"),
    ("tasks:\n  a: {prompt: x}\nextra: 1\n", "3:1", "extra"), ("tasks:\n  a: {prompt: &x y}\n", "2:", ""),
    ("tasks:\n\ta: x\n", "2:", ""), ("version: 2\ntasks:\n  a: {prompt: x}\n", "1:", "version"),
])
def test_told_with_its_place(make_daemon, work, text, place, words):
    daemon = make_daemon()
    (work / "flow.yaml").write_text(text)
    done = daemon.rlctl("submit", "--workflow", "flow.yaml", cwd=work, check=1)
    assert f"flow.yaml:{place}" in done.err and words in done.err and done.out == "", done.err
    with pytest.raises(RpcError) as error:
        submit(daemon, work, workflow=text)
    assert (error.value.code, error.value.data["field"]) == (-32602, "workflow")
    assert daemon.call("run.list")["runs"] == []


@pytest.mark.broad
@pytest.mark.skipif(SANITIZED, reason="what is freed is kept for a while")
def test_a_big_run_that_has_ended_is_not_kept(daemon, repo):
    """The documents of ended runs that were asked for last stay in memory, unless
    they are large."""
    daemon.call("group.pause", name="default")
    text = flow(**{f"t{i}": {} for i in range(4000)})
    runs = [submit(daemon, repo.path, workflow=text) for _ in range(6)]
    for run in runs:
        daemon.call("run.cancel", id=run)
    daemon.call("run.wait", ids=runs)
    assert len(daemon.run(runs[0])["tasks"]) == 4000
    before = rss_kib(daemon.pid)
    for run in runs[1:]:
        daemon.run(run)
    grown = rss_kib(daemon.pid) - before
    assert grown < 12 * 1024, f"rld has grown by {grown} KiB"
