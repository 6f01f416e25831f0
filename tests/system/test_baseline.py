# SPDX-License-Identifier: MIT
"""run.check_on_base: a check that fails without the work is not the work's fault."""
import sqlite3

import pytest
from rld import Repo, RpcError, unshare_plans, wait_gone

VERDICT = """echo '{"verdict": "pass", "followUpPrompt": "fine"}'\n"""
WORK = "echo work > work.txt\nanswer done\n"
SCRIPTS = {"implement": WORK, "fix": "echo fixed > fixed.txt\nanswer fixed\n", "review": VERDICT}
PLACES = ("room", "same")


BASE = 65535


def roles(daemon, number):
    """Of the slots with a task."""
    return [a["role"] for a in daemon.attempts(number) if a["slot"] != BASE]


def on_base(daemon, number):
    """What its baseline ran."""
    return [a["agent"] for a in daemon.attempts(number) if a["slot"] == BASE]


def is_red(check):
    return f'check: "{check}" is red on the base'


def run(daemon, repo, check, on_base, place="room", **params):
    number = daemon.review(repo.path, review={"profile": "verdict", "workspace": place, "max_fixes": 1},
                           checks=check, check_on_base=on_base, **params)
    return number, daemon.ended(number)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("isolation", ["shared", "worktree"])
def test_required_and_red(make_daemon, repo, place, isolation):
    """Nobody is paid."""
    daemon = make_daemon(scripts=SCRIPTS)
    number, row = run(daemon, repo, ["true", "exit 3"], "require", place, isolation=isolation)
    assert row["state"] == "failed" and row["end_kind"] == "base"
    assert row["cause"] == 'check: "exit 3" is red on the base'
    assert roles(daemon, number) == ["check"] * 3, "the one that failed ran twice"
    evidence = daemon.call("evidence.list", run=number)["evidence"]
    assert [e["result"] for e in evidence] == ["green", "red", "red"]
    if place == "room":
        products = {p["number"]: p for p in daemon.call("product.list", run=number)["products"]}
        assert all(products[e["product"]]["kind"] == "base" for e in evidence)


@pytest.mark.parametrize("place", PLACES)
def test_required_and_green(make_daemon, repo, place):
    daemon = make_daemon(scripts=SCRIPTS)
    number, row = run(daemon, repo, ["true"], "require", place)
    assert row["state"] == "succeeded", row
    assert roles(daemon, number) == ["check", "implement", "check", "review"]


def test_one_check_of_the_base_for_all(make_daemon, repo):
    """A later task knows of an earlier one that the base is green."""
    daemon = make_daemon(scripts={**SCRIPTS, "implement": 'echo "$RL_TASK_ID" > work.txt\nanswer done\n'})
    stories = '{"userStories": [%s]}' % ",".join(
        '{"id": "s%d", "title": "t", "acceptanceCriteria": ["x"], "passes": false}' % n for n in (1, 2))
    number = daemon.call("run.submit", workdir=str(repo.path), stories=stories, check_on_base="require",
                         review={"enabled": True, "profile": "verdict"}, checks=["true"])["id"]
    daemon.ended(number)
    assert roles(daemon, number).count("check") == 3


def test_a_warning_before_a_fixer_is_paid(make_daemon, repo):
    """The fixer is told; what is green costs nothing more."""
    daemon = make_daemon(scripts=SCRIPTS)
    number, row = run(daemon, repo, ["true", "test -e fixed.txt"], "warn")
    assert row["state"] == "succeeded", row
    assert row["warnings"] == [is_red("test -e fixed.txt")]
    assert roles(daemon, number) == ["implement"] + ["check"] * 3 + ["fix"] + ["check"] * 2 + ["review"]
    assert on_base(daemon, number) == ["true"] + ["test -e fixed.txt"] * 2
    assert b"This check fails on the base as well" in daemon.play.prompt(number, "fix")


def test_it_fails_with_the_work_only(make_daemon, repo):
    daemon = make_daemon(scripts=SCRIPTS)
    check = "test ! -e work.txt || test -e fixed.txt"
    number, row = run(daemon, repo, [check], "warn")
    assert row["state"] == "succeeded" and row["warnings"] == []
    assert roles(daemon, number) == ["implement"] + ["check"] * 2 + ["fix", "check", "review"]
    assert on_base(daemon, number) == [check]
    shown = daemon.rlctl("show", number, check=0).out
    assert "\nA1    passed" in shown and "\nbase  passed" in shown
    assert b"on the base" not in daemon.play.prompt(number, "fix")


