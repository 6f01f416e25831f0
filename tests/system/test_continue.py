# SPDX-License-Identifier: MIT
"""A retry continues with the phase that failed: no implementer whose work is recorded starts again,
whatever failed after it. Without that work, or from scratch, everything is implemented."""
import json

import pytest
from rld import RpcError

WORK = "echo one > $RL_TASK_ID.txt\nanswer done\n"
GO = """cat <<'END'
{"decision": "GO", "feedback": "", "quality_checks": {"acceptance_criteria_met": true,
 "technical_correctness": true, "standards_followed": true, "edge_cases_handled": true}}
END
"""
SEEN = "printf '{\"summary\": \"fine\", \"comments\": []}' > review-comments.json\nanswer done\n"
PASSES = {"verdict": "pass\n", "decision": GO, "comments": SEEN}

# What fails after the implementer, and what is put right: scripts and settings of the first run,
# scripts of the second, roles that start in it.
FAILS = {
    "the reviewer crashes": ({"review": "exit 3\n"}, {}, {}, ["review"]),
    "the reviewer is killed": ({"review": "kill -9 $$\n"}, {}, {}, ["review"]),
    "no verdict": ({"review": "answer nothing\n"}, {}, {}, ["review"]),
    "a malformed verdict": ({"review": "echo '{\"verdict\": \"maybe\"}'\n"}, {}, {}, ["review"]),
    "the reviewer changes the work": ({"review": "echo x >> t1.txt\npass\n"}, {}, {}, ["review"]),
    "a check fails": ({"fix": "answer no\n"}, {"checks": ["test -e {there}"], "max_fixes": 1}, {}, ["check", "review"]),
    "the fixer crashes": ({"review": "drift more\n", "fix": "exit 4\n"}, {},
                          {"fix": "echo two >> t1.txt\nanswer done\n"}, ["fix", "review"]),
    "fixes are exhausted": ({"review": "drift more\n", "fix": "echo no >> t1.txt\nanswer no\n"}, {"max_fixes": 1},
                            {"fix": "echo two >> t1.txt\nanswer done\n"}, ["fix", "review"]),
}


def started(daemon, run):
    return [a["role"] for a in daemon.attempts(run)]


def paid(daemon, run):
    return [role for role in started(daemon, run) if role == "implement"]


def retried(daemon, run, **more):
    return daemon.ended(daemon.call("run.retry", id=run, **more)["id"])


def text_of(repo, run, row, name):
    return repo.git("show", f"{row['result_ref']}:{name}")


@pytest.mark.parametrize("isolation", ["shared", "worktree"])
@pytest.mark.parametrize("what", FAILS)
def test_the_phase_that_failed_is_done_again(make_daemon, repo, tmp_path, isolation, what):
    scripts, review, cured, roles = FAILS[what]
    there = tmp_path / "there"
    review = {**review, "checks": [c.format(there=there) for c in review.get("checks", [])]}
    daemon = make_daemon(scripts={"implement": WORK, "review": "pass\n", **scripts})
    first = daemon.ended(daemon.review(repo.path, review=review, isolation=isolation))
    assert first["state"] == "failed" and len(paid(daemon, first["id"])) == 1, first["cause"]
    there.touch()
    daemon.play.set({"review": "pass\n", **cured})
    row = retried(daemon, first["id"])
    assert row["state"] == "succeeded", (row["cause"], row["warnings"])
    assert not paid(daemon, row["id"])
    assert [a["role"] for a in daemon.attempts(row["id"])] == roles
    assert text_of(repo, first["id"], row, "t1.txt").splitlines()[0] == "one"
    assert row["tasks"][0]["continues"] == first["id"]
    assert daemon.call("review.verify", run=row["id"])["ok"]
    assert "+one" in daemon.play.prompt(row["id"], "review").decode(), "the work since the run before began"


