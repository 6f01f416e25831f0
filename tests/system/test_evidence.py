# SPDX-License-Identifier: MIT
"""Products and evidence: each tree of a run is a product, and each judgement names the product that
it is about."""
import hashlib
import shutil

import pytest
from rld import RpcError
from trees import beads, trees  # noqa: F401

SCRIPTS = {
    "implement": "echo one > work.txt\nanswer done\n",
    "review.1": "drift 'a second line'\n",
    "fix": "echo two >> work.txt\nanswer fixed\n",
    "review": "pass\n",
}


def products(daemon, run, **params):
    return daemon.call("product.list", run=run, **params)["products"]


def evidence(daemon, run, **params):
    return daemon.call("evidence.list", run=run, **params)["evidence"]


def kinds(daemon, run):
    return [(p["kind"], p["task_id"], p["parent"], p["attempt_number"]) for p in products(daemon, run)]


def test_each_tree_is_a_product_and_each_verdict_names_it(make_daemon, repo):
    daemon = make_daemon(scripts=SCRIPTS)
    run = daemon.review(repo.path)
    assert daemon.ended(run)["state"] == "succeeded"
    assert kinds(daemon, run) == [("base", None, None, None), ("work", "t1", 1, 1), ("work", "t1", 2, 3),
                                  ("result", "t1", 3, None)]
    base, first, second, result = products(daemon, run)
    assert len({base["tree"], first["tree"], second["tree"]}) == 3 and result["tree"] == second["tree"]
    row = daemon.run(run)
    assert row["base_tree"] == base["tree"] and row["tasks"][0]["locked_tree"] == result["tree"]
    assert row["slots"][0]["product"] == 4 and (row["product_count"], row["evidence_count"]) == (4, 2)
    judged = evidence(daemon, run)
    assert [(e["product"], e["kind"], e["result"], e["review"], e["attempt_number"], e["exit_code"])
            for e in judged] == [(2, "review", "red", 1, 2, 0), (3, "review", "green", 2, 4, 0)]
    assert [e["tree"] for e in judged] == [first["tree"], second["tree"]]
    attempts = daemon.attempts(run)
    assert [e["output_hash"] for e in judged] == [attempts[1]["output_hash"], attempts[3]["output_hash"]]
    assert all(len(a["output_hash"]) == 64 for a in attempts)
    answer = daemon.call("review.verify", run=run)
    assert answer["ok"] and (answer["products"], answer["evidence"]) == (4, 2)
    out = daemon.rlctl("evidence", f"{run}/t1", check=0).out
    assert first["tree"][:12] in out and "green" in out


def test_the_repository_is_gone(make_daemon, repo):
    """The next run makes it again; what was recorded before is as it was."""
    daemon = make_daemon(scripts=SCRIPTS)
    first = daemon.review(repo.path)
    assert daemon.ended(first)["state"] == "succeeded"
    shutil.rmtree(daemon.state / "evidence")
    second = daemon.review(repo.path)
    assert daemon.ended(second)["state"] == "succeeded", daemon.run(second)
    for run in (first, second):
        daemon.rlctl("review", "verify", run, check=0)


def test_it_survives_a_restart(make_daemon, repo):
    daemon = make_daemon(scripts={**SCRIPTS, "fix": "gate here\n" + SCRIPTS["fix"]}, gates=["here"])
    run = daemon.review(repo.path)
    daemon.play.arrived("here")
    before = products(daemon, run), evidence(daemon, run)
    daemon.kill()
    daemon.start()
    assert (products(daemon, run), evidence(daemon, run)) == before and len(before[0]) == 2
    daemon.play.go("here")
    assert daemon.ended(run)["state"] == "succeeded"
    assert [p["kind"] for p in products(daemon, run)] == ["base", "work", "work", "result"]
    assert daemon.call("review.verify", run=run)["ok"]