@pytest.mark.parametrize("on_base", ["warn", "require"])
def test_a_check_that_cannot_be_started(make_daemon, repo, on_base):
    """It is never the work's fault: no fixer is paid."""
    repo.write(".gitignore", "deps/\n.env\n")
    repo.write("package-lock.json", "{}\n")
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "lock")
    (repo.path / "deps").mkdir()
    repo.write("deps/tool", "#!/bin/sh\n")
    (repo.path / "deps/tool").chmod(0o755)
    repo.write(".env", "x\n")
    daemon = make_daemon(scripts=SCRIPTS)
    number, row = run(daemon, repo, ["deps/tool"], on_base)
    assert row["state"] == "failed" and row["end_kind"] == "base"
    assert row["cause"].startswith('check: "deps/tool" cannot be started on the base: it exited 127; ')
    assert "fix" not in roles(daemon, number)
    number, row = run(daemon, repo, ["deps/tool"], on_base, copy=["deps"])
    assert row["state"] == "succeeded", row


def test_skipped(make_daemon, repo):
    daemon = make_daemon(scripts=SCRIPTS)
    number, row = run(daemon, repo, ["test -e fixed.txt"], "skip")
    assert row["state"] == "succeeded" and row["warnings"] == []
    assert roles(daemon, number) == ["implement", "check", "check", "fix", "check", "review"]


def test_it_outlives_the_daemon(make_daemon, repo):
    daemon = make_daemon(scripts=SCRIPTS, gates=["here"])
    gate = (f'cd {daemon.play.path}; test -e times || '
            '{ echo s >> times; echo $$ > here.here; read -r word < here.go; }')
    number = daemon.review(repo.path, review={"profile": "verdict", "workspace": "room"}, checks=[gate],
                           check_on_base="require")
    daemon.play.arrived("here")
    assert daemon.run(number)["slots"][0]["phase"] == "checking"
    daemon.kill()
    daemon.start()
    daemon.play.go("here")
    assert daemon.ended(number)["state"] == "succeeded"
    assert roles(daemon, number) == ["check", "implement", "check", "review"]


def evidence(daemon, number):
    return daemon.call("evidence.list", run=number)["evidence"]


def test_each_check_runs_on_the_base(make_daemon, repo):
    """Also one that the work has repaired, and those after the one that fails."""
    daemon = make_daemon(scripts=SCRIPTS)
    checks = ["test -e work.txt", "test -e fixed.txt", "true"]
    number, row = run(daemon, repo, checks, "warn")
    assert row["state"] == "succeeded", row
    assert row["warnings"] == [is_red(check) for check in checks[:2]]
    base = [e for e in evidence(daemon, number) if e["product"] == 1 and not e["from_run"]]
    assert [(e["subject"], e["result"]) for e in base] == ([(c, "red") for c in checks[:2] for _ in "12"]
                                                           + [("true", "green")])


def test_warn_is_the_default(make_daemon, repo):
    daemon = make_daemon(scripts=SCRIPTS)
    number = daemon.review(repo.path, review={"profile": "verdict", "workspace": "room", "max_fixes": 1},
                           checks=["test -e fixed.txt"])
    assert daemon.ended(number)["warnings"] == [is_red("test -e fixed.txt")]


RED = "test -e fixed.txt || { echo said 42; exit 7; }"


def new_failures(daemon, repo, *checks, **params):
    number = daemon.review(repo.path, review={"profile": "verdict", "workspace": "room", "max_fixes": 1,
                                              "checks_mode": "new_failures"}, checks=list(checks), **params)
    return number, daemon.ended(number)


def test_only_new_failures_count(make_daemon, repo):
    """What fails on the base costs no fixer; the next check runs in a room of the work."""
    daemon = make_daemon(scripts=SCRIPTS)
    number, row = new_failures(daemon, repo, "true", RED, "test -e work.txt")
    assert row["state"] == "succeeded", row
    assert sorted(row["warnings"]) == sorted([is_red(RED), is_red("test -e work.txt"),
                                              f"task t1: {is_red(RED)}; it does not count"])
    assert roles(daemon, number) == ["implement"] + ["check"] * 3 + ["check", "review"]
    assert on_base(daemon, number) == ["true"] + [RED] * 2 + ["test -e work.txt"] * 2


def test_a_new_failure_counts(make_daemon, repo):
    daemon = make_daemon(scripts=SCRIPTS)
    number, row = new_failures(daemon, repo, "test ! -e work.txt")
    assert row["state"] == "failed" and row["end_kind"] == "check"
    assert roles(daemon, number) == ["implement", "check", "check", "fix", "check", "check"]


@pytest.mark.parametrize("params", [{"check_on_base": "skip"}, {"place": "same"}])
def test_new_failures_need_a_base(make_daemon, repo, params):
    daemon = make_daemon(scripts=SCRIPTS)
    with pytest.raises(RpcError) as e:
        daemon.review(repo.path, review={"profile": "verdict", "workspace": params.pop("place", "room"),
                                         "checks_mode": "new_failures"}, checks=["true"], **params)
    assert e.value.data["field"] == "review.checks_mode"


