# SPDX-License-Identifier: MIT
"""run.check_on_base: a check that fails without the work is not the work's fault."""
import pytest
from rld import RpcError

VERDICT = """echo '{"verdict": "pass", "followUpPrompt": "fine"}'\n"""
WORK = "echo work > work.txt\nanswer done\n"
SCRIPTS = {"implement": WORK, "fix": "echo fixed > fixed.txt\nanswer fixed\n", "review": VERDICT}
PLACES = ("room", "same")


def roles(daemon, number):
    return [a["role"] for a in daemon.attempts(number)]


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
    assert row["warnings"] == ['task t1: check: "test -e fixed.txt" is red on the base']
    assert roles(daemon, number) == (["implement"] + ["check"] * 3 + ["check"] * 3 + ["fix"] + ["check"] * 2
                                     + ["review"])
    assert b"This check fails on the base as well" in daemon.play.prompt(number, "fix")


def test_it_fails_with_the_work_only(make_daemon, repo):
    daemon = make_daemon(scripts=SCRIPTS)
    number, row = run(daemon, repo, ["test ! -e work.txt || test -e fixed.txt"], "warn")
    assert row["state"] == "succeeded" and row["warnings"] == []
    assert roles(daemon, number) == ["implement"] + ["check"] * 3 + ["fix", "check", "review"]
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


def test_the_failed_check_is_compared_not_the_first(make_daemon, repo):
    """The work has repaired the first: its failure on the base tells nothing about the second."""
    daemon = make_daemon(scripts=SCRIPTS)
    checks = ["test -e work.txt", "test -e fixed.txt", "true"]
    number, row = run(daemon, repo, checks, "warn")
    assert row["state"] == "succeeded", row
    assert row["warnings"] == ['task t1: check: "test -e fixed.txt" is red on the base']
    base = [e for e in evidence(daemon, number) if e["product"] == 1]
    assert [(e["subject"], e["result"]) for e in base] == [(c, "red") for c in checks[:2] for _ in "12"]


def test_warn_is_the_default(make_daemon, repo):
    daemon = make_daemon(scripts=SCRIPTS)
    number = daemon.review(repo.path, review={"profile": "verdict", "workspace": "room", "max_fixes": 1},
                           checks=["test -e fixed.txt"])
    assert daemon.ended(number)["warnings"] == ['task t1: check: "test -e fixed.txt" is red on the base']


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
    assert row["warnings"] == [f'task t1: check: "{RED}" is red on the base; it does not count']
    assert roles(daemon, number) == ["implement"] + ["check"] * 3 + ["check"] * 3 + ["check", "review"]
    assert row["checks"] == {"green": 3, "red": 4, "flaky": 0, "reused": 0}


def test_a_new_failure_counts(make_daemon, repo):
    daemon = make_daemon(scripts=SCRIPTS)
    number, row = new_failures(daemon, repo, "test ! -e work.txt")
    assert row["state"] == "failed" and row["end_kind"] == "check"
    assert roles(daemon, number) == ["implement", "check", "check", "check", "fix", "check", "check"]


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
    assert roles(daemon, number) == (checks if on_base == "require" else ["implement", "check", "check"] + checks)
    assert [e["result"] for e in evidence(daemon, number) if e["kind"] == "check" and e["product"] == 1] == ["red"] * 2


def test_red_in_the_directory_of_the_user(make_daemon, project):
    """It fails there, too: that is all that is said, and a fixer is paid."""
    daemon = make_daemon(scripts=SCRIPTS)
    number, row = run(daemon, project, ["test -e fixed.txt"], "warn", isolation="worktree")
    assert row["state"] == "succeeded", row
    assert row["warnings"] == ['task t1: check: "test -e fixed.txt" is red on the base']
    assert roles(daemon, number) == ["implement"] + ["check"] * 5 + ["fix", "check", "review"]
    number, row = run(daemon, project, ["test -e fixed.txt"], "require")
    assert row["cause"] == 'check: "test -e fixed.txt" is red on the base'


def test_where_an_agent_has_worked_nothing_runs(make_daemon, project):
    """It may have left anything in a shared directory."""
    daemon = make_daemon(scripts=SCRIPTS)
    number, row = run(daemon, project, [NEEDS], "warn", isolation="shared")
    assert row["state"] == "failed" and row["end_kind"] == "check"
    assert roles(daemon, number) == ["implement"] + ["check"] * 4 + ["fix"] + ["check"] * 2


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
