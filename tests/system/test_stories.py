# SPDX-License-Identifier: MIT
"""The stories of a PRD as tasks: order, and `passes` written back into the file as
it is by then."""
import json
import os
import stat

import pytest
from loop import Loop
from outer import NOTE, WORK, states, submit, tasks_done
from test_profile_verdict import VERDICT



def story(name, priority=1, **more):
    return {"id": name, "title": f"write {name}", "description": f"as a user I want {name}",
            "acceptanceCriteria": [f"{name} works", "typecheck passes"],
            "priority": priority, "passes": False, "notes": "", **more}


class Prd:
    """A PRD as tools write it, with keys that rld does not know."""

    def __init__(self, path, *stories):
        self.path = path
        self.write(*stories)

    def write(self, *stories):
        self.path.write_text(json.dumps({"project": "shop", "branchName": "ralph/cart",
                                         "description": "a shop", "userStories": stories}, indent=2) + "\n")

    def passes(self):
        return {s["id"]: s["passes"] for s in json.loads(self.path.read_text())["userStories"]}

    def given(self):
        return {"stories": self.path.read_text(), "stories_path": str(self.path)}


@pytest.fixture
def work(tmp_path):
    path = tmp_path / "work"
    path.mkdir()
    return path


@pytest.fixture
def prd(work):
    return Prd(work / "prd.json", *(story(f"US-{n}", n) for n in range(1, 4)))


def test_priority_then_place_then_what_is_left(make_daemon, work):
    prd = Prd(work / "prd.json", story("last", None), story("b", 2), story("a", 2),
              story("done", 0, passes=True), story("first", "high"),
              {"id": 7, "title": "no passes", "priority": 3})
    daemon = make_daemon(scripts={"implement": WORK})
    row = daemon.ended(submit(daemon, work, **prd.given()))
    assert row["state"] == "succeeded" and row["project"] == "shop", row
    assert tasks_done(daemon.play) == ["first", "b", "a", "7", "last"]
    assert (states(daemon, 1)["done"] == "done"
            and all(json.loads(prd.path.read_text())["userStories"][n]["passes"] for n in range(6)))
    prompt = daemon.play.prompt(1, "implement", 2).decode()
    assert "as a user I want b" in prompt and "typecheck passes" in prompt and "write b" in prompt


def test_a_long_title_reaches_the_agent_whole(make_daemon, work):
    title = "As a shopper I want " + "many " * 30 + "things"
    prd = Prd(work / "prd.json", story("a", title=title), story("b", 2, title="zebra"))
    daemon = make_daemon(scripts={"implement": WORK})
    assert daemon.ended(submit(daemon, work, **prd.given()))["state"] == "succeeded"
    first, second = (daemon.play.prompt(1, "implement", n).decode() for n in (1, 2))
    assert title + "\n\nas a user I want a" in first and second.count("zebra") == 1


def test_a_story_waits_for_those_it_depends_on(make_daemon, work):
    """As tools write it: what has passed before counts, and who depends on a story that
    failed never starts."""
    prd = Prd(work / "prd.json", story("page", 1, dependsOn=["api", "done"]),
              story("api", 2, dependsOn=["schema"]), story("schema", 3), story("done", passes=True),
              story("mail", 4), story("digest", 0, dependsOn=["mail"]))
    daemon = make_daemon(scripts={"implement": NOTE + '[ "$RL_TASK_ID" != mail ] || exit 3\nanswer done\n'})
    row = daemon.ended(submit(daemon, work, on_failure="continue", parallel=4, isolation="shared", **prd.given()))
    done = tasks_done(daemon.play)
    assert (row["state"] == "failed" and sorted(done) == ["api", "mail", "page", "schema"]
            and [t for t in done if t != "mail"] == ["schema", "api", "page"]), row
    assert {t["id"]: t["reason"] for t in row["tasks"]}["digest"] == "depends on mail, which failed"


def test_all_done_before(make_daemon, work):
    prd = Prd(work / "prd.json", story("a", passes=True))
    daemon = make_daemon(scripts={"implement": WORK})
    row = daemon.ended(submit(daemon, work, **prd.given()))
    assert (row["state"], row["iteration"]) == ("succeeded", 0) and daemon.play.starts() == [], row


# ---- written back --------------------------------------------------------------------------------