def test_it_is_known_from_another_run(make_daemon, repo):
    """A later run is told at once, with the output, and asks the base no more."""
    daemon = make_daemon(scripts=SCRIPTS)
    first, row = new_failures(daemon, repo, RED)
    assert row["state"] == "succeeded", row
    assert b"said 42" not in daemon.play.prompt(first, "implement")
    (repo.path / "work.txt").unlink()
    second, row = new_failures(daemon, repo, RED, env={"OTHER": "1"})
    assert b"said 42" not in daemon.play.prompt(second, "implement"), "its environment is another one"
    (repo.path / "work.txt").unlink()
    daemon.play.set({"implement": "echo other > other.txt\nanswer done\n"})
    third, row = new_failures(daemon, repo, RED)
    prompt = daemon.play.prompt(third, "implement")
    assert b"## Checks" in prompt and b"said 42" in prompt and RED.encode() in prompt
    assert row["state"] == "succeeded" and roles(daemon, third) == ["implement", "check", "check", "review"]
    reused = [e for e in evidence(daemon, third) if e["from_run"]]
    assert {(e["from_run"], e["result"], e["product"]) for e in reused} == {(first, "red", 1)}
    assert daemon.call("review.verify", run=third)["ok"]


# Green where ignored files are, as after "npm ci" in the user's directory.
NEEDS = "test -e node_modules/tool || { echo no tool; exit 1; }"


@pytest.fixture
def project(repo):
    """A directory in which checks are green, with what git ignores."""
    repo.write(".gitignore", "node_modules/\n.env\n")
    repo.write("package-lock.json", "{}\n")
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "lock")
    (repo.path / "node_modules").mkdir()
    repo.write("node_modules/tool", "#!/bin/sh\n")
    (repo.path / "node_modules/tool").chmod(0o755)
    repo.write(".env", "x\n")
    return repo


REMEDY = ('ignored there: node_modules/, .env. Add to .rld.toml: setup = ["npm ci"], copy = [".env"], '
          'or workspace = "same"')


@pytest.mark.parametrize("on_base, isolation", [("require", "shared"), ("require", "worktree"), ("warn", "worktree")])
def test_green_in_the_directory_of_the_user(make_daemon, project, on_base, isolation):
    """What a clean checkout lacks is the cause, and the settings that bring it are named."""
    daemon = make_daemon(scripts=SCRIPTS)
    number, row = run(daemon, project, [NEEDS], on_base, isolation=isolation)
    assert row["state"] == "failed" and row["end_kind"] == "base"
    assert row["cause"] == f"check: {NEEDS} is green in your directory and red in a clean checkout; {REMEDY}"
    checks = ["check"] * 3
    assert [a["role"] for a in daemon.attempts(number) if a["role"] == "check" and
            (on_base == "require" or a["slot"] == BASE)] == checks
    assert [e["result"] for e in evidence(daemon, number) if e["kind"] == "check" and e["product"] == 1] == ["red"] * 2


def test_the_remedy_for_a_directory_below(make_daemon, project):
    """Settings are relative to the working directory."""
    (project.path / "web").mkdir()
    for name in ("package-lock.json", "node_modules", ".env"):
        (project.path / name).rename(project.path / "web" / name)
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "below")
    daemon = make_daemon(scripts=SCRIPTS)
    row = daemon.ended(daemon.review(project.path / "web", review={"profile": "verdict"}, checks=[NEEDS],
                                     check_on_base="require"))
    assert row["cause"] == f"check: {NEEDS} is green in your directory and red in a clean checkout; {REMEDY}"


def test_red_in_the_directory_of_the_user(make_daemon, project):
    """It fails there, too: that is all that is said, and a fixer is paid."""
    daemon = make_daemon(scripts=SCRIPTS)
    number, row = run(daemon, project, ["test -e fixed.txt"], "warn", isolation="worktree")
    assert row["state"] == "succeeded", row
    assert row["warnings"] == [is_red("test -e fixed.txt")]
    assert roles(daemon, number) == ["implement"] + ["check"] * 2 + ["fix", "check", "review"]
    assert on_base(daemon, number) == ["test -e fixed.txt"] * 3, "once in the user's directory"
    number, row = run(daemon, project, ["test -e fixed.txt"], "require")
    assert row["cause"] == 'check: "test -e fixed.txt" is red on the base'


def test_where_an_agent_has_worked_nothing_runs(make_daemon, project):
    """It may have left anything in a shared directory."""
    daemon = make_daemon(scripts=SCRIPTS)
    number, row = run(daemon, project, [NEEDS], "warn", isolation="shared")
    assert row["state"] == "failed" and row["end_kind"] == "check"
    assert roles(daemon, number) == ["implement"] + ["check"] * 2 + ["fix"] + ["check"] * 2
    assert on_base(daemon, number) == [NEEDS] * 2