@pytest.mark.each
@pytest.mark.parametrize("isolation", ["shared", "worktree"])
@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("profile", ["verdict", "comments", "decision", "exit"])
def test_what_is_judged_and_committed_is_all_of_the_work(make_daemon, repo, tmp_path, profile, again, isolation):
    """Of each task, also in the second retry; none of it is taken for what was there before."""
    judge = tmp_path / "judge"
    there = tmp_path / "there"
    judge.write_text(f"#!/bin/sh\n[ -e {there} ] || exit 3\ncat \"$RL_DIFF_FILE\" >> {tmp_path}/judged\n")
    judge.chmod(0o755)
    stories = json.dumps({"userStories": [{"id": name, "title": name} for name in "ab"]})
    params = {"reviewer": str(judge), "review": {"on_reviewer_error": "fail"}} if profile == "exit" else \
        {"review": {"enabled": True, "profile": profile}}
    daemon = make_daemon(scripts={"implement": WORK, "review": "exit 3\n"})
    row = daemon.ended(daemon.submit(repo.path, task=None, stories=stories, on_failure="continue", commit="auto",
                                     isolation=isolation, **params))
    assert row["state"] == "failed"
    for _ in "12":
        row = retried(daemon, row["id"])
        assert row["state"] == "failed", row
    there.touch()
    daemon.play.set({"review": PASSES.get(profile, "")})
    row = retried(daemon, row["id"])
    assert row["state"] == "succeeded", row
    rows = [row]
    if again:
        rows.append(daemon.ended(daemon.call("review.again", run=row["id"])["id"]))
        assert rows[1]["state"] == "succeeded", rows[1]
    for each in rows:
        assert not [w for w in each["warnings"] if "the tree is unchanged" in w], each
        given = [(tmp_path / "judged").read_text()] if profile == "exit" else \
            [daemon.play.prompt(each["id"], "review", n + 1).decode()
             for n in range(started(daemon, each["id"]).count("review")) if profile != "comments"]
        assert profile == "comments" or ("+one" in given[0] and "No changes: the tree" not in "".join(given)), given
    for name in "ab":
        assert repo.git("show", f"{row['result_branch'] or 'HEAD'}:{name}.txt") == "one"


@pytest.mark.parametrize("profile", PASSES)
def test_every_profile(make_daemon, repo, profile):
    """The judge is misconfigured until it is put right."""
    daemon = make_daemon(scripts={"implement": WORK, "review": "exit 3\n"})
    first = daemon.ended(daemon.review(repo.path, review={"profile": profile}))
    assert first["state"] == "failed"
    daemon.play.set({"review": PASSES[profile]})
    row = retried(daemon, first["id"])
    assert row["state"] == "succeeded" and started(daemon, row["id"]) == ["review"], row["cause"]
    slots = [1, 0] if profile == "comments" else [1]	# 0: the review of the whole run
    assert [(e["run"], e["slot"], e["task"], e["continues"]) for e in daemon.call("event.list", limit=256)["events"]
            if e["type"] == "slot.continued"] == [(row["id"], slot, "t1", first["id"]) for slot in slots]
    if profile != "comments":		# whose reviewer must not know the answer
        assert "done" in daemon.play.prompt(row["id"], "review").decode()


def test_findings_and_their_history_are_taken_over(make_daemon, repo):
    """The fixer is given what the last review has found, and the next review is the next round."""
    daemon = make_daemon(scripts={"implement": WORK, "review": "drift 'say two'\n", "fix": "exit 4\n"})
    first = daemon.ended(daemon.review(repo.path, isolation="worktree"))
    daemon.play.set({"fix": "echo two >> t1.txt\nanswer done\n", "review": "pass\n"})
    row = retried(daemon, first["id"])
    assert row["state"] == "succeeded" and "say two" in daemon.play.prompt(row["id"], "fix").decode()
    assert [(r["decision"], r["iteration"], r["from_run"]) for r in daemon.reviews(row["id"])] == \
        [("drift", 1, first["id"]), ("pass", 2, None)]
    kinds = [(p["kind"], p["from_run"]) for p in daemon.call("product.list", run=row["id"])["products"]]
    assert ("work", first["id"]) in kinds