def test_each_when_its_slot_has_passed(make_daemon, work, prd):
    """Not a byte else: layout, keys, mode, and the link that leads to it."""
    daemon = make_daemon(scripts={"implement": NOTE + 'gate "$RL_TASK_ID"\nanswer done\n'},
                         gates=["US-1", "US-2", "US-3"])
    real = work / "real.json"
    prd.path.rename(real)
    prd.path.symlink_to("real.json")
    real.chmod(0o640)
    text = real.read_text()
    run = submit(daemon, work, **prd.given())
    for n in range(1, 4):
        daemon.play.arrived(f"US-{n}")
        assert real.read_text() == text.replace('"passes": false', '"passes": true',
                                                n - 1), "the story before has passed"
        daemon.play.go(f"US-{n}")
    assert daemon.ended(run)["warnings"] == []
    assert real.read_text() == text.replace('"passes": false', '"passes": true')
    assert prd.path.is_symlink() and stat.S_IMODE(real.stat().st_mode) == 0o640
    assert sorted(os.listdir(work)) == ["prd.json", "real.json"]


BESIDE = {"implement": NOTE + 'if [ "$RL_RUN" = 1 ]; then echo one > work.txt; fi\nanswer done\n',
          "review": 'gate "review$nth"\ndrift more\n', "review.3": "gate review3\npass\n",
          "fix": 'gate "fix$nth"\necho more >> work.txt\nanswer done\n'}


@pytest.mark.parametrize("killed", [False, True])
def test_beside_a_run_that_is_reviewed_in_the_same_tree(make_daemon, repo, killed):
    """What another run writes into its list of tasks is no work of this one: not its reviewer's
    doing, no change of a fix, nothing to commit."""
    prd = Prd(repo.path / "prd.json", *(story(f"US-{n}", n) for n in range(1, 4)))
    repo.git("add", "prd.json")
    repo.git("commit", "-qm", "stories")
    reviewed = prd.path.read_bytes()
    daemon = make_daemon(scripts=BESIDE, gates=["review1", "review2", "review3", "fix1", "fix2"],
                         config={"parallel": 4})
    first = daemon.review(repo.path, review={"max_fixes": 3}, isolation="shared", commit="auto")
    daemon.play.arrived("review1")
    for at, story_id, after in (("review1", "US-1", "fix1"), ("fix1", "US-2", "review2"), ("review2", "US-3", "fix2")):
        given = {"stories": json.dumps({"project": "p", "userStories": [story(story_id)]}),
                 "stories_path": str(prd.path)}
        other = submit(daemon, repo.path, isolation="worktree", **given)
        assert daemon.ended(other)["state"] == "succeeded" and prd.passes()[story_id]
        if killed:
            daemon.kill()
            daemon.start()
        daemon.play.go(at)
        daemon.play.arrived(after)
    daemon.play.go("fix2")
    daemon.play.arrived("review3")
    daemon.play.go("review3")
    row = daemon.ended(first)
    assert (row["state"], row["cause"]) == ("succeeded", None), row
    assert repo.git("show", "--format=", "--name-only",
                    "HEAD") == "work.txt" and repo.git("status", "--porcelain") == "M prd.json"
    assert all(prd.passes().values()) and repo.git("show", "HEAD:prd.json") + "\n" == reviewed.decode()
    assert [w for w in row["warnings"] if "prd.json" in w] == [
        "run 2 keeps its tasks in prd.json and writes there at the same time: changes to it are "
        "not reviewed or committed here"], row


def test_who_comes_while_the_tree_is_verified(make_daemon, repo, tmp_path):
    """It writes its list after the verification has begun, which knew nothing of it."""
    prd = Prd(repo.path / "prd.json", story("US-1"))
    repo.git("add", "prd.json")
    repo.git("commit", "-qm", "stories")
    loop = Loop(make_daemon, repo, tmp_path, VERDICT, config={"parallel": 4})
    loop.always_content()
    first, _ = loop.submit_to("verify", isolation="shared", commit="auto")
    assert loop.daemon.ended(submit(loop.daemon, repo.path, isolation="worktree",
                                    **prd.given()))["state"] == "succeeded"
    loop.play.go("verify")
    row = loop.daemon.ended(first)
    assert (row["state"], row["cause"]) == ("succeeded", None), row
    assert repo.git("show", "--format=", "--name-only", "HEAD") == "work.txt" and prd.passes() == {"US-1": True}


def test_a_reviewer_beside_others_is_still_caught(make_daemon, repo, tmp_path):
    prd = Prd(repo.path / "prd.json", story("US-1"))
    repo.git("add", "prd.json")
    repo.git("commit", "-qm", "stories")
    loop = Loop(make_daemon, repo, tmp_path, VERDICT, config={"parallel": 4})
    loop.play.set({"review.1": "gate review\necho x >> work.txt\npass\n"})
    first = loop.submit(isolation="shared")
    loop.play.arrived("review")
    assert loop.daemon.ended(submit(loop.daemon, repo.path, isolation="worktree",
                                    **prd.given()))["state"] == "succeeded"
    loop.play.go("review")
    row = loop.daemon.ended(first)
    assert row["state"] == "failed" and row["cause"].endswith("reviewer changed the tree: work.txt"), row