def test_what_cannot_be_started_has_a_remedy(make_daemon, project):
    daemon = make_daemon(scripts=SCRIPTS)
    number, row = run(daemon, project, ["node_modules/tool"], "warn")
    assert row["cause"] == ('check: "node_modules/tool" cannot be started on the base: it exited 127; ' + REMEDY)
    assert "fix" not in roles(daemon, number)
    number, row = run(daemon, project, ["node_modules/tool"], "require", setup=["true"], copy=[".env"])
    assert row["cause"].endswith('Add to .rld.toml: setup, copy, or workspace = "same"'), row


def test_the_comparison_outlives_the_daemon(make_daemon, project):
    daemon = make_daemon(scripts=SCRIPTS, gates=["here"])
    check = (f"test -e node_modules/tool || exit 1; cd {daemon.play.path}; "
             "echo $$ > here.here; read -r word < here.go")
    number = daemon.review(project.path, review={"profile": "verdict", "workspace": "room"}, checks=[check],
                           check_on_base="require")
    daemon.play.arrived("here")
    daemon.kill()
    daemon.start()
    daemon.play.go("here")
    assert "is green in your directory" in daemon.ended(number)["cause"]
    assert roles(daemon, number) == ["check"] * 3


# ---- beside the first attempts -------------------------------------------------------------------

def gate(play, when="test ! -e work.txt", then="true"):
    """A check that stands at the gate "here" when that holds."""
    return f"{when} && {{ echo $$ > {play}/here.here; read -r word < {play}/here.go; }}; {then}"


def base_slot(daemon, number):
    return next((s for s in daemon.run(number)["slots"] if s["slot"] == BASE), None)


def begin(daemon, repo, *checks, config=None, **params):
    return daemon.review(repo.path, review={"profile": "verdict", "max_fixes": 1, **(config or {})},
                         checks=list(checks), **params)


@pytest.mark.parametrize("isolation", ["shared", "worktree"])
def test_it_delays_no_attempt(make_daemon, repo, isolation):
    """What is green needs no word of the base, and the run does not wait for one at its end."""
    daemon = make_daemon(scripts=SCRIPTS, gates=["here"])
    number = begin(daemon, repo, gate(daemon.play.path), isolation=isolation)
    daemon.play.arrived("here")
    row = daemon.ended(number)
    assert row["state"] == "succeeded" and row["warnings"] == [], row
    assert roles(daemon, number) == ["implement", "check", "review"]
    assert base_slot(daemon, number)["phase"] == "cancelled"
    assert daemon.call("review.verify", run=number)["ok"]


def test_it_has_no_permit(make_daemon, repo):
    """One permit is enough for both."""
    daemon = make_daemon(scripts={**SCRIPTS, "implement": "gate at\n" + WORK}, gates=["here", "at"],
                         config={"parallel": 1})
    number = begin(daemon, repo, gate(daemon.play.path))
    daemon.play.arrived("at")
    daemon.play.arrived("here")
    daemon.play.go("here")
    daemon.play.go("at")
    row = daemon.ended(number)
    assert row["state"] == "succeeded" and base_slot(daemon, number)["phase"] == "passed"
    implementer, = (a for a in daemon.attempts(number) if a["role"] == "implement")
    assert row["result"]["attempt"] == implementer["id"], "its answer is that of the run"


FAILS = "echo said 42; test -e fixed.txt"


def test_a_slot_waits_for_it(make_daemon, repo):
    """What fails on the work runs on the base once, not twice, and no fixer is paid before."""
    daemon = make_daemon(scripts=SCRIPTS, gates=["here"])
    check = gate(daemon.play.path, then=FAILS)
    with daemon.events() as events:
        number = begin(daemon, repo, check)
        daemon.play.arrived("here")
        for _ in "12":
            events.until("attempt.ended", lambda e: e["role"] == "check" and e["slot"] == 1)
        assert daemon.run(number)["slots"][0]["phase"] == "checking"
        daemon.play.go("here")
        daemon.play.arrived("here")
        daemon.play.go("here")
        assert daemon.ended(number)["state"] == "succeeded"
    assert roles(daemon, number) == ["implement", "check", "check", "fix", "check", "review"]
    assert on_base(daemon, number) == [check] * 2
    assert b"This check fails on the base as well" in daemon.play.prompt(number, "fix")


