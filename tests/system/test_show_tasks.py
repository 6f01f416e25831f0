# SPDX-License-Identifier: MIT
"""A run with many tasks as run.get gives it and as rlctl show and rlctl list tell it: tasks in
order, why they wait, branches, the way to the result."""
import json

import pytest
from rld import Repo

TITLES = {"US-3": "write the parser", "US-1": "test the parser", "US-2": "document it"}
IMPLEMENT = 'echo "$RL_TASK_ID" > "$RL_TASK_ID.txt"\nanswer done\n'
FAILING = '[ "$RL_TASK_ID" != US-1 ] || exit 3\n' + IMPLEMENT


@pytest.fixture
def stories(repo):
    path = repo.path / "prd.json"
    path.write_text(json.dumps({"project": "Parser", "branchName": "ralph/parser", "userStories": [
        {"id": name, "title": title, "description": "do it", "acceptanceCriteria": ["it works"],
         "priority": 5 + n, "passes": False}
        for n, (name, title) in enumerate(TITLES.items())]}))
    repo.git("add", "prd.json")
    repo.git("commit", "-q", "-m", "stories")
    return path


def submit(daemon, repo, stories, **params):
    return daemon.call("run.submit", workdir=str(repo.path), stories=stories.read_text(),
                       stories_path=str(stories), commit="auto",
                       isolation="worktree", on_failure="continue", **params)["id"]


def facts(text):
    """name -> values of the lines before the first table."""
    found = {}
    for line in text.split("\n\n")[0].splitlines()[1:]:
        name, _, value = line.partition("  ")
        found.setdefault(name, []).append(value.strip())
    return found


def table(text, title):
    """The rows of the table whose first column has this title."""
    for block in text.split("\n\n"):
        lines = block.splitlines()
        if lines and lines[0].split()[0] == title:
            return lines
    return []


def test_tasks_in_order_with_what_they_left(make_daemon, repo, stories):
    daemon = make_daemon(scripts={"implement": FAILING})
    run = submit(daemon, repo, stories, integrate="none", group="night")
    row = daemon.ended(run)
    assert (row["source"], row["source_path"], row["project"],
            row["group"]) == ("stories", str(stories), "Parser", "night"), row
    assert (row["base_commit"] == repo.git("rev-parse", "main") and row["result_branch"] is None
            and row["paused"] is False and row["after"] is None)
    assert [(t["id"], t["position"], t["title"], t["state"], t["priority"]) for t in row["tasks"]] == [
        ("US-3", 1, TITLES["US-3"], "passed", 5), ("US-1", 2, TITLES["US-1"], "failed", 6),
        ("US-2", 3, TITLES["US-2"], "passed", 7)], row["tasks"]
    assert row["title"] == TITLES["US-3"] == daemon.call("run.list")["runs"][0]["title"]
    assert "tasks" not in daemon.call("run.list")["runs"][0] and "acceptance" not in row["tasks"][0]
    for task in row["tasks"]:
        if task["state"] == "passed":
            assert repo.git("rev-parse", task["branch"]) == task["commit"], task
            assert repo.git("show", f"{task['commit']}:{task['id']}.txt") == task["id"]
    assert row["tasks"][1]["commit"] is None and row["tasks"][1]["reason"], row["tasks"]
    text = daemon.rlctl("show", run, check=0).out
    told = facts(text)
    assert (told["source"] == [f"stories {stories}: Parser"]
            and told["tasks"] == ["3: 2 passed, 1 failed"] and told["group"] == ["night"]), told
    assert (told["to merge it"] == ["git merge BRANCH, for each of the 2 tasks that passed"]
            and told["base"] == [row["base_commit"][:12]])
    lines = table(text, "TASK")
    assert [line.split()[:2] for line in lines[1:]] == [["US-3", "passed"], ["US-1", "failed"],
                                                        ["US-2", "passed"]], lines
    assert row["tasks"][0]["branch"] in lines[1] and row["tasks"][1]["reason"] in lines[2]


def test_the_branch_that_has_everything(make_daemon, repo, stories):
    daemon = make_daemon(scripts={"implement": IMPLEMENT})
    run = submit(daemon, repo, stories, integrate="merge")
    row = daemon.ended(run)
    assert row["state"] == "succeeded" and row["result_branch"], row
    text = daemon.rlctl("show", run, check=0).out
    assert (facts(text)["branch"] == [row["result_branch"]]
            and facts(text)["to merge it"] == [f"git merge {row['result_branch']}"])
    before = repo.git("rev-parse", "main")
    repo.git(*facts(text)["to merge it"][0].split()[1:])
    assert {repo.read(f"{name}.txt").strip()
            for name in TITLES} == set(TITLES) and repo.git("rev-parse", "main") != before


def test_the_branch_of_the_only_one(make_daemon, repo, stories):
    daemon = make_daemon(scripts={"implement": '[ "$RL_TASK_ID" = US-2 ] || exit 3\n' + IMPLEMENT})
    run = submit(daemon, repo, stories, integrate="none")
    row = daemon.ended(run)
    told = facts(daemon.rlctl("show", run, check=0).out)
    assert (told["tasks"] == ["3: 1 passed, 2 failed"]
            and told["to merge it"] == [f"git merge {row['tasks'][2]['branch']}"]), told


