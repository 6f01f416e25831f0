# SPDX-License-Identifier: MIT
"""review.room = "reuse": a task has one room, in which what was built stays; the evidence says
so."""
import pytest
from loop import Loop
from test_budget import stories
from test_profile_comments import COMMENTS
from test_profile_verdict import VERDICT

REUSE = {"workspace": "room", "room": "reuse"}
ALONE = {"run": {"check_on_base": "skip"}}


@pytest.fixture
def made(make_daemon, repo, tmp_path):
    made = Loop(make_daemon, repo, tmp_path, VERDICT, config=ALONE)
    made.always_content()
    return made


def checked(made, *checks, **review):
    return made.run(review={**REUSE, "checks": list(checks), **review}, env={"PLAY": str(made.play.path)})


def rooms(made, number):
    return [(e["kind"], e["room"]) for e in made.daemon.call("evidence.list", run=number)["evidence"]]


def lines(made, name):
    return (made.play.path / name).read_text().split("\n")[:-1]


def test_what_was_built_stays(made):
    """From check to reviewer, and from round to round, ignored or not."""
    made.repo.write(".gitignore", "out/\n")
    made.repo.git("add", ".")
    made.repo.git("commit", "-qm", "ignore")
    made.set(review_1="cat out/log >> $PLAY/seen\n" + VERDICT.finds("more"),
             review="cat out/log >> $PLAY/seen\n" + VERDICT.passes)
    row = checked(made, "mkdir -p out; cat work.txt >> out/log; touch litter; ls >> $PLAY/names")
    made.passes(row)
    assert lines(made, "seen") == ["one", "one", "one", "fix 1"]
    assert not (made.repo.path / "out").exists() and not (made.repo.path / "litter").exists()
    assert rooms(made, row["id"]) == [("check", "reuse"), ("review", "reuse")] * 2


def test_the_tree_is_exact(made):
    """What the work removed, changed or made another kind of is as in its tree; what a check did to
    such files is gone."""
    for name in ("gone", "dir/gone", "dir/changed", "swapped/file"):
        (made.repo.path / name).parent.mkdir(exist_ok=True)
        made.repo.write(name, f"{name}\n")
    made.repo.git("add", ".")
    made.repo.git("commit", "-qm", "files")
    made.set(fix="rm -r gone dir/gone swapped; echo new > dir/changed; echo now > swapped\n",
             review_1=VERDICT.finds("more"), review="git status --porcelain | sort > $PLAY/status; "
             "cat swapped dir/changed > $PLAY/now\n" + VERDICT.passes)
    made.passes(checked(made, "test -e $PLAY/once || { echo harm >> work.txt; echo harm > gone; rm dir/changed; "
                        "touch dir/built swapped/built $PLAY/once; rm -rf .git; }"))
    assert set(lines(made, "status")) == {"?? dir/built", "D  dir/gone", "D  gone", "D  swapped/file", "M  dir/changed",
                                          "A  swapped", "A  work.txt"}
    assert lines(made, "now") == ["now", "new"]