@pytest.mark.parametrize("how", ["kill", "pause", "cancel"])
def test_a_slot_that_waits_for_it(make_daemon, repo, how):
    daemon = make_daemon(scripts=SCRIPTS, gates=["here"], config={"parallel": 1})
    with daemon.events() as events:
        number = begin(daemon, repo, gate(daemon.play.path, then=FAILS))
        daemon.play.arrived("here")
        for _ in "12":
            events.until("attempt.ended", lambda e: e["role"] == "check" and e["slot"] == 1)
    if how == "cancel":
        assert daemon.cancelled(number)["state"] == "cancelled"
        assert {s["phase"] for s in daemon.run(number)["slots"]} == {"cancelled"}
        return
    if how == "kill":
        daemon.kill()
        daemon.start()
    else:
        daemon.call("run.pause", id=number)
    daemon.play.go("here")
    if how == "pause":
        daemon.call("run.resume", id=number)
    daemon.play.arrived("here")
    daemon.play.go("here")
    assert daemon.ended(number)["state"] == "succeeded"
    assert roles(daemon, number) == ["implement", "check", "check", "fix", "check", "review"]
    assert len(on_base(daemon, number)) == 2


def test_later_implementers_are_told(make_daemon, repo):
    daemon = make_daemon(scripts={**SCRIPTS, "implement": 'echo "$RL_TASK_ID" > work.txt\nanswer done\n'})
    stories = '{"userStories": [%s]}' % ",".join(
        '{"id": "s%d", "title": "t", "acceptanceCriteria": ["x"], "passes": false}' % n for n in (1, 2))
    number = daemon.call("run.submit", workdir=str(repo.path), stories=stories, isolation="worktree",
                         integrate="none", review={"enabled": True, "profile": "verdict", "max_fixes": 1},
                         checks=[FAILS])["id"]
    assert daemon.ended(number)["state"] == "succeeded"
    assert b"said 42" not in daemon.play.prompt(number, "implement")
    assert b"said 42" in daemon.play.prompt(number, "implement", 2)
    assert on_base(daemon, number) == [FAILS] * 2, "once for all tasks"


def test_what_cannot_be_started_ends_the_run(make_daemon, repo):
    """As soon as that is known: the attempt under way is ended, and no other agent is started."""
    daemon = make_daemon(scripts={**SCRIPTS, "implement": "echo some > some.txt\ngate at\n"}, gates=["at", "here"])
    check = gate(daemon.play.path, "true", "deps/tool")
    number = begin(daemon, repo, check, isolation="worktree")
    pid = daemon.play.arrived("at")
    for _ in "12":
        daemon.play.arrived("here")
        daemon.play.go("here")
    row = daemon.ended(number)
    assert row["state"] == "failed" and row["end_kind"] == "base"
    assert row["cause"].startswith(f'check: "{check}" cannot be started on the base: it exited 127; ')
    assert roles(daemon, number) == ["implement"]
    task, = row["tasks"]
    assert task["state"] == "cancelled" and task["end_kind"] == "base" and task["reason"] == row["cause"]
    wait_gone(pid)
    salvage, = daemon.call("salvage.list")["salvage"]
    assert repo.git("show", f"{salvage['ref']}:some.txt") == "some"


def test_what_is_known_is_not_checked_again(make_daemon, repo):
    daemon = make_daemon(scripts=SCRIPTS)
    for n in range(2):
        number = begin(daemon, repo, "true", isolation="worktree")
        assert daemon.ended(number)["state"] == "succeeded"
        assert on_base(daemon, number) == ["true"][n:]
        assert (base_slot(daemon, number) is None) == (n == 1)


def test_what_could_not_be_started_is_tried_again(make_daemon, repo, tmp_path):
    """Somebody may have installed it."""
    daemon = make_daemon(scripts=SCRIPTS)
    tool = tmp_path / "tool"
    number = begin(daemon, repo, str(tool), isolation="worktree")
    assert daemon.ended(number)["end_kind"] == "base"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    number = begin(daemon, repo, str(tool), isolation="worktree")
    assert daemon.ended(number)["state"] == "succeeded"
    assert on_base(daemon, number) == [str(tool)]


def test_it_uses_the_prepared_room(make_daemon, repo, tmp_path):
    repo.write(".gitignore", "made\n")
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "ignore")
    daemon = make_daemon(scripts=SCRIPTS)
    number = begin(daemon, repo, "test -e made", isolation="worktree",
                   setup=[f"echo x >> {tmp_path}/times; echo > made"])
    assert daemon.ended(number)["state"] == "succeeded"
    assert (tmp_path / "times").read_text() == "x\n"


