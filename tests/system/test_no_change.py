# SPDX-License-Identifier: MIT
"""Implementers that change nothing: some say that this is right, some claim that they are done."""
import json

import pytest
from rld import Repo

SAYS = "answer 'It is there already.\n\n  No_Change_Needed\n'\n"
CLAIMS = "answer 'Done. I have mended the parser.'\n"
NOTHING_PASSED = "task t1: nothing was changed, no agent declared that no change was needed, and the review passed"
NOTHING = "the implementer changed nothing and did not declare that no change was needed"


def outcome(daemon, run, role="implement"):
    return [a["outcome"] for a in daemon.attempts(run) if a["role"] == role]


def slot(row):
    return row["slots"][0]


# ---- without a review ----------------------------------------------------------------------------

def test_a_claim_of_nothing_passes(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": SAYS})
    row = daemon.ended(daemon.submit(repo.path))
    assert (row["state"], row["warnings"], outcome(daemon, row["id"])) == ("succeeded", [], ["done"])


def test_a_false_done_is_told(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": CLAIMS})
    row = daemon.ended(daemon.submit(repo.path))
    assert (row["state"], outcome(daemon, row["id"])) == ("succeeded", ["no-change"])
    assert row["warnings"] == [f"task t1: {NOTHING}; it is not reviewed"]
    assert slot(row)["reason"] == "not reviewed: review is off"


def test_a_change_is_a_change_whatever_is_said(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "echo x > new.txt\n" + SAYS})
    row = daemon.ended(daemon.submit(repo.path, on_no_change="fail"))
    assert (row["state"], row["warnings"], outcome(daemon, row["id"])) == ("succeeded", [], ["done"])


def test_files_that_git_does_not_see_are_no_change(make_daemon, repo):
    repo.write(".gitignore", "*.o\n")
    daemon = make_daemon(scripts={"implement": "echo x > a.o\n" + CLAIMS})
    row = daemon.ended(daemon.submit(repo.path))
    assert outcome(daemon, row["id"]) == ["no-change"]


@pytest.mark.parametrize("review", [None, {"enabled": True}])
def test_fail(make_daemon, repo, review):
    daemon = make_daemon(scripts={"implement": CLAIMS, "review": "pass\n"}, config={"run": {"on_no_change": "fail"}})
    params = {"review": review} if review else {}
    row = daemon.ended(daemon.submit(repo.path, **params))
    assert (row["state"], row["cause"], outcome(daemon, row["id"])) == ("failed", NOTHING, ["no-change"])
    assert outcome(daemon, row["id"], "review") == []
    assert daemon.attempts(row["id"])[0]["cause"] == NOTHING


def test_fail_spares_who_says_so(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": SAYS}, config={"run": {"on_no_change": "fail"}})
    assert daemon.ended(daemon.submit(repo.path))["state"] == "succeeded"


def test_nothing_can_be_told_without_git(make_daemon, tmp_path):
    (tmp_path / "plain").mkdir()
    daemon = make_daemon(scripts={"implement": CLAIMS}, config={"run": {"on_no_change": "fail"}})
    row = daemon.ended(daemon.submit(tmp_path / "plain"))
    assert (row["state"], row["warnings"]) == ("succeeded", [])
    assert "on a separate line" not in daemon.play.prompt(row["id"], "implement").decode()


# ---- with one ------------------------------------------------------------------------------------

@pytest.mark.parametrize("script,outcomes,words", [
    (SAYS, ["done"], "The developer says that no change was needed."),
    (CLAIMS, ["no-change"], "The developer did not say that no change was needed"),
])
def test_the_reviewer_is_told(make_daemon, repo, script, outcomes, words):
    daemon = make_daemon(scripts={"implement": script, "review": "pass\n"})
    row = daemon.ended(daemon.review(repo.path))
    assert (row["state"], outcome(daemon, row["id"])) == ("succeeded", outcomes)
    assert row["warnings"] == ([] if script == SAYS else [NOTHING_PASSED])
    assert words in daemon.play.prompt(row["id"], "review").decode()
    assert row["result_ref"] is not None


def test_a_fixer_mends_what_the_implementer_did_not(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": CLAIMS, "review.1": "drift 'do it'\n",
                                  "fix": "echo x > new.txt\nanswer done\n", "review": "pass\n"})
    row = daemon.ended(daemon.review(repo.path))
    assert row["state"] == "succeeded" and row["warnings"] == []
    assert (outcome(daemon, row["id"]), outcome(daemon, row["id"], "fix")) == (["no-change"], ["done"])
    assert "no change was needed" not in daemon.play.prompt(row["id"], "review", 2).decode()


def test_a_fixer_that_mends_nothing_either_is_told(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": CLAIMS, "review.1": "drift 'do it'\n",
                                  "fix": "answer done\n", "review": "pass\n"})
    row = daemon.ended(daemon.review(repo.path))
    assert (row["state"], row["warnings"]) == ("succeeded", [NOTHING_PASSED])