def test_the_result_beside_work_that_is_not_committed(make_daemon, repo, stories):
    """What was uncommitted at the start is in the base, so a merge would have it twice."""
    repo.write("mine.txt", "mine\n")
    daemon = make_daemon(scripts={"implement": IMPLEMENT})
    done = daemon.rlctl("run", "--stories", "prd.json", "-P2", cwd=repo.path, check=0)
    told = facts(daemon.rlctl("show", 1, check=0).out)
    assert 'To merge it: "git merge rl/1-result".' in done.err and told["to merge it"] == ["git merge rl/1-result"]
    repo.git(*told["to merge it"][0].split()[1:], check=False)
    assert not (repo.path / "US-1.txt").exists()
    repo.git(*told["or else"][0].split(",")[0].split()[1:])
    assert {repo.read(f"{name}.txt").strip() for name in TITLES} == set(TITLES)
    assert repo.git("status", "--short",
                    "mine.txt") == "?? mine.txt" and "mine.txt" not in repo.git("ls-tree", "-r",
                                                                                "--name-only", "HEAD")


def test_nothing_to_take(make_daemon, repo, stories):
    daemon = make_daemon(scripts={"implement": 'answer done\n'})
    for options in (["-P2", "work"], ["--stories", "prd.json", "--integrate=none", "--isolation=worktree"]):
        done = daemon.rlctl("run", *options, cwd=repo.path, check=0)
        told = facts(daemon.rlctl("show", len(daemon.call("run.list")["runs"]), check=0).out)
        assert not {"to merge it", "or else", "branch", "commit"} & told.keys() and "To merge it" not in done.err, told
    assert repo.git("for-each-ref", "refs/heads/rl") == ""


def test_what_no_review_has_passed_is_not_offered(make_daemon, repo, stories):
    """Reviewed as a whole, the tasks are on the branch before anybody has judged them."""
    daemon = make_daemon(scripts={"implement": IMPLEMENT,
                                  "review": "echo '- [ ] no' > autom8_review.md; answer issues\n"})
    done = daemon.rlctl("run", "--stories", "prd.json", "-P2", "--review=file",
                        "--review-max-fix-attempts=0", cwd=repo.path, check=10)
    told = facts(daemon.rlctl("show", 1, check=0).out)
    assert (told["branch"] == ["rl/1-result"] and "to merge it" not in told
            and "which passed no review" in told["to show it"][0]), told
    assert "To merge it" not in done.err and "It is committed as" not in done.err
    assert "US-2.txt" in repo.git(*told["to show it"][0].split(",")[0].split()[1:])


def test_slots_at_work(make_daemon, repo, stories):
    daemon = make_daemon(scripts={"implement": 'gate "$RL_TASK_ID"\n' + IMPLEMENT}, gates=list(TITLES))
    run = submit(daemon, repo, stories, integrate="none", parallel=2)
    for name in ("US-3", "US-1"):
        daemon.play.arrived(name)
    row = daemon.run(run)
    slots = {s["task"]: s for s in row["slots"]}
    assert set(slots) == {"US-3", "US-1"} and all(s["iteration"] == row["iteration"] and s["commit"] is None
                                                  for s in slots.values()), row["slots"]
    for task, slot in slots.items():
        assert repo.git("rev-parse", "--verify",
                        slot["branch"]) == row["base_commit"] and slot["worktree"] != str(repo.path)
    lines = table(daemon.rlctl("show", run, check=0).out, "SLOT")
    assert len(lines) == 3 and all(slots[n]["branch"] in "\n".join(lines)
                                   and slots[n]["worktree"] in "\n".join(lines) for n in slots), lines
    daemon.play.go("US-3")
    daemon.play.arrived("US-2")      # in the slot that is free
    row = daemon.run(run)
    assert ([(s["slot"], s["task"]) for s in row["slots"]] == [(2, "US-1"), (3, "US-2")]
            and [bool(t["commit"]) for t in row["tasks"]] == [True, False, False]), row
    daemon.play.go("US-1")
    daemon.play.go("US-2")
    assert daemon.ended(run)["state"] == "succeeded"


def test_a_run_after_another(make_daemon, repo, tmp_path):
    daemon = make_daemon(scripts={"implement": "gate g$RL_RUN\nanswer done\n"}, gates=["g1", "g2"])
    first = daemon.submit(repo.path)
    daemon.play.arrived("g1")
    second = daemon.submit(Repo(tmp_path / "other").path, after=first)
    with daemon.events(run=second) as events:
        events.until("run.state", lambda e: e.get("reason") == f"waits for run {first}")
    assert daemon.run(second)["after"] == first
    told = facts(daemon.rlctl("show", second, check=0).out)
    assert told["after"] == ["run 1"] and told["reason"] == ["waits for run 1"]
    listed = daemon.rlctl("list", check=0).out.splitlines()
    assert "GROUP" not in listed[0] and listed[1].rstrip().endswith("waits for run 1")
    daemon.play.go("g1")
    daemon.play.arrived("g2")
    daemon.play.go("g2")
    assert {r["state"] for r in daemon.ended(first, second)} == {"succeeded"}


def test_the_commit_of_a_shared_workdir(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "echo x > x.txt\nanswer done\n", "review": "pass\n"})
    run = daemon.review(repo.path, commit="auto", isolation="shared")
    row = daemon.ended(run)
    told = facts(daemon.rlctl("show", run, check=0).out)
    assert (told["commit"] == [row["result_commit"]]
            and told["to show it"] == [f"git show {row['result_commit'][:12]}"]), told
    assert "tasks" not in told and "source" not in told