def test_a_setup_that_fails_on_the_base(make_daemon, repo):
    """Work may mend it, so nobody is asked, and a check that fails on the work counts."""
    repo.write(".gitignore", "deps\n")
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "ignore")
    daemon = make_daemon(scripts={**SCRIPTS, "implement": "gate at\n" + WORK}, gates=["at"])
    with daemon.events() as events:
        number = begin(daemon, repo, "grep work deps && test -e fixed.txt", setup=["cp work.txt deps"])
        events.until("attempt.ended", lambda e: e["slot"] == BASE)
    daemon.play.arrived("at")
    daemon.play.go("at")
    row = daemon.ended(number)
    assert row["state"] == "succeeded", row
    assert row["warnings"][0] == 'the checks did not run on the base: setup: "cp work.txt deps" exited 1'
    assert on_base(daemon, number) == ["cp work.txt deps"]
    assert roles(daemon, number).count("fix") == 1


def test_its_failure_is_no_failure_of_the_run(make_daemon, repo):
    """on_failure = "stop" is about tasks, and so is the cause of a run."""
    repo.write(".gitignore", "deps\n")
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "ignore")
    daemon = make_daemon(scripts={**SCRIPTS, "implement": 'gate at\necho "$RL_TASK_ID" > work.txt\nanswer done\n',
                                  "review.2": "exit 3\n"}, gates=["at"], config={"parallel": 1})
    stories = '{"userStories": [%s]}' % ",".join(
        '{"id": "s%d", "title": "t", "acceptanceCriteria": ["x"], "passes": false}' % n for n in (1, 2))
    with daemon.events() as events:
        number = daemon.call("run.submit", workdir=str(repo.path), stories=stories, on_failure="stop",
                             review={"enabled": True, "profile": "verdict", "on_reviewer_error": "fail"},
                             setup=["cp work.txt deps"], checks=["true"])["id"]
        events.until("attempt.ended", lambda e: e["slot"] == BASE)
    for _ in "12":
        daemon.play.arrived("at")
        daemon.play.go("at")
    row = daemon.ended(number)
    assert base_slot(daemon, number) is None or base_slot(daemon, number)["phase"] == "failed"
    assert [t["state"] for t in row["tasks"]] == ["passed", "failed"]
    assert row["state"] == "failed" and row["cause"].startswith("reviewer process exited with status 3")


def test_a_check_that_names_a_task(make_daemon, repo):
    """What it says of the base holds for that task, so it runs when it has failed on its work."""
    daemon = make_daemon(scripts={**SCRIPTS, "implement": "gate at\n" + WORK}, gates=["at", "here"])
    named = 'test -n "$RL_TASK_ID" && test -e fixed.txt'
    number = begin(daemon, repo, gate(daemon.play.path), named, isolation="worktree")
    daemon.play.arrived("at")
    daemon.play.arrived("here")
    daemon.play.go("here")
    daemon.play.go("at")
    # before it counts as red there, the one before it runs in its room
    daemon.play.arrived("here")
    daemon.play.go("here")
    row = daemon.ended(number)
    assert row["state"] == "succeeded" and row["warnings"] == [f"task t1: {is_red(named)}"]
    assert len(on_base(daemon, number)) == 1
    assert roles(daemon, number) == ["implement"] + ["check"] * 6 + ["fix"] + ["check"] * 2 + ["review"]


def test_a_check_behind_one_that_names_a_task(make_daemon, repo):
    """It may need what that one makes, so the baseline runs neither."""
    daemon = make_daemon(scripts={**SCRIPTS, "implement": WORK})
    number = begin(daemon, repo, 'test -n "$RL_TASK_ID" && touch made', "test -e made || exit 127",
                   isolation="worktree")
    row = daemon.ended(number)
    assert row["state"] == "succeeded" and not row["warnings"] and base_slot(daemon, number) is None, row


def test_what_asks_for_its_task_cannot_be_started(make_daemon, repo):
    """It has failed on the work before it ran on the base, and still no fixer is paid."""
    daemon = make_daemon(scripts=SCRIPTS)
    named = '"./tool-$RL_TASK_ID"'
    number = begin(daemon, repo, named, isolation="worktree")
    row = daemon.ended(number)
    assert row["state"] == "failed", row
    task, = row["tasks"]
    assert task["end_kind"] == "base"
    assert task["reason"].startswith(f'check: "{named}" cannot be started on the base: it exited 127; ')
    assert "fix" not in roles(daemon, number) and "review" not in roles(daemon, number)


def test_it_outlives_the_daemon_beside_the_work(make_daemon, repo):
    """Neither is begun again, and what the check says counts."""
    daemon = make_daemon(scripts={**SCRIPTS, "implement": "gate at\n" + WORK}, gates=["here", "at"])
    check = gate(daemon.play.path, then=FAILS)
    number = begin(daemon, repo, check, isolation="worktree")
    daemon.play.arrived("at")
    daemon.play.arrived("here")
    daemon.kill()
    daemon.play.go("here")
    daemon.start()
    daemon.play.arrived("here")
    daemon.kill()
    daemon.start()
    daemon.play.go("here")
    daemon.play.go("at")
    row = daemon.ended(number)
    assert row["state"] == "succeeded" and row["warnings"] == [is_red(check)]
    assert on_base(daemon, number) == [check] * 2
    assert roles(daemon, number) == ["implement", "check", "check", "fix", "check", "review"]
    assert daemon.call("review.verify", run=number)["ok"]