def test_what_is_reviewed_with_the_run_is_told(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": CLAIMS, "review": "pass\n"})
    row = daemon.ended(daemon.review(repo.path, review={"scope": "run"}))
    assert (row["state"], row["warnings"]) == ("succeeded", [f"task t1: {NOTHING}; it is reviewed with the whole run"])


def test_pass_asks_nobody(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": CLAIMS, "review": "drift no\n"},
                         config={"run": {"on_no_change": "pass"}})
    row = daemon.ended(daemon.review(repo.path))
    assert (row["state"], row["result_ref"], outcome(daemon, row["id"], "review")) == ("succeeded", None, [])
    assert slot(row)["reason"] == f'not reviewed: {NOTHING}, and run.on_no_change is "pass"' and slot(row)["round"] == 0
    assert row["warnings"] == [f"task t1: {NOTHING}; it is not reviewed"]


def test_pass_does_not_spare_work_its_review(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "echo x > new.txt\n" + CLAIMS, "review": "pass\n"},
                         config={"run": {"on_no_change": "pass"}})
    row = daemon.ended(daemon.review(repo.path))
    assert len(outcome(daemon, row["id"], "review")) == 1 and row["result_ref"] is not None


def test_denied_is_worse_than_nothing(make_daemon, repo):
    """Whoever was refused a permission has not found out that nothing is to be done."""
    lines = [{"type": "result", "subtype": "success", "is_error": False,
              "result": "no_change_needed", "session_id": "s", "total_cost_usd": 0.1,
              "usage": {"input_tokens": 1, "output_tokens": 1},
              "permission_denials": [{"tool_name": "Write"}]}]
    script = "".join(f"cat <<'EOF'\n{json.dumps(line)}\nEOF\n" for line in lines)
    daemon = make_daemon(scripts={"implement": script}, config={"agent.play": {"reader": "claude"}})
    row = daemon.ended(daemon.submit(repo.path))
    assert (row["state"], outcome(daemon, row["id"])) == ("failed", ["denied"])
    assert "denied permissions" in row["cause"]


# ---- the word for it -----------------------------------------------------------------------------

def test_the_prompt_names_the_word(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "answer 'nichts zu tun'\n"},
                         config={"run": {"no_change_markers": ["nichts zu tun", "rien"], "on_no_change": "fail"}})
    row = daemon.ended(daemon.submit(repo.path))
    assert (row["state"], outcome(daemon, row["id"])) == ("succeeded", ["done"])
    prompt = daemon.play.prompt(row["id"], "implement").decode()
    assert "\nnichts zu tun\n" in prompt and "rien" not in prompt


def test_a_submit_has_words_of_its_own(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": SAYS})
    row = daemon.ended(daemon.submit(repo.path, no_change_markers=[], on_no_change="fail"))
    assert (row["state"], row["cause"]) == ("failed", NOTHING)


def test_in_a_fence_it_is_no_word(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "answer '```\nno_change_needed\n```'\n"})
    row = daemon.ended(daemon.submit(repo.path))
    assert outcome(daemon, row["id"]) == ["no-change"]


# ---- many tasks ----------------------------------------------------------------------------------

def stories(*names):
    return json.dumps({"project": "p", "description": "d", "userStories": [
        {"id": name, "title": f"do {name}", "description": "d", "acceptanceCriteria": [],
         "priority": i, "passes": False} for i, name in enumerate(names)]})


ONE = 'if [ "$RL_TASK_ID" = b ]; then answer done; else echo $RL_TASK_ID > $RL_TASK_ID.txt; answer done; fi\n'


@pytest.mark.parametrize("params,warned", [({}, True), ({"isolation": "worktree"}, True),
                                           ({"review": {"enabled": True, "scope": "run"}}, False)])
def test_each_task_is_compared_with_what_it_began_with(make_daemon, repo, params, warned):
    daemon = make_daemon(scripts={"implement": ONE, "review": "pass\n"})
    row = daemon.ended(daemon.submit(repo.path, task=None, stories=stories("a", "b", "c"), **params))
    assert row["state"] == "succeeded", row["cause"]
    assert outcome(daemon, row["id"]) == ["done", "no-change", "done"]
    assert (f"task b: {NOTHING}; it is not reviewed" in row["warnings"]) == warned


def test_one_that_fails_is_one(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": ONE}, config={"run": {"on_no_change": "fail", "on_failure": "continue"}})
    row = daemon.ended(daemon.submit(repo.path, task=None, stories=stories("a", "b", "c")))
    assert {t["id"]: t["state"] for t in row["tasks"]} == {"a": "passed", "b": "failed", "c": "passed"}


def test_an_empty_repository(make_daemon, tmp_path):
    repo = Repo(tmp_path / "empty", commit=False)
    daemon = make_daemon(scripts={"implement": CLAIMS})
    row = daemon.ended(daemon.submit(repo.path))
    assert (row["state"], outcome(daemon, row["id"])) == ("succeeded", ["no-change"])


def test_a_death_between_the_word_and_the_tree(make_daemon, repo):
    """What was said is on disk with the end of the attempt, before the tree is looked at."""
    daemon = make_daemon(scripts={"implement": SAYS}, config={"run": {"on_no_change": "fail"}})
    with daemon.events(types=["attempt.ended"]) as events:
        number = daemon.submit(repo.path)
        events.until("attempt.ended")
        daemon.kill()
    daemon.start()
    assert daemon.ended(number)["state"] == "succeeded"
