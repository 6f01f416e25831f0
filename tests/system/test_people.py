# SPDX-License-Identifier: MIT
"""People in the directory of a run: what they do there while a reviewer works is theirs. It stays,
it is named, it is no part of the work, and the reviewer is not blamed for it."""
import json
import os
import signal
import sqlite3

import pytest

from loop import Loop
from outer import WORK, Beads, bead, submit, with_bd
from rld import proc_stat
from test_profile_comments import COMMENTS
from test_profile_decision import DECISION
from test_profile_exit import PROFILE as EXIT
from test_profile_file import PROFILE as FILE
from test_profile_verdict import VERDICT

ROOM = {"workspace": "room"}
NO_LONGER = "the work tree is no longer what was judged"


class Desk:
    """A run that stands in its review, and the person who works in its directory."""

    def __init__(self, made):
        self.made, self.repo = made, made.repo
        made.repo.git("config", "user.name", "t")
        made.repo.git("config", "user.email", "t@example.org")

    def during_review(self, act, review=ROOM, **params):
        number, _ = self.made.submit_to("review", review=review, **params)
        act(self.repo)
        self.made.play.go("review")
        return self.made.daemon.ended(number)


@pytest.fixture
def desk(make_daemon, repo, tmp_path):
    desk = Desk(Loop(make_daemon, repo, tmp_path, VERDICT))
    desk.made.always_content()
    return desk


def edit(repo):
    repo.write("README", "a person's\n")


def new(repo):
    repo.write("notes.txt", "mine\n")


def remove(repo):
    (repo.path / "README").unlink()


def undo(repo):
    text = repo.read("README")
    edit(repo)
    repo.write("README", text)


@pytest.mark.parametrize("act", [edit, new, undo])
@pytest.mark.parametrize("profile", [VERDICT, DECISION, FILE, COMMENTS, EXIT], ids=lambda p: p.name)
def test_every_profile(make_daemon, repo, tmp_path, profile, act):
    desk = Desk(Loop(make_daemon, repo, tmp_path, profile))
    desk.made.always_content()
    row = desk.during_review(act)
    assert row["state"] == "succeeded", row
    warnings = " ".join(row["warnings"])
    assert ("README" in warnings) == (act is edit) and ("notes.txt" in warnings) == (act is new), warnings
    assert "reviewer changed" not in warnings
    assert repo.git("show", row["result_ref"] + ":README") == "scratch"
    assert (repo.path / "notes.txt").exists() == (act is new)


def test_it_is_told_and_the_judged_tree_is_what_passes(desk):
    row = desk.during_review(edit)
    assert row["state"] == "succeeded", row
    assert row["warnings"] == [
        f"task t1: these files were changed in {desk.repo.path} during the review, not by the reviewer, and the "
        "changes are not part of the work: README",
        "task t1: the work tree is no longer what was judged: README"]
    assert desk.repo.read("README") == "a person's\n"
    assert "no longer what was judged" in desk.made.daemon.rlctl("show", 1, check=0).out
    assert "no longer what was judged" in desk.made.daemon.rlctl("report", 1, check=0).out


@pytest.mark.parametrize("act", [edit, remove], ids=["edit", "remove"])
def test_the_next_round_does_not_have_it(desk, act):
    """Nor the one after that; the fixer works beside it."""
    made = desk.made
    made.set(review_1=made.profile.finds("more"), review_2=made.profile.finds("more"), review=made.profile.passes)
    row = desk.during_review(act)
    assert row["state"] == "succeeded" and made.roles().count("review") == 3, row
    for nth in (2, 3):
        assert "README" not in made.prompt("review", nth)
    assert len([w for w in row["warnings"] if "not by the reviewer" in w]) == 1, row["warnings"]
    assert desk.repo.git("show", row["result_ref"] + ":README") == "scratch"
    assert desk.repo.git("show", row["result_ref"] + ":work.txt") == "one\nfix 1\nfix 2"
    assert (desk.repo.path / "README").exists() == (act is edit)