@pytest.mark.parametrize("decision, result", [("approve", "green"), ("reject", "red"), ("rework", "red")])
def test_a_human_judges_a_product_too(make_daemon, repo, decision, result):
    daemon = make_daemon(scripts={**SCRIPTS, "review": "drift 'never'\n"})
    run = daemon.review(repo.path, review={"max_fixes": 0, "on_exhausted": "hold"})
    assert daemon.ended(run)["state"] == "held"
    hold = daemon.call("hold.list", run=run)["holds"][0]["id"]
    daemon.rlctl("hold", decision, hold, "-m", "because", check=0)
    human, = [e for e in evidence(daemon, run) if e["kind"] == "human"]
    assert (human["product"], human["result"], human["attempt"]) == (2, result, None)
    assert human["subject"].startswith("human:") and human["tree"] == products(daemon, run)[1]["tree"]
    assert (human["review"] is None) == (decision == "rework")


CHECK = "grep -q two work.txt || { echo said 42; exit 7; }"


@pytest.mark.parametrize("workspace", ["room", "same"])
def test_checks_judge_too(make_daemon, repo, workspace):
    daemon = make_daemon(scripts={**SCRIPTS, "review.1": "pass\n"})
    run = daemon.review(repo.path, check_on_base="skip", review={"checks": [CHECK, "true"], "workspace": workspace})
    assert daemon.ended(run)["state"] == "succeeded"
    checks = [e for e in evidence(daemon, run) if e["kind"] == "check"]
    assert {(e["subject"], e["result"], e["exit_code"]) for e in checks} == {
        (CHECK, "red", 7), (CHECK, "green", 0), ("true", "green", 0)}
    assert {e["product"] for e in checks} == ({2, 3} if workspace == "room" else {None})
    assert checks[0]["output_hash"] == hashlib.sha256(b"said 42\n").hexdigest()
    assert daemon.call("review.verify", run=run)["ok"]


def test_what_was_green_on_a_tree_is_not_run_again(make_daemon, repo):
    """A rework that gives the same tree again costs no check; a new tree does."""
    daemon = make_daemon(scripts={**SCRIPTS, "fix": "answer 'nothing to fix'\n", "review": "drift 'more'\n"})
    run = daemon.review(repo.path, check_on_base="skip",
                        review={"checks": ["test -e work.txt", "true"], "workspace": "room", "max_fixes": 1,
                                "on_exhausted": "hold"})
    assert daemon.ended(run)["state"] == "held"
    assert [a["role"] for a in daemon.attempts(run)] == ["implement", "check", "check", "review", "fix", "review"]
    checks = [e for e in evidence(daemon, run) if e["kind"] == "check"]
    assert [(e["attempt_number"], e["from_run"], e["from_attempt"], e["result"], e["product"]) for e in checks] == [
        (2, None, None, "green", 2), (3, None, None, "green", 2),
        (None, run, 2, "green", 2), (None, run, 3, "green", 2)]
    assert daemon.run(run)["checks"] == {"green": 2, "red": 0, "flaky": 0, "reused": 2}
    reused = daemon.call("run.report", id=run)["reused_checks"]
    assert [(c["command"], c["from_run"], c["from_attempt"]) for c in reused] == [
        ("test -e work.txt", run, 2), ("true", run, 3)]
    assert f"- true: green on the same tree in attempt {run}/3\n" in daemon.rlctl("report", run, check=0).out
    events = [e for e in daemon.call("event.list", since=0)["events"] if e["type"] == "check.reused"]
    assert [(e["check"], e["command"], e["from_attempt"]) for e in events] == [
        (1, "test -e work.txt", 2), (2, "true", 3)]
    assert "2 green, 2 not run again" in daemon.rlctl("show", run, check=0).out
    assert f"{run}/2" in daemon.rlctl("evidence", run, check=0).out


def test_each_new_tree_is_checked(make_daemon, repo):
    daemon = make_daemon(scripts={**SCRIPTS, "review.2": "drift 'more'\n"})
    run = daemon.review(repo.path, check_on_base="skip",
                        review={"checks": ["test -n \"$RL_TASK_ID\""], "workspace": "room"})
    assert daemon.ended(run)["state"] == "succeeded"
    assert [a["role"] for a in daemon.attempts(run)] == [
        "implement", "check", "review", "fix", "check", "review", "fix", "check", "review"]


CHECKS = ["test -e work.txt"]


def roles(daemon, run):
    return [a["role"] for a in daemon.attempts(run)]


def judged(daemon, repo, **params):
    """A run of the same work on the same base."""
    repo.git("checkout", "-q", "-f", ".")
    (repo.path / "work.txt").unlink(missing_ok=True)
    review = {"checks": CHECKS, "workspace": "room", **params.pop("review", {})}
    run = daemon.review(repo.path, review=review, **{"check_on_base": "skip", **params})
    daemon.ended(run)
    return run