def test_many_slots_at_once(make_daemon, work):
    """Whoever reads the file meanwhile sees a whole one, and what has passed stays."""
    names = [f"US-{n}" for n in range(24)]
    prd = Prd(work / "prd.json", *(story(n, note="x" * 4000) for n in names))
    daemon = make_daemon(scripts={"implement": WORK}, config={"parallel": 8})
    run = submit(daemon, work, parallel=8, **prd.given())
    passed = set()
    with daemon.events(run=run) as events:
        while True:
            event = events.next()
            now = {n for n, p in prd.passes().items() if p}
            assert passed <= now
            passed = now
            if event["type"] == "run.state" and event["state"] == "succeeded":
                break
    assert passed == set(names) and sorted(tasks_done(daemon.play)) == sorted(names)
    assert daemon.run(run)["warnings"] == []


def test_edited_by_a_person_meanwhile(make_daemon, work, prd):
    """His words stand: other texts, another order, another story. The run keeps to
    what was submitted."""
    daemon = make_daemon(scripts={"implement": NOTE + '[ "$RL_TASK_ID" != US-1 ] || gate g\nanswer done\n'},
                         gates=["g"])
    run = submit(daemon, work, **prd.given())
    daemon.play.arrived("g")
    prd.write(story("US-9", title="new"), story("US-3", 3),
              story("US-1", 1, title="renamed", extra={"passes": False}), story("US-2", 2, passes=True))
    expected = prd.path.read_text()
    daemon.play.go("g")
    row = daemon.ended(run)
    assert row["state"] == "succeeded" and row["warnings"] == [], row
    assert prd.passes() == {"US-9": False, "US-3": True, "US-1": True, "US-2": True}
    now = json.loads(prd.path.read_text())
    for one in now["userStories"]:
        one["passes"] = one["id"] == "US-2"
    assert now == json.loads(expected)
    assert tasks_done(daemon.play) == ["US-1", "US-2", "US-3"]


def test_a_mistake_in_another_story_keeps_nobody_from_being_marked(make_daemon, work, prd):
    daemon = make_daemon(scripts={"implement": "gate g\nanswer done\n"}, gates=["g"])
    run = submit(daemon, work, iterations=1, **prd.given())
    daemon.play.arrived("g")
    prd.write(story("US-1"), story("US-2", "urgent", dependsOn=["US-8"]))
    daemon.play.go("g")
    row = daemon.ended(run)
    assert row["warnings"] == [] and prd.passes() == {"US-1": True, "US-2": False}, row


@pytest.mark.parametrize("change, words", [
    (lambda p: p.write(story("US-2"), story("US-3")), 'no longer contains story "US-1"'),
    (lambda p: p.path.unlink(), "does not exist"),
    (lambda p: p.path.write_text("{"), ""), (lambda p: (p.path.unlink(), p.path.mkdir()), ""),
])
def test_what_cannot_be_written_is_told(make_daemon, work, prd, change, words):
    """The work is not lost: the story has passed, and a person is told to write that down."""
    daemon = make_daemon(scripts={"implement": "gate g\nanswer done\n"}, gates=["g"])
    run = submit(daemon, work, iterations=1, **prd.given())
    daemon.play.arrived("g")
    change(prd)
    daemon.play.go("g")
    row = daemon.ended(run)
    assert states(daemon, run)["US-1"] == "passed"
    assert len(row["warnings"]) == 1, row
    assert (str(prd.path) in row["warnings"][0] and words in row["warnings"][0]
            and 'set "passes": true manually' in row["warnings"][0]), row


def test_without_a_path_nothing_is_written(make_daemon, work, prd):
    daemon = make_daemon(scripts={"implement": WORK})
    before = prd.path.read_text()
    row = daemon.ended(submit(daemon, work, stories=before))
    assert row["state"] == "succeeded" and row["warnings"] == [] and prd.path.read_text() == before