def test_a_fixer_that_goes_on_with_it_makes_it_work(desk):
    made = desk.made
    made.set(review_1=made.profile.finds("more"), review=made.profile.passes,
             fix="echo \"and the fixer's\" >> README\nanswer done\n")
    row = desk.during_review(edit)
    assert row["state"] == "succeeded", row
    assert "a person's" in made.prompt("review", 2)
    assert desk.repo.git("show", row["result_ref"] + ":README") == "a person's\nand the fixer's"
    assert not [w for w in row["warnings"] if "no longer" in w]


def test_an_edit_of_the_file_under_review(desk):
    """It is the judged version that passes."""
    row = desk.during_review(lambda repo: repo.write("work.txt", "mine\n"))
    assert row["state"] == "succeeded" and row["warnings"][-1].endswith("what was judged: work.txt"), row
    assert desk.repo.git("show", row["result_ref"] + ":work.txt") == "one"
    assert desk.repo.read("work.txt") == "mine\n"


def test_it_is_known_after_a_restart(desk):
    made = desk.made
    made.set(review_1=made.profile.finds("more"), review=made.profile.passes)
    number, _ = made.submit_to("review", review=ROOM)
    edit(desk.repo)
    made.stop_at("fix")
    made.play.go("review")
    made.play.arrived("fix")
    made.daemon.kill()
    made.daemon.start()
    made.play.go("fix")
    row = made.daemon.ended(number)
    assert row["state"] == "succeeded" and "README" not in made.prompt("review", 2), row


def test_in_place_nobody_can_know(desk):
    row = desk.during_review(edit, review={"workspace": "same"})
    assert row["state"] == "failed" and "reviewer changed the tree: README" in row["cause"], row


def test_a_commit_has_what_was_judged(desk):
    row = desk.during_review(edit, commit="auto")
    assert row["state"] == "succeeded", row
    assert desk.repo.git("show", "HEAD:README") == "scratch" and desk.repo.read("README") == "a person's\n"
    assert desk.repo.git("show", "HEAD:work.txt") == "one"


def late(desk, where, act, **params):
    """Done when the review is over, and git is at work on what has passed."""
    number, _ = desk.made.submit_to(where, **params)
    act(desk.repo)
    desk.made.play.go(where)
    return desk.made.daemon.ended(number)


@pytest.mark.parametrize("act", [edit, new, remove, undo])
@pytest.mark.parametrize("where, commit", [("pin", "none"), ("commit", "auto")])
def test_after_the_last_review(desk, where, commit, act):
    row = late(desk, where, act, commit=commit)
    said = [] if act is undo else [f"task t1: {NO_LONGER}: {'notes.txt' if act is new else 'README'}"]
    assert row["state"] == "succeeded" and row["warnings"] == said, row
    assert desk.made.daemon.rlctl("show", row["id"], check=0).out.count(NO_LONGER) == len(said)
    assert desk.made.daemon.log().count(NO_LONGER) == len(said)
    assert desk.repo.git("show", row["result_ref"] + ":README") == "scratch"
    assert (desk.repo.path / "notes.txt").exists() == (act is new)


def test_what_cannot_be_compared_fails_nothing(desk, tmp_path):
    def odd(repo):
        edit(repo)
        git = tmp_path / "d.tools" / "git.new"
        git.write_text("#!/bin/sh\ncase $* in *hash-object*) echo it is odd >&2; exit 1;; esac\n"
                       "exec /usr/bin/git \"$@\"\n")
        git.chmod(0o755)
        git.rename(tmp_path / "d.tools" / "git")

    row = late(desk, "pin", odd)
    assert row["state"] == "succeeded" and len(row["warnings"]) == 1, row
    assert NO_LONGER in row["warnings"][0] and "it is odd" in row["warnings"][0], row