def test_another_run_uses_what_is_not_too_old(make_daemon, repo):
    daemon = make_daemon(scripts={**SCRIPTS, "review.1": "pass\n"})
    first = judged(daemon, repo)
    assert roles(daemon, first) == ["implement", "check", "review"]
    again = judged(daemon, repo)
    assert roles(daemon, again) == ["implement", "review"]
    check, = [e for e in evidence(daemon, again) if e["kind"] == "check"]
    assert (check["from_run"], check["from_attempt"], check["attempt"], check["result"]) == (first, 2, None, "green")
    assert daemon.run(again)["state"] == "succeeded" and daemon.call("review.verify", run=again)["ok"]
    # not this way: too old, another environment, another command
    for params in ({"evidence_age": 0}, {"env": {"A": "1"}}, {"review": {"checks": ["test -s work.txt"]}}):
        assert roles(daemon, judged(daemon, repo, **params)) == ["implement", "check", "review"], params
    # and what it uses is the run of a check, however often it was used
    third = judged(daemon, repo)
    check, = [e for e in evidence(daemon, third) if e["kind"] == "check"]
    assert check["from_run"] != again


def test_copied_files_are_part_of_the_evidence(make_daemon, repo):
    """A changed .env, or another mode of it, makes a check run again; the old one back does not."""
    repo.write(".gitignore", ".env\n")
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "ignore")
    repo.write(".env", "one\n")
    daemon = make_daemon(scripts={**SCRIPTS, "review.1": "pass\n"})
    params = {"copy": [".env"], "review": {"checks": ["test -e .env"]}}
    checked, reused = ["implement", "check", "review"], ["implement", "review"]
    first = judged(daemon, repo, **params)
    assert roles(daemon, first) == checked
    assert roles(daemon, judged(daemon, repo, **params)) == reused
    repo.write(".env", "two\n")
    assert roles(daemon, judged(daemon, repo, **params)) == checked
    repo.write(".env", "one\n")
    assert roles(daemon, judged(daemon, repo, **params)) == reused
    (repo.path / ".env").chmod(0o600)
    last = judged(daemon, repo, **params)
    assert roles(daemon, last) == checked
    hashes = [e["setup_hash"] for run in (first, last) for e in evidence(daemon, run) if e["kind"] == "check"]
    assert len(set(hashes)) == 2 and daemon.call("review.verify", run=last)["ok"]


def test_copied_files_that_change_within_a_run(make_daemon, repo):
    """The tree stays, what a check may read does not."""
    repo.write(".gitignore", ".env\n")
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "ignore")
    repo.write(".env", "one\n")
    daemon = make_daemon(scripts={**SCRIPTS, "fix": f"echo two > {repo.path}/.env\nanswer 'nothing to fix'\n"})
    run = daemon.review(repo.path, copy=[".env"], check_on_base="skip",
                        review={"checks": ["test -e .env"], "workspace": "room"})
    assert daemon.ended(run)["state"] == "succeeded"
    assert roles(daemon, run) == ["implement", "check", "review", "fix", "check", "review"]


def test_a_retry_uses_it_at_any_age(make_daemon, repo):
    daemon = make_daemon(scripts={**SCRIPTS, "review": "drift 'never'\n"})
    run = judged(daemon, repo, evidence_age=0, review={"max_fixes": 0})
    assert daemon.run(run)["state"] == "failed" and roles(daemon, run) == ["implement", "check", "review"]
    (repo.path / "work.txt").unlink()
    again = daemon.call("run.retry", id=run, from_scratch=True)["id"]
    daemon.ended(again)
    assert products(daemon, again)[-1]["tree"] == products(daemon, run)[-1]["tree"]
    assert roles(daemon, again) == ["implement", "review"]


def test_what_was_flaky_since_is_run_again(make_daemon, repo, tmp_path):
    """The newest run of a check counts, whichever run it was in."""
    flag = tmp_path / "flag"
    checks = [f"test ! -e {flag} || {{ rm {flag}; exit 1; }}"]
    daemon = make_daemon(scripts={**SCRIPTS, "review": "pass\n", "review.1": "pass\n"})
    judged(daemon, repo, review={"checks": checks})
    flag.touch()
    judged(daemon, repo, review={"checks": checks}, evidence_age=0)
    assert not flag.exists()
    assert roles(daemon, judged(daemon, repo, review={"checks": checks})) == ["implement", "check", "review"]