@pytest.mark.parametrize("on_failure", ["stop", "continue"])
def test_a_failed_story_does_not_pass(make_daemon, work, prd, on_failure):
    daemon = make_daemon(scripts={"implement": NOTE + '[ "$RL_TASK_ID" != US-2 ] || exit 3\nanswer done\n'})
    row = daemon.ended(submit(daemon, work, on_failure=on_failure, **prd.given()))
    assert row["state"] == "failed" and "status 3" in row["cause"], row
    assert prd.passes() == {"US-1": True, "US-2": False, "US-3": on_failure == "continue"}
    assert tasks_done(daemon.play) == ["US-1", "US-2"] + ["US-3"] * (on_failure == "continue")
    # the file says what is left
    daemon.play.set({"implement": WORK})
    assert daemon.ended(submit(daemon, work, **prd.given()))["state"] == "succeeded"
    assert tasks_done(daemon.play, 2) == [n for n in ("US-2", "US-3") if n == "US-2" or on_failure == "stop"]


def test_what_a_review_does_not_pass_is_not_written(make_daemon, repo):
    prd = Prd(repo.path / "prd.json", story("US-1"), story("US-2"))
    daemon = make_daemon(scripts={"implement": 'echo "$RL_TASK_ID" >> work.txt\nanswer done\n',
                                  "review": '[ "$RL_TASK_ID" = US-1 ] && pass || drift no\n',
                                  "fix": "echo x >> work.txt\n"})
    row = daemon.ended(submit(daemon, repo.path, review={"enabled": True, "max_fixes": 1}, **prd.given()))
    assert row["state"] == "failed" and prd.passes() == {"US-1": True, "US-2": False}, row


# ---- reviewed as a whole -------------------------------------------------------------------------

@pytest.mark.parametrize("verdict", ["pass", "fail"])
def test_reviewed_as_a_whole(make_daemon, repo, verdict):
    """No story passes before all have: the file waits for the review of the run."""
    prd = Prd(repo.path / "prd.json", story("US-1"), story("US-2"))
    finds = "" if verdict == "pass" else "echo '- wrong' > autom8_review.md\n"
    daemon = make_daemon(scripts={"implement": NOTE + "echo \"$RL_TASK_ID\" >> work.txt\nanswer done\n",
                                  "review": f"gate r\n{finds}answer 'I looked at it'\n",
                                  "fix": "echo x >> work.txt\nanswer fixed\n"}, gates=["r"])
    run = submit(daemon, repo.path, review={"enabled": True, "profile": "file", "max_fixes": 0},
                 commit="none", **prd.given())
    daemon.play.arrived("r")
    assert tasks_done(daemon.play) == ["US-1", "US-2"] and prd.passes() == {"US-1": False, "US-2": False}
    assert set(states(daemon, run).values()) == {"implemented"}
    prompt = daemon.play.prompt(run, "review").decode()
    assert "US-1 works" in prompt and "US-2 works" in prompt
    daemon.play.go("r")
    row = daemon.ended(run)
    assert row["state"] == ("succeeded" if verdict == "pass" else "failed"), row
    assert (set(prd.passes().values()) == {verdict == "pass"}
            and set(states(daemon, run).values()) == {"passed" if verdict == "pass" else "failed"})


# ---- two runs, two lives -------------------------------------------------------------------------

def test_two_runs_of_one_prd(make_daemon, tmp_path, prd):
    """The story of one is not the other's; what has passed meanwhile is done."""
    daemon = make_daemon(scripts={"implement": NOTE + 'gate "g$RL_RUN"\nanswer done\n'}, gates=["g1", "g2"])
    (tmp_path / "two").mkdir()
    first = submit(daemon, prd.path.parent, **prd.given())
    daemon.play.arrived("g1")
    second = submit(daemon, tmp_path / "two", **prd.given())
    daemon.play.arrived("g2")
    assert tasks_done(daemon.play) == ["US-1", "US-2"]
    daemon.play.go("g1")
    daemon.play.arrived("g1")
    for gate in ("g2", "g1"):
        daemon.play.go(gate)
    rows = daemon.ended(first, second)
    assert [r["state"] for r in rows] == ["succeeded"] * 2, rows
    assert sorted(tasks_done(daemon.play)) == ["US-1", "US-2", "US-3"] and set(prd.passes().values()) == {True}


def test_killed_between_two_stories(make_daemon, work, prd):
    daemon = make_daemon(scripts={"implement": NOTE + 'gate "$RL_TASK_ID"\nanswer done\n'},
                         gates=["US-1", "US-2", "US-3"])
    run = submit(daemon, work, **prd.given())
    for n in range(1, 4):
        daemon.play.arrived(f"US-{n}")
        daemon.kill()
        daemon.play.go(f"US-{n}")
        daemon.start()
    assert daemon.ended(run)["state"] == "succeeded"
    assert tasks_done(daemon.play) == ["US-1", "US-2", "US-3"] and set(prd.passes().values()) == {True}