@pytest.mark.each
@pytest.mark.parametrize("commit", ["none", "auto"])
def test_while_it_is_held(desk, commit):
    """An approval takes the work as it is, and the run says what nobody has judged."""
    made = desk.made
    made.never_content()
    number = made.submit(review={"max_fixes": 0, "on_exhausted": "hold"}, commit=commit)
    assert made.daemon.ended(number)["state"] == "held"
    edit(desk.repo)
    made.daemon.rlctl("hold", "approve", made.daemon.call("hold.list", run=number)["holds"][0]["id"], check=0)
    row = made.daemon.ended(number)
    assert row["state"] == "succeeded" and row["warnings"] == [f"task t1: {NO_LONGER}: README"], row
    assert desk.repo.read("README") == "a person's\n"


def test_work_that_a_human_sends_back(desk):
    """What they changed during the hold is work, and the fixer continues it."""
    made = desk.made
    made.never_content()
    number = made.submit(review={"max_fixes": 0, "on_exhausted": "hold"}, commit="auto")
    assert made.daemon.ended(number)["state"] == "held"
    edit(desk.repo)
    made.set(review=made.profile.passes)
    made.daemon.call("hold.rework", id=made.daemon.call("hold.list", run=number)["holds"][0]["id"], message="go on")
    row = made.daemon.ended(number)
    assert row["state"] == "succeeded" and "a person's" in made.prompt("review", 2), row
    assert desk.repo.git("show", "HEAD:README") == "a person's" and not row["warnings"], row


def test_slots_that_share_a_tree_are_not_compared(desk):
    """What differs is another slot's work."""
    row = late(desk, "pin", edit, parallel=2, isolation="shared")
    assert row["state"] == "succeeded" and not row["warnings"], row


def test_while_a_source_is_told(make_daemon, repo, tmp_path):
    """A pass was compared before, and is compared again."""
    beads = Beads(repo.path, bead("a-1"))
    daemon, bd = with_bd(make_daemon, tmp_path, scripts={"implement": WORK, "review": "pass\n"})
    bd.stop("close", "before")
    run = submit(daemon, beads.path, review={"enabled": True})
    daemon.play.arrived("bd")
    edit(repo)
    daemon.play.go("bd")
    row = daemon.ended(run)
    assert row["state"] == "succeeded" and row["warnings"] == [f"task a-1: {NO_LONGER}: README"], row


# between the attempts of the run, when no reviewer is at work either

OUTSIDE = "while no agent of the run worked there"


def submit_cooled(desk, **params):
    """Its first agent waits for its account."""
    desk.made.daemon.call("cooldown.set", account="play", **{"for": "2h"})
    number = desk.made.submit(review=ROOM, **params)
    with desk.made.daemon.events(run=number) as events:
        events.until("slot.phase", lambda e: e["phase"] == "cooling")
    return number


@pytest.mark.each
@pytest.mark.parametrize("act", [edit, new, undo])
def test_before_the_first_attempt(desk, act):
    number = submit_cooled(desk, commit="auto")
    act(desk.repo)
    desk.made.daemon.call("cooldown.clear", account="play")
    row = desk.made.daemon.ended(number)
    assert row["state"] == "succeeded", row
    assert len([w for w in row["warnings"] if OUTSIDE in w]) == (act is not undo), row["warnings"]
    assert "a person's" not in desk.made.prompt("review") and "notes.txt" not in desk.made.prompt("review")
    assert desk.repo.git("show", "HEAD:README") == "scratch"
    assert desk.repo.git("show", "--format=", "--name-only", "HEAD") == "work.txt"
    assert desk.repo.read("README") == ("a person's\n" if act is edit else "scratch\n")
    assert (desk.repo.path / "notes.txt").exists() == (act is new)