def test_a_failed_commit_is_done_again_without_a_review(make_daemon, repo):
    """A verdict about the same tree is not asked for twice."""
    hook = repo.path / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\nexit 1\n")
    daemon = make_daemon(scripts={"implement": WORK, "review": "gate r\npass\n", "fix": "answer no\n"}, gates=["r"])
    number = daemon.review(repo.path, review={"max_fixes": 0}, isolation="worktree")
    daemon.play.arrived("r")
    hook.chmod(0o755)
    daemon.play.go("r")
    first = daemon.ended(number)
    assert first["state"] == "held" and first["holds"][0]["kind"] == "commit-refused"
    hook.unlink()
    row = retried(daemon, first["id"])
    assert row["state"] == "succeeded", row["cause"]
    assert started(daemon, row["id"]) == [] and row["result"]["commit"]
    assert any(e["kind"] == "review" and e["from_run"] == first["id"] and e["result"] == "green"
               for e in daemon.call("evidence.list", run=row["id"])["evidence"])


def test_from_scratch(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": WORK, "review": "exit 3\n"})
    first = daemon.ended(daemon.review(repo.path, isolation="worktree"))
    daemon.play.set({"review": "pass\n"})
    out = daemon.rlctl("retry", "--from-scratch", first["id"], check=0).out
    row = daemon.ended(int(out.split()[-1]))
    assert row["state"] == "succeeded" and len(paid(daemon, row["id"])) == 1
    assert row["tasks"][0]["continues"] is None


def test_a_shared_directory_must_be_as_it_was_left(make_daemon, repo):
    """Otherwise the retry is refused with both remedies, and either of them works."""
    daemon = make_daemon(scripts={"implement": WORK, "review": "exit 3\n"})
    first = daemon.ended(daemon.review(repo.path, isolation="shared"))
    before = repo.read("t1.txt")
    repo.write("t1.txt", "mine\n")
    daemon.play.set({"review": "pass\n"})
    row = retried(daemon, first["id"])
    assert row["state"] == "failed" and row["end_kind"] == "differs" and daemon.attempts(row["id"]) == []
    assert "t1.txt" in row["cause"] and "--from-scratch" in row["cause"] and "restore it" in row["cause"]
    repo.write("t1.txt", before)
    again = retried(daemon, row["id"])
    assert again["state"] == "succeeded" and not paid(daemon, again["id"])


def test_without_git_it_starts_over_and_says_so(make_daemon, tmp_path):
    plain = tmp_path / "plain"
    plain.mkdir()
    judge = tmp_path / "judge"
    judge.write_text("#!/bin/sh\n[ -e ../ok ]\nexit $(($? * 3))\n")
    judge.chmod(0o755)
    daemon = make_daemon(scripts={"implement": "echo one > work\nanswer done\n"})
    first = daemon.ended(daemon.submit(plain, reviewer=str(judge), review={"on_reviewer_error": "fail"}))
    assert first["state"] == "failed", first["cause"]
    (tmp_path / "ok").touch()
    row = retried(daemon, first["id"])
    assert row["state"] == "succeeded" and len(paid(daemon, row["id"])) == 1, row["cause"]
    assert any("starts over" in w for w in row["warnings"])


def night(daemon, repo, profile="verdict", isolation="worktree", **review):
    stories = json.dumps({"userStories": [{"id": name, "title": name} for name in "abc"]})
    return daemon.ended(daemon.review(repo.path, task=None, stories=stories, parallel=2, on_failure="continue",
                                      isolation=isolation, review={"profile": profile, **review}))


@pytest.mark.parametrize("profile", ["verdict", "comments"])
def test_a_night_with_a_broken_reviewer(make_daemon, repo, profile):
    """All tasks are implemented once; one retry passes all, on the branch of the old results."""
    daemon = make_daemon(scripts={"implement": WORK, "review": "exit 3\n"})
    first = night(daemon, repo, profile)
    assert first["state"] == "failed" and len(paid(daemon, first["id"])) == 3
    daemon.play.set({"review": PASSES[profile]})
    row = retried(daemon, first["id"])
    assert row["state"] == "succeeded" and not paid(daemon, row["id"]), row["cause"]
    assert {t["state"] for t in row["tasks"]} == {"passed"}
    for name in "abc":
        assert repo.git("show", f"{row['result_branch']}:{name}.txt") == "one"


@pytest.mark.parametrize("isolation", ["worktree", "shared"])
@pytest.mark.parametrize("profile", ["file", "comments"])
def test_what_was_implemented_is_reviewed(make_daemon, repo, profile, isolation):
    """One of three implementers fails: it has failed on its own, the others are reviewed; profile
    "file" commits all or nothing."""
    finished = 'answer "$(grep -o "Review finished: [0-9a-f]*" "$PLAY/prompt.$RL_RUN.$role.$nth" | tail -1)"\n'
    seen = {"file": finished + "answer fine\n", "comments": SEEN}[profile]
    daemon = make_daemon(scripts={"implement": '[ "$RL_TASK_ID" != b ] || exit 4\n' + WORK, "review": seen})
    head = repo.git("rev-parse", "HEAD")
    first = night(daemon, repo, profile, isolation)
    states = {t["id"]: (t["state"], t["end_kind"]) for t in first["tasks"]}
    assert first["state"] == "failed" and "status 4" in first["cause"], first["cause"]
    assert states["b"] == ("failed", "error") and started(daemon, first["id"]).count("review") == 1
    assert states["a"] == states["c"] == (("failed", "partial") if profile == "file" else ("passed", None))
    assert repo.git("rev-parse", "HEAD") == head
    daemon.play.set({"implement": WORK})
    row = retried(daemon, first["id"])
    assert row["state"] == "succeeded" and len(paid(daemon, row["id"])) == 1, row["cause"]
    where = row["result_branch"] or "HEAD"
    if profile == "file" or isolation == "worktree":
        for name in "abc":
            assert repo.git("show", f"{where}:{name}.txt") == "one"


def test_tasks_that_come_later_build_on_the_old_results(make_daemon, repo):
    """What passed stays on the branch of the retry; what was never begun starts from there."""
    daemon = make_daemon(scripts={"implement": '[ "$RL_TASK_ID" != b ] || exit 4\n' + WORK, "review": "pass\n"})
    first = night(daemon, repo)
    assert first["state"] == "failed"
    daemon.play.set({"implement": "cat a.txt c.txt\n" + WORK})
    row = retried(daemon, first["id"])
    assert row["state"] == "succeeded" and [t["id"] for t in row["tasks"]] == ["b"]
    assert row["result_branch"] != first["result_branch"]
    assert not any("starts without them" in w for w in row["warnings"])
    for name in "abc":
        assert repo.git("show", f"{row['result_branch']}:{name}.txt") == "one"


@pytest.mark.parametrize("moment", ["prepared", "review"])
def test_a_kill_during_the_retry(make_daemon, repo, moment):
    daemon = make_daemon(scripts={"implement": WORK, "review": "exit 3\n"})
    first = daemon.ended(daemon.review(repo.path, isolation="worktree"))
    daemon.play.gates("r").set({"review": "gate r\npass\n"})
    number = daemon.call("run.retry", id=first["id"])["id"]
    if moment == "prepared":
        daemon.kill()
        daemon.start()
        daemon.play.arrived("r")
    else:
        daemon.play.arrived("r")
        daemon.kill()
        daemon.start()
    daemon.play.go("r")
    row = daemon.ended(number)
    assert row["state"] == "succeeded" and started(daemon, number) == ["review"], row["cause"]


def test_a_retry_that_came_to_nothing_is_retried(make_daemon, repo):
    """What it was to continue is still there."""
    daemon = make_daemon(scripts={"implement": WORK, "review": "exit 3\n"})
    first = daemon.ended(daemon.review(repo.path, isolation="worktree"))
    second = retried(daemon, first["id"])
    assert second["state"] == "failed" and started(daemon, second["id"]) == ["review"]
    daemon.play.set({"review": "pass\n"})
    third = retried(daemon, second["id"])
    assert third["state"] == "succeeded" and started(daemon, third["id"]) == ["review"]


def test_review_again(make_daemon, repo):
    """A product is judged once more, by another reviewer, whatever the first one said."""
    daemon = make_daemon(scripts={"implement": WORK, "review": "pass\n"}, config={
        "agent": {"other": {"command": ["sh", "-c", "cat > /dev/null; exit 5"], "prompt": "stdin"}}})
    first = daemon.ended(daemon.review(repo.path, isolation="worktree"))
    assert first["state"] == "succeeded"
    out = daemon.rlctl("review", "again", f"{first['id']}/t1", check=0).out
    row = daemon.ended(int(out.split()[-1]))
    assert row["state"] == "succeeded" and started(daemon, row["id"]) == ["review"]
    row = daemon.ended(int(daemon.rlctl("review", "again", first["id"], "--reviewer-agent", "other",
                                        check=0).out.split()[-1]))
    assert row["state"] == "failed" and daemon.attempts(row["id"])[-1]["agent"] == "other"
    with pytest.raises(RpcError):
        daemon.call("review.again", run=first["id"], task="nothing")
    with pytest.raises(RpcError):
        daemon.call("review.again", run=first["id"], reviewer_agent="nobody")


def test_a_persons_edit_during_the_review(make_daemon, repo):
    """It ends the review as a violation. Once it is undone the work is judged again, and not paid
    again; that is offered."""
    daemon = make_daemon(scripts={"implement": WORK, "review": "gate at\npass\n"}, gates=["at"])
    review = {"profile": "verdict", "workspace": "same"}
    number = daemon.review(repo.path, review=review)
    daemon.play.arrived("at")
    before = repo.read("README")
    repo.write("README", before + "mine\n")
    daemon.play.go("at")
    row = daemon.ended(number)
    assert row["state"] == "failed" and "reviewer changed the tree: README" in row["cause"], row
    next_ = [line.split(None, 1)[1] for line in daemon.rlctl("show", number).out.splitlines()
             if line.startswith("next ")]
    assert next_ == [f"rlctl review again {number}, or rlctl retry {number}"]
    repo.write("README", before)
    daemon.play.set({"review": "pass\n"})
    again = daemon.ended(int(daemon.rlctl(*next_[0].split(",")[0].split()[1:], check=0).out.split()[-1]))
    assert again["state"] == "succeeded" and started(daemon, again["id"]) == ["review"]


@pytest.mark.parametrize("says", [None, "say two"])
@pytest.mark.parametrize("what", ["exit 3\n", "answer nothing\n"], ids=["error", "malformed"])
def test_rework_of_a_reviewers_failure(make_daemon, repo, what, says):
    """Nobody has found anything, so it is a review; with a message it is a fix."""
    daemon = make_daemon(scripts={"implement": WORK, "review.1": what, "review": "pass\n",
                                  "fix": "echo two >> t1.txt\nanswer done\n"})
    row = daemon.ended(daemon.review(repo.path, review={"on_malformed": "hold", "on_reviewer_error": "hold"}))
    assert row["state"] == "held"
    daemon.rlctl("hold", "rework", row["holds"][0]["id"], *([] if says is None else ["-m", says]), check=0)
    daemon.rlctl("wait", row["id"], check=0)
    assert started(daemon, row["id"]) == ["implement", "review"] + ([] if says is None else ["fix"]) + ["review"]