def test_a_flaky_result_is_not_used_again(make_daemon, repo, tmp_path):
    once = tmp_path / "once"
    daemon = make_daemon(scripts={**SCRIPTS, "fix": "answer 'nothing to fix'\n"})
    run = daemon.review(repo.path, check_on_base="skip",
                        review={"checks": [f"test -e {once} || {{ touch {once}; exit 1; }}"],
                                "workspace": "room"})
    assert daemon.ended(run)["state"] == "succeeded"
    assert [a["role"] for a in daemon.attempts(run)] == [
        "implement", "check", "check", "review", "fix", "check", "review"]
    assert daemon.run(run)["checks"] == {"green": 1, "red": 1, "flaky": 1, "reused": 0}


def test_no_judgement(make_daemon, repo):
    daemon = make_daemon(scripts={**SCRIPTS, "review.1": "answer nonsense\n"})
    run = daemon.review(repo.path)
    daemon.ended(run)
    assert [(e["kind"], e["result"]) for e in evidence(daemon, run)] == [("review", "none")]


def test_without_git_there_is_evidence_and_no_product(make_daemon, tmp_path):
    daemon = make_daemon(scripts=SCRIPTS)
    plain = tmp_path / "plain"
    plain.mkdir()
    run = daemon.review(plain, reviewer="/bin/true")
    daemon.ended(run)
    assert products(daemon, run) == []
    assert {(e["product"], e["tree"]) for e in evidence(daemon, run)} == {(None, None)}
    assert daemon.call("review.verify", run=run)["ok"]


def test_merged_results(trees, repo):  # noqa: F811
    beads(repo, "x-1", "x-2", commit=False)
    t = trees(scripts={"implement": 'echo "$RL_TASK_ID" > "$RL_TASK_ID.txt"\nanswer done\n', "review": "pass\n"})
    run = t.submit(parallel=1, review={"enabled": True})
    assert t.daemon.ended(run)["state"] == "succeeded"
    for task in ("x-1", "x-2"):
        rows = products(t.daemon, run, task=task)
        own = [p for p in rows if p["task_id"] == task]
        assert [p["kind"] for p in own if p["kind"] != "base"] == ["work", "merged", "result"], rows
        assert [p["parent"] for p in own][-2:] == [p["number"] for p in own][-3:-1]
    tip = t.daemon.run(run)["result_commit"]
    assert own[-2]["tree"] == repo.git("rev-parse", f"{tip}^{{tree}}").strip()


def test_only_what_is_asked_for(make_daemon, repo):
    daemon = make_daemon(scripts=SCRIPTS)
    run = daemon.review(repo.path)
    daemon.ended(run)
    assert [p["kind"] for p in products(daemon, run, task="other")] == ["base"]
    assert evidence(daemon, run, task="other") == []
    for method in ("product.list", "evidence.list"):
        with pytest.raises(RpcError) as refused:
            daemon.call(method, run=run + 1)
        assert refused.value.code == 1


def test_settings_planted_by_a_run_under_way(make_daemon, repo):
    """A run that begins meanwhile goes by those that were in force before."""
    daemon = make_daemon(scripts={
        "implement": 'if [ "$RL_RUN" = 1 ]; then\n'
                     '\techo hidden.txt >> "$(git rev-parse --git-common-dir)/info/exclude"\n'
                     "\tgate planted\n\techo one > one.txt\n"
                     "else\n\techo two > two.txt; echo two > hidden.txt\nfi\nanswer done\n",
        "review": "pass\n"}, gates=["planted"])
    first = daemon.review(repo.path, isolation="worktree")
    daemon.play.arrived("planted")
    second = daemon.ended(daemon.review(repo.path, isolation="worktree"))
    daemon.play.go("planted")
    assert daemon.ended(first)["state"] == second["state"] == "succeeded"
    assert b"hidden.txt" in daemon.play.prompt(second["id"], "review")
    assert "hidden.txt" in repo.git("ls-tree", "--name-only", second["tasks"][0]["locked_ref"]).split()