@pytest.mark.each
@pytest.mark.parametrize("act", [edit, new, remove])
def test_while_a_check_fails(desk, act):
    made = desk.made
    made.set(check="[ -e $PLAY/fixed ] || { [ -e $PLAY/again ] && exit 1; touch $PLAY/again; gate check; exit 1; }\n",
             fix='touch $PLAY/fixed; echo "fix $nth" >> work.txt\nanswer done\n')
    number = made.submit(review={**ROOM, "checks": [made.check]}, check_on_base="skip", commit="auto")
    made.play.arrived("check")
    act(desk.repo)
    made.play.go("check")
    row = made.daemon.ended(number)
    assert row["state"] == "succeeded" and made.roles() == ["implement", "fix", "review"], row
    assert len([w for w in row["warnings"] if OUTSIDE in w]) == 1, row["warnings"]
    assert desk.repo.git("show", "HEAD:README") == "scratch"
    assert desk.repo.git("show", "--format=", "--name-only", "HEAD") == "work.txt"


def test_a_fixer_that_follows_a_review_at_once(desk):
    """VERIFY has just compared the work tree."""
    made = desk.made
    made.set(review_1=made.profile.finds("more"), review=made.profile.passes)
    row = made.run(review=ROOM)
    assert row["state"] == "succeeded" and made.roles() == ["implement", "review", "fix", "review"], row
    made.daemon.stop()
    assert made.daemon.query("SELECT count(*) AS n FROM step WHERE name = 'edits'") == [{"n": 1}]


def test_while_the_fixer_is_paused(desk):
    made = desk.made
    made.set(review_1=made.profile.finds("more"), review=made.profile.passes)
    number, _ = made.submit_to("review", review=ROOM)
    made.daemon.call("run.pause", id=number)
    with made.daemon.events(run=number) as events:
        made.play.go("review")
        events.until("slot.phase", lambda e: e["phase"] == "fixing")
    edit(desk.repo)
    made.daemon.call("run.resume", id=number)
    row = made.daemon.ended(number)
    assert row["state"] == "succeeded" and "README" not in made.prompt("review", 2), row
    assert len([w for w in row["warnings"] if OUTSIDE in w]) == 1, row["warnings"]


def test_what_a_lost_attempt_has_left_may_be_its_own(desk):
    made = desk.made
    made.set(implement_1="echo half > half.txt\ngate implement\n", implement="echo one > work.txt\nanswer done\n")
    number = made.submit(review=ROOM, on_lost="retry", commit="auto")
    os.kill(proc_stat(made.play.arrived("implement"))[1], signal.SIGKILL)
    row = made.daemon.ended(number)
    assert row["state"] == "succeeded" and made.roles() == ["implement", "implement", "review"], row
    assert desk.repo.git("show", "HEAD:half.txt") == "half"
    assert not [w for w in row["warnings"] if OUTSIDE in w], row


def stop_git(desk, tmp_path, then=None):
    """The first git from now on stands at the gate "measure", or does something else."""
    tools, play = tmp_path / "d.tools", desk.made.play.path
    stands = f"echo $$ > {play}/measure.here\nread -r word < {play}/measure.go"
    (tools / "git.new").write_text(f"""#!/bin/sh
if mkdir {tools}/once 2> /dev/null; then
{then or stands}
fi
exec /usr/bin/git "$@"
""")
    (tools / "git.new").chmod(0o755)
    (tools / "git.new").rename(tools / "git")


def test_what_an_attempt_has_left_whose_start_a_power_cut_took_back(desk):
    """What it wrote was synced with the work of another run; the row of its start was not."""
    made = desk.made
    made.play.set({"implement.1": "echo lost > new; gate implement; answer no\n",
                   "implement.2": "echo lost > new; answer again\n"})
    number = made.submit(review=ROOM, on_lost="retry", commit="auto")
    agent = made.play.arrived("implement")
    made.daemon.kill()
    os.kill(proc_stat(agent)[1], signal.SIGKILL)
    os.kill(agent, signal.SIGKILL)
    connection = sqlite3.connect(made.daemon.state / "rld.db", isolation_level=None)
    connection.execute("UPDATE attempt SET state = 'starting', started_at = NULL, boot_id = 'an earlier one'")
    connection.close()
    made.daemon.start()
    row = made.daemon.ended(number)
    assert row["state"] == "succeeded" and row["warnings"] in ([], None), row
    assert desk.repo.git("show", f"{row['result_commit']}:new") == "lost"