def test_links_lead_nowhere(made, tmp_path):
    """A check puts a link in the place of a directory of the tree, and one to a directory
    outside."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept\n")
    (made.repo.path / "src").mkdir()
    made.repo.write("src/a.c", "a\n")
    made.repo.git("add", ".")
    made.repo.git("commit", "-qm", "src")
    made.set(fix="echo b > src/b.c; mkdir -p link; echo c > link/c\n", review_1=VERDICT.finds("more"),
             review="cat src/a.c src/b.c link/c > $PLAY/now\n" + VERDICT.passes)
    made.passes(checked(made, f"test -e link || {{ rm -r src; ln -s {outside} src; ln -s {outside} link; }}"))
    assert lines(made, "now") == ["a", "b", "c"]
    assert sorted(p.name for p in outside.iterdir()) == ["kept"]


def test_it_is_set_up_once(made):
    """As long as what the set-up depends on is the same."""
    made.repo.write(".gitignore", "deps\n")
    made.repo.write("package-lock.json", "1\n")
    made.repo.git("add", ".")
    made.repo.git("commit", "-qm", "lock")
    made.set(review_1=VERDICT.finds("more"), review_2=VERDICT.finds("again"), review=VERDICT.passes,
             fix="echo fix >> work.txt; grep -c fix work.txt | grep -qv 2 || echo 2 > package-lock.json\n")
    row = made.run(review={**REUSE, "checks": ["cat deps >> $PLAY/deps; echo check >> deps"]},
                   env={"PLAY": str(made.play.path)}, setup=["cat package-lock.json >> deps"])
    made.passes(row)
    assert [a["role"] for a in made.daemon.attempts(row["id"])] == [
        "implement", "setup", "check", "review", "fix", "check", "review", "fix", "setup", "check", "review"]
    assert lines(made, "deps") == ["1", "1", "check", "1", "check", "check", "2"]


def test_a_review_file_does_not_stay(make_daemon, repo, tmp_path):
    """What a check wrote in that name is no answer of the reviewer, who finds an empty file."""
    made = Loop(make_daemon, repo, tmp_path, COMMENTS, config=ALONE)
    made.set(review_1="ls > $PLAY/ls; cat review-comments.json >> $PLAY/ls\n")
    (made.play.path / "forged").write_text('{"comments": [], "summary": "fine"}')
    row = made.run(review={**REUSE, "checks": ["cp $PLAY/forged review-comments.json; touch out"]},
                   env={"PLAY": str(made.play.path)})
    assert row["state"] == "failed" and "reviewer contract violation" in row["cause"], row
    assert lines(made, "ls") == ["README", "out", "review-comments.json", "work.txt"]


def test_its_evidence_is_for_the_task_alone(made):
    """A green check in a room where other trees were built says nothing about another room; what is
    green in a clean one does."""
    count = "echo x >> $PLAY/times"
    numbers = []
    for room in ("reuse", "reuse", "clone", "reuse", "clone"):
        made.repo.git("checkout", "-q", "-f", ".")
        (made.repo.path / "work.txt").unlink(missing_ok=True)
        row = checked(made, count, room=room)
        assert row["state"] == "succeeded", row
        numbers.append(row["id"])
    assert len(lines(made, "times")) == 3, "twice in reused rooms, once in a clean one"
    assert [rooms(made, n)[0] for n in numbers] == [("check", room)
                                                 for room in ("reuse", "reuse", "clone", "clone", "clone")]


def test_another_task_has_another_room(made):
    """Two tasks that come to the same tree, one after the other: in a clean room, the second check
    need not run."""
    for room, times in (("reuse", 2), ("clone", 1)):
        (made.play.path / "times").unlink(missing_ok=True)
        number = made.daemon.submit(
            str(made.repo.path), task=None, stories=stories("one", "two"), isolation="worktree", commit="none",
            integrate="none", env={"PLAY": str(made.play.path)}, evidence_age=0,
            review={"enabled": True, "profile": "verdict", **REUSE, "room": room, "checks": ["echo x >> $PLAY/times"]})
        row = made.daemon.ended(number)
        assert row["state"] == "succeeded", row
        assert len(lines(made, "times")) == times, room


@pytest.mark.parametrize("workspace, want", [("same", "same"), ("room", "clone")])
def test_other_places_have_their_names(made, workspace, want):
    row = checked(made, "true", workspace=workspace, room="clone")
    made.passes(row)
    assert rooms(made, row["id"])[-1] == ("review", want)


@pytest.mark.parametrize("stop", ["check", "review"])
def test_it_outlives_the_daemon(made, stop):
    """What was built before the death is there afterwards."""
    made.set(review_1=VERDICT.finds("more"), review=VERDICT.passes)
    made.stop_at(stop)
    number = made.submit(review={**REUSE, "checks": [made.check, "cat work.txt >> out; cp out $PLAY/out"]},
                         env={"PLAY": str(made.play.path)})
    made.play.arrived(stop)
    made.daemon.kill()
    made.daemon.start()
    made.play.go(stop)
    made.passes(made.daemon.ended(number))
    assert lines(made, "out") == ["one", "one", "fix 1"]


def test_what_is_known_of_its_files_is_lost(made):
    """As after a start of the machine: what the fix removes is not in the next room, and what was
    built is."""
    made.repo.write("gone", "gone\n")
    made.repo.git("add", ".")
    made.repo.git("commit", "-qm", "gone")
    made.set(review_1="ls $STATE/evidence/*.git/rld/stat-* | grep -v -e -tree -e -setup > $PLAY/lost\n"
             "for file in $(cat $PLAY/lost); do : > $file; done\n" + VERDICT.finds("more"),
             review="ls > $PLAY/ls\n" + VERDICT.passes, fix="rm gone\n")
    row = made.run(review={**REUSE, "read_only": False, "checks": ["echo >> built"]},
                   env={"PLAY": str(made.play.path), "STATE": str(made.daemon.state)})
    made.passes(row)
    assert lines(made, "lost") and lines(made, "ls") == ["README", "built", "work.txt"]