def test_a_run_of_an_earlier_version(make_daemon, repo, tmp_path):
    """It ends by the rules it began with: the base is checked after a check has failed."""
    other = Repo(tmp_path / "other")
    daemon = make_daemon(scripts={**SCRIPTS, "implement": "gate at\n" + WORK}, gates=["at"], config={"parallel": 1})
    before = daemon.submit(other.path)
    daemon.play.arrived("at")
    number = begin(daemon, repo, FAILS)
    daemon.kill()
    database = sqlite3.connect(daemon.state / "rld.db", isolation_level=None)
    unshare_plans(database)
    assert database.execute("UPDATE run SET plan = json_remove(plan, '$.base_beside') WHERE id = ? AND "
                            "json_extract(plan, '$.base_beside')", (number,)).rowcount == 1
    database.close()
    daemon.start()
    daemon.play.go("at")
    assert daemon.ended(before)["state"] == "succeeded"
    daemon.play.arrived("at")
    daemon.play.go("at")
    row = daemon.ended(number)
    assert row["state"] == "succeeded" and row["warnings"] == [f"task t1: {is_red(FAILS)}"]
    assert base_slot(daemon, number) is None
    assert roles(daemon, number) == ["implement"] + ["check"] * 4 + ["fix", "check", "review"]


def test_a_slot_that_waits_for_it_keeps_no_permit(make_daemon, repo, tmp_path):
    """Another run has it meanwhile."""
    daemon = make_daemon(scripts=SCRIPTS, gates=["here"], config={"parallel": 1})
    with daemon.events() as events:
        number = begin(daemon, repo, gate(daemon.play.path, then=FAILS))
        daemon.play.arrived("here")
        for _ in "12":
            events.until("attempt.ended", lambda e: e["role"] == "check" and e["slot"] == 1)
    other = daemon.submit(Repo(tmp_path / "other").path)
    assert daemon.ended(other)["state"] == "succeeded"
    daemon.play.go("here")
    daemon.play.arrived("here")
    daemon.play.go("here")
    assert daemon.ended(number)["state"] == "succeeded"
    assert roles(daemon, number) == ["implement", "check", "check", "fix", "check", "review"]


LIMITED = """printf '%s\\n' '{"type": "system", "subtype": "init", "session_id": "s"}' \
    '{"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 4000000000}}' \
    '{"type": "result", "subtype": "success", "is_error": true, "api_error_status": 429, "result": "limit"}'
exit 1
"""
DONE = """printf '%s\\n' '{"type": "system", "subtype": "init", "session_id": "s"}' \
    '{"type": "result", "subtype": "success", "is_error": false, "result": "done", "session_id": "s"}'
"""


@pytest.fixture
def cooling(make_daemon, repo):
    """(daemon, run): the first implementer waits for its account, while the baseline is at work."""
    def make(then):
        daemon = make_daemon(scripts={**SCRIPTS, "implement.1": LIMITED, "implement": "echo work > work.txt\n" + DONE},
                             gates=["here"], start=False)
        daemon.write_config({"default_agent": "play", "agent.play": {"command": daemon.play.command()},
                             "agent.coder": {"command": daemon.play.command(), "reader": "claude",
                                             "account": "shared"}, "account.shared": {"cooldown_max": "30d"}})
        daemon.start()
        with daemon.events() as events:
            number = begin(daemon, repo, gate(daemon.play.path, then=then), isolation="worktree",
                           agent="coder", reviewer_agent="play", fixer_agent="play")
            daemon.play.arrived("here")
            events.until("slot.phase", lambda e: e["phase"] == "cooling")
        assert "account shared: limit" in daemon.run(number)["reason"]
        daemon.play.go("here")
        daemon.play.arrived("here")
        daemon.play.go("here")
        return daemon, number
    return make


def test_an_account_that_cools(cooling):
    """The baseline needs none, and the implementer is told what it found."""
    daemon, number = cooling(FAILS)
    with daemon.events(run=number) as events:
        events.until("slot.phase", lambda e: e["slot"] == BASE and e["phase"] == "passed")
    daemon.call("cooldown.clear", account="shared")
    assert daemon.ended(number)["state"] == "succeeded"
    assert b"said 42" in daemon.play.prompt(number, "implement", 2)


def test_what_cannot_be_started_while_an_account_cools(cooling):
    daemon, number = cooling("deps/tool")
    assert daemon.ended(number)["end_kind"] == "base"
    assert len(daemon.play.starts(number)) == 1


