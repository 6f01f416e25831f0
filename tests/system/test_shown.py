# SPDX-License-Identifier: MIT
"""The reviewer can see all of a change, and is told what its prompt leaves out; so are the record
and the user."""
import pytest

from loop import Loop
from test_profile_comments import COMMENTS
from test_profile_decision import DECISION
from test_profile_exit import PROFILE as EXIT
from test_profile_file import PROFILE as FILE
from test_profile_verdict import VERDICT

LARGE = "{ seq 1 30000; echo NEEDLE; seq 1 30000; } > a.txt\necho two >> README\nanswer done\n"


@pytest.fixture
def made(make_daemon, repo, tmp_path):
    made = Loop(make_daemon, repo, tmp_path, VERDICT)
    made.always_content()
    return made


def reviewed(made, implement, reads="", **params):
    made.set(implement=implement, review_1=reads + made.profile.passes)
    return made.run(**params)


def review_of(made, number=1):
    return [a for a in made.daemon.attempts(number) if a["role"] == "review"][-1]


# Ways to make git print "Binary files differ".
WAYS = {
    "info/attributes": "mkdir -p .git/info; echo '* -diff' > .git/info/attributes",
    "big-file-threshold": "git config core.bigFileThreshold 1",
    "attributes-file": "echo '* -diff' > .git/own; git config core.attributesFile \"$PWD/.git/own\"",
    "diff-driver": "git config diff.x.binary true; mkdir -p .git/info; echo '* diff=x' > .git/info/attributes",
    "gitattributes": "echo '* -diff' > .gitattributes",
    "nul-byte": "printf 'a NUL: \\0\\n' >> README",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_change_is_shown_as_text(made, way):
    row = reviewed(made, f"{WAYS[way]}\necho NEEDLE >> README\nanswer done\n")
    assert row["state"] == "succeeded" and row["warnings"] == [], row
    assert "\n+NEEDLE\n" in made.prompt("review") and "Binary files" not in made.prompt("review")
    assert review_of(made)["left_out"] is None


def test_what_the_prompt_leaves_out_is_told(made):
    """In the prompt, in the record, to the user; and the reviewer can read it."""
    row = reviewed(made, LARGE, "cp \"$RL_DIFF_FILE\" \"$PLAY/whole\"\n")
    assert row["state"] == "succeeded", row
    prompt, review = made.prompt("review"), review_of(made)
    assert "NEEDLE" not in prompt and "\n+two\n" in prompt
    whole = (made.play.path / "whole").read_text()
    assert "\n+NEEDLE\n" in whole and len(whole) == review["diff_bytes"]
    assert made.daemon.rlctl("diff", 1, check=0).out == whole
    (left,) = review["left_out"]
    assert left == {"file": "a.txt", "why": "size", "bytes": review["diff_bytes"] - review["diff_shown"]}
    assert review["left_out_files"] == 1 and 50000 <= review["diff_shown"] < 60000, review
    assert f"This prompt has {review['diff_shown']} of the {len(whole)} bytes of the diff. It leaves out:\n\n" \
        f"- a.txt: {left['bytes']} bytes of its diff\n" in prompt
    assert f"The whole diff is in the file `{made.daemon.state}/attempts/{review['id']}/diff`" in prompt
    (warning,) = row["warnings"]
    assert warning.startswith(f"task t1, review 1: the reviewer's prompt left out {left['bytes']} of {len(whole)} "
                              "bytes of the diff: a.txt (") and warning.endswith("; see rlctl diff 1")
    assert warning in made.daemon.rlctl("show", 1, check=0).out
    assert warning in made.daemon.rlctl("report", 1, check=0).out


def test_a_binary_file_is_named(made):
    (made.repo.path / "logo.png").write_bytes(b"\x89PNG\0" + bytes(1000))
    made.repo.git("add", "-A")
    made.repo.git("-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "logo")
    row = reviewed(made, "printf more >> logo.png\ncp logo.png new.png\nanswer done\n",
                   "git diff --text \"$RL_BASE_REF\" -- logo.png > \"$PLAY/shown\"\n")
    prompt = made.prompt("review")
    assert "\n- logo.png: binary, 1009 bytes\n" in prompt and "+++ b/new.png\n" in prompt, prompt
    assert review_of(made)["left_out"] == [{"file": "logo.png", "why": "binary", "bytes": 1009}]
    assert row["warnings"] == ["task t1, review 1: the reviewer's prompt left out logo.png (binary, 1009 B); "
                               "see rlctl diff 1"]
    assert "more" in (made.play.path / "shown").read_text(errors="replace")


@pytest.mark.parametrize("profile", [DECISION, COMMENTS, FILE], ids=lambda p: p.name)
def test_each_profile(make_daemon, repo, tmp_path, profile):
    repo.git("config", "user.name", "t")
    repo.git("config", "user.email", "t@example.org")
    made = Loop(make_daemon, repo, tmp_path, profile)
    row = reviewed(made, LARGE)
    assert row["state"] == "succeeded" and "left out" in row["warnings"][0], row


def test_a_program_is_shown_no_diff(make_daemon, repo, tmp_path):
    """Profile exit: nothing is left out of a prompt that has no diff. The file is there."""
    made = Loop(make_daemon, repo, tmp_path, EXIT)
    row = reviewed(made, LARGE, "cp \"$RL_DIFF_FILE\" \"$PLAY/whole\"\n")
    assert row["state"] == "succeeded" and row["warnings"] == [], row
    assert "NEEDLE" in (made.play.path / "whole").read_text()


# on_cut = "hold"

HOLD = {"on_cut": "hold"}


def held(made, **params):
    row = reviewed(made, LARGE, review=HOLD, **params)
    assert row["state"] == "held", row
    hold = made.daemon.call("hold.get", id=1)
    assert hold["kind"] == "cut" and hold["reason"].startswith("passed, but the reviewer's prompt left out "), hold
    assert made.decisions() == ["pass"]


@pytest.mark.parametrize("commit", ["none", "auto", "agent"])
def test_an_approved_hold_stays_a_pass(made, commit):
    made.repo.git("config", "user.name", "t")
    made.repo.git("config", "user.email", "t@example.org")
    made.play.set({"commit": "git commit -qam theirs\nanswer committed\n"})
    held(made, commit=commit)
    made.daemon.call("hold.approve", id=1, message="read it")
    row = made.daemon.ended(1)
    assert (row["state"], row["cause"], row["end_kind"]) == ("succeeded", None, None), row
    assert made.decisions() == ["pass", "pass"]
    assert made.daemon.reviews(1)[-1]["reviewer_agent"].startswith("human:")
    (task,) = row["tasks"]
    assert task["state"] == "passed" and task["locked_tree"] == made.daemon.reviews(1)[0]["tree"]
    assert made.passed_refs() == [made.daemon.ref("passed", 1, "t1")]
    assert (row["result_commit"] is None) == (commit == "none")


def test_a_hold_sent_back(made):
    held(made)
    made.play.set({"fix": "rm a.txt\nanswer smaller\n"})
    made.daemon.call("hold.rework", id=1, message="too much at once")
    row = made.daemon.ended(1)
    assert row["state"] == "succeeded" and made.roles() == ["implement", "review", "fix", "review"], row
    assert review_of(made)["left_out"] is None


def test_a_rejected_hold_fails(made):
    held(made)
    made.daemon.call("hold.reject", id=1, message="no")
    assert made.daemon.ended(1)["end_kind"] == "rejected"


def test_a_retry_is_held_as_well(made):
    held(made)
    reason = made.daemon.call("hold.get", id=1)["reason"]
    for number in (2, 3):
        made.daemon.call("run.retry", id=number - 1)
        row = made.daemon.ended(number)
        hold, = row["holds"]
        assert (row["state"], hold["kind"], hold["reason"]) == ("held", "cut", reason), row
    made.daemon.call("hold.approve", id=hold["id"])
    assert made.daemon.ended(3)["state"] == "succeeded" and made.roles() == ["implement", "review"]


def test_a_complete_diff_is_not_held(made):
    row = made.run(review=HOLD)
    assert row["state"] == "succeeded", row


def test_a_project_may_only_hold(made):
    made.repo.write(".rld.toml", "[review]\non_cut = \"hold\"\n")
    assert reviewed(made, LARGE)["state"] == "held"


def test_it_is_recorded_before_the_reviewer_starts(made):
    made.set(implement=LARGE, review_1=made.profile.passes)
    number, _ = made.submit_to("review", review=HOLD)
    assert review_of(made)["left_out_files"] == 1
    made.daemon.kill()
    made.daemon.start()
    made.play.go("review")
    row = made.daemon.ended(number)
    assert row["state"] == "held" and len(row["warnings"]) == 1, row