def test_what_cannot_be_compared_before_an_agent_starts(desk, tmp_path):
    number = submit_cooled(desk)
    stop_git(desk, tmp_path, then="echo it is odd >&2; exit 1")
    desk.made.daemon.call("cooldown.clear", account="play")
    row = desk.made.daemon.ended(number)
    assert row["state"] == "succeeded" and len(row["warnings"]) == 1, row
    assert "taken for the agent's work: git edits failed: " in row["warnings"][0], row


def test_between_the_comparison_and_the_start(desk, tmp_path):
    made = desk.made
    number = submit_cooled(desk, commit="auto")
    stop_git(desk, tmp_path)
    made.daemon.call("cooldown.clear", account="play")
    made.play.arrived("measure")
    made.daemon.call("cooldown.set", account="play", **{"for": "2h"})
    with made.daemon.events(run=number, since=None) as events:
        made.play.go("measure")
        events.until("slot.phase", lambda e: e["phase"] == "cooling")
    edit(desk.repo)
    made.daemon.call("cooldown.clear", account="play")
    row = made.daemon.ended(number)
    assert row["state"] == "succeeded" and desk.repo.git("show", "HEAD:README") == "scratch", row
    assert len([w for w in row["warnings"] if OUTSIDE in w]) == 1, row["warnings"]


@pytest.mark.each
@pytest.mark.parametrize("how", ["kill", "cancel"])
def test_when_it_ends_while_git_compares(desk, tmp_path, how):
    made = desk.made
    number = submit_cooled(desk)
    edit(desk.repo)
    stop_git(desk, tmp_path)
    made.daemon.call("cooldown.clear", account="play")
    made.play.arrived("measure")
    if how == "cancel":
        made.daemon.call("run.cancel", id=number)
        row = made.daemon.ended(number)
        assert row["state"] == "cancelled" and not made.roles(), row
        assert [a["cause"] for a in made.daemon.attempts(number)] == ["cancelled before it was started"]
        return
    made.daemon.kill()
    made.daemon.start()
    row = made.daemon.ended(number)
    assert row["state"] == "succeeded" and made.roles() == ["implement", "review"], row
    assert len([w for w in row["warnings"] if OUTSIDE in w]) == 1, row["warnings"]


def test_slots_that_share_a_tree_work_beside_each_other(desk):
    """What appears before a fixer starts may be another slot's."""
    made = desk.made
    stories = json.dumps({"userStories": [
        {"id": s, "title": "t", "acceptanceCriteria": ["x"], "passes": False} for s in ("a", "b")]})
    made.set(implement="[ $RL_TASK_ID = a ] || { gate implement; echo b > README; }\n"
                       "echo one > $RL_TASK_ID.txt\nanswer done\n",
             review_1="gate review\n" + made.profile.finds("more"), review=made.profile.passes,
             fix='echo "fix $nth" >> a.txt\nanswer done\n')
    number = made.daemon.call("run.submit", workdir=str(desk.repo.path), stories=stories, parallel=2,
                              isolation="shared", review={"enabled": True, "profile": "verdict", **ROOM})["id"]
    made.play.arrived("implement")
    made.play.arrived("review")
    with made.daemon.events(run=number, since=None) as events:
        made.play.go("implement")
        events.until("attempt.ended", lambda e: e["role"] == "implement")
    made.play.go("review")
    row = made.daemon.ended(number)
    assert row["state"] == "succeeded" and not [w for w in row["warnings"] if OUTSIDE in w], row
    assert desk.repo.read("b.txt") == "one\n" and "fix" in made.roles()