def test_a_hold_meanwhile(make_daemon, repo):
    """The run is held, and what is decided ends it; nothing waits for the baseline."""
    daemon = make_daemon(scripts={**SCRIPTS, "review": "answer nothing\n"}, gates=["here"])
    number = begin(daemon, repo, gate(daemon.play.path), isolation="worktree", config={"on_malformed": "hold"})
    daemon.play.arrived("here")
    row = daemon.ended(number)
    assert row["state"] == "held" and base_slot(daemon, number)["phase"] == "checking"
    hold, = daemon.call("hold.list")["holds"]
    daemon.call("hold.approve", id=hold["id"])
    assert daemon.ended(number)["state"] == "succeeded"
    assert base_slot(daemon, number)["phase"] == "cancelled"


def test_a_retry(make_daemon, repo):
    """What the first run found on the base counts, also for one that begins anew."""
    daemon = make_daemon(scripts={**SCRIPTS, "fix": "exit 4\n"})
    first = begin(daemon, repo, FAILS, isolation="worktree")
    assert daemon.ended(first)["state"] == "failed" and on_base(daemon, first) == [FAILS] * 2
    daemon.play.set({"fix": SCRIPTS["fix"]})
    for params in ({}, {"from_scratch": True}):
        again = daemon.call("run.retry", id=first, **params)["id"]
        assert daemon.ended(again)["state"] == "succeeded"
        assert base_slot(daemon, again) is None
        assert roles(daemon, again).count("implement") == len(params)
        assert b"This check fails on the base as well" in daemon.play.prompt(again, "fix")
    assert b"said 42" in daemon.play.prompt(again, "implement")


def test_a_retry_of_what_could_not_be_started(make_daemon, repo, tmp_path):
    daemon = make_daemon(scripts={**SCRIPTS, "implement": "gate at\n" + WORK}, gates=["at"])
    tool = tmp_path / "tool"
    first = begin(daemon, repo, str(tool), isolation="worktree")
    assert daemon.ended(first)["end_kind"] == "base"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    again = daemon.call("run.retry", id=first)["id"]
    daemon.play.arrived("at")
    daemon.play.go("at")
    assert daemon.ended(again)["state"] == "succeeded" and roles(daemon, again)[0] == "implement"


def test_what_is_flaky_there(make_daemon, repo, tmp_path):
    """It is green there, with a warning; another run does not rely on that."""
    daemon = make_daemon(scripts=SCRIPTS)
    check = f"test -e work.txt || test -e {tmp_path}/once || {{ touch {tmp_path}/once; exit 1; }}"
    for runs in (2, 1):
        number = begin(daemon, repo, check, "test -e work.txt", isolation="worktree")
        row = daemon.ended(number)
        assert row["state"] == "succeeded" and on_base(daemon, number).count(check) == runs
        flaky = [w for w in row["warnings"] if w.startswith("flaky: ")]
        assert len(flaky) == runs - 1 and all(" passed on the same base in attempt " in w for w in flaky)


def test_rooms_that_are_used_again(make_daemon, repo):
    """Its own room is a clean one, so what it found holds for all tasks."""
    daemon = make_daemon(scripts=SCRIPTS)
    number = begin(daemon, repo, FAILS, config={"room": "reuse"})
    assert daemon.ended(number)["state"] == "succeeded"
    assert roles(daemon, number) == ["implement", "check", "check", "fix", "check", "review"]
    assert on_base(daemon, number) == [FAILS] * 2
    assert {e["room"] for e in evidence(daemon, number) if e["product"] == 1 and e["attempt"]} == {"clone"}


def test_it_is_shown_as_base(make_daemon, repo):
    daemon = make_daemon(scripts=SCRIPTS, gates=["here"])
    number = begin(daemon, repo, gate(daemon.play.path, then=FAILS))
    daemon.play.arrived("here")
    assert "base CHECK  check 1 for the base: " in daemon.rlctl("show", number, check=0).out
    daemon.cancelled(number)


def test_red_on_the_base_and_not_to_be_started_on_the_work(make_daemon, repo):
    """The coder has removed the script: a fixer can bring it back."""
    repo.write("t.sh", "#!/bin/sh\nexit 1\n")
    (repo.path / "t.sh").chmod(0o755)
    repo.git("add", ".")
    repo.git("commit", "-qm", "script")
    daemon = make_daemon(scripts={"implement": "rm t.sh; echo one > work.txt\nanswer done\n", "review": "pass\n",
                                  "fix": "printf '#!/bin/sh\\nexit 0\\n' > t.sh; chmod +x t.sh\nanswer fixed\n"})
    row = daemon.ended(daemon.review(repo.path, review={"profile": "verdict", "workspace": "room"}, checks=["./t.sh"],
                                     isolation="worktree"))
    assert row["state"] == "succeeded", row
