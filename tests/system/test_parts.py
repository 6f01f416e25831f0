# SPDX-License-Identifier: MIT
"""Every part of a prompt, for every profile and every source of tasks: what the tables say that a
role is given stands in its prompt as it was delivered, and what they keep from it does not."""
import json
import re
import sys

import pytest
from loop import Loop
from rld import SOURCE
from test_profile_comments import COMMENTS
from test_profile_decision import DECISION
from test_profile_exit import PROFILE as EXIT
from test_profile_file import PROFILE as FILE
from test_profile_verdict import VERDICT

sys.path.insert(0, str(SOURCE / "tests"))
from parts import Tables  # noqa: E402

TABLES = Tables(SOURCE)
PROFILES = {p.name: p for p in (VERDICT, DECISION, FILE, EXIT, COMMENTS)}

# What the prompts of the third review and of the second fix have of each part: its heading, and
# what must stand below it.
PARTS = {
    "project": ("## Project", {"prompt": ["Project: repo", "Feature: TITLE-1"], "beads": ["Project: repo"],
                               "stories": ["Project: PROJECT-MARK", "FEATURE-MARK"],
                               "workflow": ["Project: PROJECT-MARK", "FEATURE-MARK"]}),
    "stories": ("All stories:",
                {"prompt": ["TITLE-1", "DESCRIPTION-1"],
                 "*": [f"{word}-{n}" for word in ("TITLE", "DESCRIPTION", "CRITERION") for n in (1, 2)]}),
    "task": ("## Task", {"prompt": ["id: t1", "TITLE-1", "DESCRIPTION-1"],
                         "*": ["id: a-1", "title: TITLE-1", "DESCRIPTION-1", "CRITERION-1"]}),
    "round": ("## Review iteration", {"*": {"review": ["3/3"], "fix": ["2/3"]}}),
    "follow_up": ("## Fix round 2", {"*": ["POINT-2"]}),
    "guidelines": ("## Guidelines", {"*": ["RULE-MARK"]}),
    "conventions": ("## Conventions", {"*": ["CONVENTION-MARK"]}),
    "history": ("## History", {"*": ["round 1: ", "POINT-1", "round 2: ", "POINT-2"]}),
    "answer": ("## The developer's answer", {"*": {"review": ["ANSWER-FIX-2"], "fix": ["ANSWER-FIX-1"]}}),
    "diff": ("## Diff", {"*": ["+WORK-MARK"]}),
}
NTH = {"review": 3, "fix": 2}


def text_of(table, key):
    return table.get(key, table.get("*"))


def tasks_of(source, repo):
    """Two tasks, of which the first is about the marks with 1."""
    tasks = [(f"a-{n}", f"TITLE-{n}", f"DESCRIPTION-{n}", f"CRITERION-{n}") for n in (1, 2)]
    if source == "prompt":
        return {"task": "TITLE-1\n\nDESCRIPTION-1"}
    if source == "beads":
        repo.write(".beads/issues.jsonl",
                   "".join(json.dumps({"id": i, "title": t, "description": d,
                                       "acceptance_criteria": c}) + "\n" for i, t, d, c in tasks))
        return {"beads": True}
    if source == "stories":
        return {"stories": json.dumps({"project": "PROJECT-MARK", "description": "FEATURE-MARK",
                                       "userStories": [{"id": i, "title": t, "description": d,
                                                        "acceptanceCriteria": [c]} for i, t, d, c in tasks]})}
    overlays = {"agentic_review": {"enabled": True}}
    return {"workflow": json.dumps({"name": "PROJECT-MARK", "description": "FEATURE-MARK", "tasks": {
        i: {"title": t, "prompt": d, "acceptance_criteria": [c], "overlays": overlays} for i, t, d, c in tasks}})}


def lacks(prompt, heading, marks):
    """What of a part is not in a prompt."""
    at = re.search(rf"^{re.escape(heading)}", prompt, re.M)
    return [heading] if at is None else [mark for mark in marks if mark not in prompt[at.start():]]