def test_a_check_is_about_its_directory(make_daemon, repo):
    """What is green in the top directory says nothing about the same command below."""
    (repo.path / "sub").mkdir()
    repo.write("sub/x", "x\n")
    repo.write("ok", "ok\n")
    repo.git("add", ".")
    repo.git("commit", "-qm", "more")
    work = "echo one > $(git rev-parse --show-toplevel)/work.txt\nanswer done\n"
    daemon = make_daemon(scripts={"implement": work, "review": "pass\n"})
    params = {"isolation": "worktree", "integrate": "none", "check_on_base": "skip", "checks": ["test -e ok"],
              "review": {"max_fixes": 0}}
    assert daemon.ended(daemon.review(repo.path, **params))["state"] == "succeeded"
    row = daemon.ended(daemon.review(repo.path / "sub", **params))
    assert row["state"] != "succeeded"
    assert [a["role"] for a in daemon.attempts(row["id"])] == ["implement", "check", "check"]


@pytest.mark.parametrize("command, want", [("sh check.sh", [""]),
                                           ("RL_TASK_ID=$RL_TASK_ID sh check.sh", ["s1", "s2"])])
def test_a_script_knows_its_task_only_if_the_command_does(make_daemon, repo, command, want):
    """Two tasks with the same tree: what is known of one counts for the other, so the script cannot
    tell them apart."""
    repo.write("check.sh", 'echo "$RL_TASK_ID" >> "$PLAY/seen"\ntest -z "$RL_BASE_REF$RL_TASK_FILE$RL_TASK"\n')
    repo.git("add", ".")
    repo.git("commit", "-qm", "check")
    daemon = make_daemon(scripts={"implement": "echo one > work.txt\nanswer done\n", "review": "pass\n"})
    stories = '{"userStories": [%s]}' % ",".join(
        '{"id": "s%d", "title": "t", "acceptanceCriteria": ["x"], "passes": false}' % n for n in (1, 2))
    number = daemon.call("run.submit", workdir=str(repo.path), stories=stories, isolation="worktree", integrate="none",
                         check_on_base="skip", review={"enabled": True, "profile": "verdict", "max_fixes": 0},
                         checks=[command + " || true" if len(want) == 2 else command],
                         env={"PLAY": str(daemon.play.path)})["id"]
    row = daemon.ended(number)
    assert row["state"] == "succeeded", row
    assert (daemon.play.path / "seen").read_text().split("\n")[:-1] == want


MAKES, NEEDS = "mkdir -p out && echo x > out/prog", "test -e out/prog"


def test_a_check_that_needs_what_a_known_one_makes(make_daemon, repo):
    """It fails where that one need not run; both run before that counts, and no fixer is paid."""
    daemon = make_daemon(scripts={**SCRIPTS, "review": "pass\n", "review.1": "pass\n"})
    judged(daemon, repo, review={"checks": [MAKES]}, check_on_base="skip")
    run = judged(daemon, repo, review={"checks": [MAKES, NEEDS]}, check_on_base="skip")
    assert daemon.run(run)["state"] == "succeeded", daemon.run(run)
    assert [(a["role"], a["agent"]) for a in daemon.attempts(run) if a["role"] == "check"] == [
        ("check", NEEDS), ("check", MAKES), ("check", NEEDS)]
    assert roles(daemon, run).count("fix") == 0 and not daemon.run(run)["warnings"]
    assert daemon.run(run)["checks"]["flaky"] == 0


def test_a_check_that_fails_after_those_before_it_have_run(make_daemon, repo):
    daemon = make_daemon(scripts={**SCRIPTS, "review": "pass\n", "review.1": "pass\n",
                                  "fix": "echo more >> work.txt\nanswer done\n"})
    judged(daemon, repo, review={"checks": [MAKES]}, check_on_base="skip")
    broken = NEEDS + " && grep more work.txt"
    run = judged(daemon, repo, review={"checks": [MAKES, broken]}, check_on_base="skip")
    assert daemon.run(run)["state"] == "succeeded", daemon.run(run)
    assert [a["agent"] for a in daemon.attempts(run) if a["role"] == "check"] == [
        broken, MAKES, broken, MAKES, broken]
    assert roles(daemon, run).count("fix") == 1