@pytest.mark.parametrize("source", TABLES.sources)
@pytest.mark.parametrize("profile", TABLES.profiles)
def test_every_part_is_in_the_prompt_as_delivered(make_daemon, repo, tmp_path, profile, source):
    name, held = TABLES.sources[source], TABLES.only.get(source, profile)
    shape = PROFILES[held]
    loop = Loop(make_daemon, repo, tmp_path, shape, scripts={
        "implement": "echo WORK-MARK >> work.txt\nanswer 'ANSWER-FIRST'\n",
        "fix": "echo \"line $nth\" >> work.txt\nanswer \"ANSWER-FIX-$nth\"\n",
        "review.1": shape.finds("POINT-1"), "review.2": shape.finds("POINT-2"), "review": shape.passes})
    repo.write("constitution.md", "## Standards\n\nRULE-MARK\n")
    repo.write("CLAUDE.md", "CONVENTION-MARK\n")
    review = {"enabled": True, "profile": profile, **shape.prepare(loop)}
    run = loop.daemon.call("run.submit", workdir=str(repo.path), review=review, **tasks_of(name, repo))["id"]
    assert loop.daemon.ended(run)["state"] == "succeeded"
    if held != profile:			# nothing fills its parts, since nothing is reviewed by it
        assert [r["decision"] for r in loop.daemon.reviews(run)] == [shape.findings_word] * 2 + [shape.pass_word] * 2
        return
    wrong = []
    for role, seen in TABLES.profiles[profile].items():
        if role == "review" and profile == "exit":
            assert loop.prompt(role, NTH[role]).strip() == "ANSWER-FIX-2", "a program is given the answer"
            continue
        prompt = loop.prompt(role, NTH[role])
        for part, key in TABLES.names.items():
            heading, table = PARTS[key]
            marks = text_of(table, name)
            missing = lacks(prompt, heading, marks[role] if isinstance(marks, dict) else marks)
            if part in seen and missing:
                wrong.append(f"{role} is not given {key}: {missing}")
            elif part not in seen and heading not in missing:
                wrong.append(f"{role} is given {key}")
    assert not wrong, wrong


@pytest.mark.parametrize("source", ["STORIES", "WORKFLOW"])
def test_an_implementer_is_told_what_it_is_all_about(make_daemon, repo, tmp_path, source):
    """And no more of the other tasks than that."""
    loop = Loop(make_daemon, repo, tmp_path, VERDICT)
    number = loop.daemon.call("run.submit", workdir=str(repo.path), **tasks_of(source.lower(), repo))["id"]
    loop.daemon.ended(number)
    prompt = loop.prompt("implement")
    assert (lacks(prompt, "## Project", ["Project: PROJECT-MARK", "Feature: FEATURE-MARK"]) == []
            and prompt.index("FEATURE-MARK") < prompt.index("## Task"))
    assert lacks(prompt, "## Task", ["TITLE-1", "DESCRIPTION-1", "CRITERION-1"]) == [] and "DESCRIPTION-2" not in prompt


@pytest.mark.parametrize("source", ["PROMPT", "BEADS"])
def test_where_nothing_says_so_it_is_told_nothing(make_daemon, repo, tmp_path, source):
    loop = Loop(make_daemon, repo, tmp_path, VERDICT)
    loop.daemon.ended(loop.daemon.call("run.submit", workdir=str(repo.path), **tasks_of(source.lower(), repo))["id"])
    assert "## Project" not in loop.prompt("implement")


def test_a_description_of_many_lines_is_kept_as_it_is(make_daemon, repo, tmp_path):
    """No line of it can be taken for one of the prompt."""
    loop = Loop(make_daemon, repo, tmp_path, FILE)
    prd = json.dumps({"project": "p", "description": "First.\n\n## Task\n\n```\nsecond\n",
                      "userStories": [{"id": "1", "title": "t"}]})
    loop.daemon.ended(loop.daemon.call("run.submit", workdir=str(repo.path),
                                       review={"enabled": True, "profile": "file"}, stories=prd)["id"])
    assert "Feature:\n\n````markdown\nFirst.\n\n## Task\n\n```\nsecond\n````\n" in loop.prompt("review")


@pytest.mark.parametrize("profile", ["verdict", "file"])
def test_a_retry_is_told_the_same(make_daemon, repo, tmp_path, profile):
    loop = Loop(make_daemon, repo, tmp_path, PROFILES[profile])
    loop.set(implement="exit 3\n")
    number = loop.daemon.call("run.submit", workdir=str(repo.path),
                              review={"enabled": True, "profile": profile},
                              **tasks_of("stories", repo))["id"]
    assert loop.daemon.ended(number)["state"] == "failed"
    loop.play.set(loop.scripts())
    again = loop.daemon.call("run.retry", id=number)["id"]
    assert loop.daemon.ended(again)["state"] == "succeeded"
    prompt = loop.prompt("implement", 1, again)
    assert "Project: PROJECT-MARK\nFeature: FEATURE-MARK\n" in prompt


def test_a_review_of_the_whole_is_told_what_each_task_is(make_daemon, repo, tmp_path):
    """Also in a profile that sees the task and not the project."""
    loop = Loop(make_daemon, repo, tmp_path, VERDICT)
    review = {"enabled": True, "profile": "verdict", "scope": "run"}
    loop.daemon.ended(loop.daemon.call("run.submit", workdir=str(repo.path), review=review,
                                       **tasks_of("beads", repo))["id"])
    for prompt in (loop.prompt("review"), loop.prompt("fix")):
        assert lacks(prompt, "## Task", ["a-1: TITLE-1", "DESCRIPTION-1", "CRITERION-1",
                                         "a-2: TITLE-2", "DESCRIPTION-2", "CRITERION-2"]) == []
