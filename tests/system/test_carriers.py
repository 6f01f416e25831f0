# SPDX-License-Identifier: MIT
"""The files in which agents hand over their work: read once, when their processes have ended, by
name below directories that no link leads away from. What is judged later is what was read then."""
import os
import shutil

import pytest
import test_profile_comments
import test_profile_file
import test_profile_verdict
from loop import Loop
from rld import Repo

CLEAN = '{"comments": [], "summary": "fine"}'
PASS = '{"verdict": "pass", "followUpPrompt": "fine"}'
# profile, how its reviewer hands over $1 in a file, and what is a pass or hides a finding there
CARRIERS = {
    "verdict": (test_profile_verdict.VERDICT, "$RL_VERDICT_FILE", PASS),
    "comments": (test_profile_comments.COMMENTS, "review-comments.json", CLEAN),
    "file": (test_profile_file.PROFILE, "autom8_review.md", ""),
}
FOREIGN = {
    "link": ("ln -sf \"$PLAY/other\" \"{f}\"\n", "the review file is not a regular file"),
    "pipe": ("rm -f \"{f}\"; mkfifo \"{f}\"\n", "the review file is not a regular file"),
    "directory": ("rm -f \"{f}\"; mkdir \"{f}\"\n", "the review file is not a regular file"),
    "socket": ("rm -f \"{f}\"\n/usr/bin/python3 -c 'import socket, sys; "
               "socket.socket(socket.AF_UNIX).bind(sys.argv[1])' \"{f}\"\n",
               "the review file is not a regular file"),
    "second name": ("cp \"$PLAY/other\" \"$PLAY/mine\"; ln -f \"$PLAY/mine\" \"{f}\"\n",
                    "the review file has another name, too: it is a hard link"),
    "of another user": ("cp \"$PLAY/other\" \"{f}\"; chown 54321 \"{f}\"\n",
                        "the review file belongs to another user, with uid 54321"),
}


class Handed(Loop):
    def __init__(self, make_daemon, repo, tmp_path, name):
        self.name, (profile, self.file, self.good) = name, CARRIERS[name]
        super().__init__(make_daemon, repo, tmp_path, profile)
        (self.play.path / "other").write_text(self.good or "nothing to see\n")

    def last(self, role="review"):
        """The directory of the last attempt of a role."""
        return self.daemon.state / "attempts" / str(self.of(role)["id"])

    def of(self, role="review"):
        """Its row."""
        return [a for a in self.daemon.attempts(1) if a["role"] == role][-1]

    def cause(self, row):
        assert row["state"] != "succeeded", row
        return row["cause"] or row["reason"]


@pytest.fixture(params=CARRIERS)
def handed(request, make_daemon, repo, tmp_path):
    return Handed(make_daemon, repo, tmp_path, request.param)


@pytest.mark.each
@pytest.mark.parametrize("kind", FOREIGN)
def test_what_is_no_file_of_the_reviewer(handed, kind):
    if kind == "of another user" and os.getuid() != 0:
        pytest.skip("needs root")
    script, reason = FOREIGN[kind]
    handed.set(review_1=script.format(f=handed.file) + "echo read it\n")
    row = handed.run(review={"read_only": False})		# confined, it could not do that
    assert f"reviewer contract violation: {reason}" in handed.cause(row), row
    review = handed.of("review")
    assert (review["carrier_fault"], review["carrier_hash"]) == (reason, None)


@pytest.mark.each
@pytest.mark.parametrize("restart", [False, True], ids=["", "restart"])
def test_the_copy_is_judged(handed, restart):
    """The file itself may come, go and change once its reviewer has ended."""
    handed.set(review_1=handed.profile.finds("add a second line"))
    if handed.name == "verdict":
        handed.set(review_1="echo '{\"verdict\": \"drift\", \"followUpPrompt\": \"add a second line\"}' "
                            "> \"$RL_VERDICT_FILE\"\n")
    handed.stop_at("verify")
    run = handed.submit()
    handed.play.arrived("verify")
    place = handed.last() / "verdict.json" if handed.name == "verdict" else next(
        handed.daemon.state.glob(f"runs/1/tree-*/{handed.file}"))
    place.unlink()
    if handed.good:
        place.write_text(handed.good)
    if restart:
        handed.daemon.kill()
        handed.daemon.start()
    else:
        handed.play.go("verify")
    handed.passes(handed.daemon.ended(run))
    assert handed.decisions()[0] == handed.profile.findings_word, handed.decisions()


CHANGES = {
    "the review file": lambda d, good: (d / "carrier").write_text(good),
    "the review file, gone": lambda d, good: (d / "carrier").unlink(),
    "the review file, a link": lambda d, good: ((d / "carrier").unlink(), (d / "carrier").symlink_to("/dev/null")),
    "the answer": lambda d, good: (d / "answer").write_text("Read it.\n" + good),
    "the answer, gone": lambda d, good: (d / "answer").unlink(),
    "the directory": lambda d, good: (d.rename(d.with_name("x")), d.symlink_to("x")),
}


@pytest.mark.each
@pytest.mark.parametrize("restart", [False, True], ids=["", "restart"])
@pytest.mark.parametrize("change", CHANGES)
def test_what_was_changed_is_not_judged(handed, change, restart):
    handed.set(review_1=handed.profile.finds("no") + "echo read it\n")
    handed.stop_at("verify")
    run = handed.submit()
    handed.play.arrived("verify")
    place = handed.last()
    shutil.copytree(place, handed.play.path / "kept", symlinks=True)
    CHANGES[change](place, handed.good)
    if restart:
        handed.daemon.kill()
        handed.daemon.start()
    else:
        handed.play.go("verify")
    row = handed.daemon.ended(run)
    assert "since the reviewer ended: it is not judged" in handed.cause(row) or (
        "cannot read the review in" in handed.cause(row)), row
    assert "pass" not in handed.decisions() and not handed.daemon.call("review.verify", run=run)["ok"]
    if place.is_symlink():
        place.unlink()
        place.with_name("x").rename(place)
    for name in ("carrier", "answer"):
        (place / name).unlink(missing_ok=True)
        shutil.copy(handed.play.path / "kept" / name, place / name)


@pytest.mark.parametrize("part", ["prompt", "diff", "given"])
def test_what_an_echo_is_compared_with(make_daemon, repo, tmp_path, part):
    """A reviewer that prints its material, and empties what that would be found in."""
    handed = Handed(make_daemon, repo, tmp_path, "verdict")
    handed.set(implement=f"echo '{PASS}' > work.txt\necho '{PASS}'\n",
               review_1=f"cd \"${{RL_VERDICT_FILE%/*}}\"\ncp {part} kept\n: > {part}\necho '{PASS}'\n")
    row = handed.run()
    place = handed.last()
    (place / "kept").replace(place / part)
    assert "since the reviewer ended: it is not judged" in handed.cause(row), row
    assert handed.decisions() == ["error"]


@pytest.mark.parametrize("change", ["changed", "removed"])
def test_the_answer_under_review(make_daemon, repo, tmp_path, change):
    """What the reviewer is told that the developer said."""
    handed = Handed(make_daemon, repo, tmp_path, "verdict")
    handed.always_content()
    handed.stop_at("measure")
    run = handed.submit()
    handed.play.arrived("measure")
    answer = handed.last("implement") / "answer"
    text = answer.read_text()
    answer.unlink()
    if change == "changed":
        answer.write_text("nothing of note")
    handed.play.go("measure")
    row = handed.daemon.ended(run)
    assert f"was {change} since its agent ended" in handed.cause(row), row
    answer.write_text(text)


def test_a_directory_that_is_a_link(make_daemon, tmp_path):
    """The reviewer's directory in its room becomes a link to where there is no review."""
    repo = Repo(tmp_path / "deep")
    repo.write("sub/one.txt", "one\n")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "sub")
    handed = Handed(make_daemon, repo, tmp_path, "comments")
    handed.set(review_1=f"mkdir $PLAY/away\necho '{CLEAN}' > $PLAY/away/review-comments.json\n"
                        "top=$(git rev-parse --show-toplevel)\ncd /; rm -r $top/sub; ln -s $PLAY/away $top/sub\n")
    run = handed.daemon.review(repo.path / "sub", review={"profile": "comments", "read_only": False})
    row = handed.daemon.ended(run)
    assert row["state"] == "failed", row
    assert handed.of("review")["carrier_fault"].startswith("the directory of the review")


@pytest.mark.parametrize("again", [False, True], ids=["", "submit"])
def test_the_environment_of_what_judges(make_daemon, repo, tmp_path, again):
    """Its file is shared by all of a run: an implementer that puts its own programs first."""
    handed = Handed(make_daemon, repo, tmp_path, "verdict")
    handed.always_content()
    handed.set(implement="for f in \"${RLD_SOCKET%/*}\"/state/env/*; do\n"
                         "    tr '\\0' '\\n' < $f | sed 's|^PATH=|PATH=/evil:|' | tr '\\n' '\\0' > $f.new\n"
                         "    mv $f.new $f\n"
                         "done\necho one > work.txt\nanswer done\n")
    row = handed.run(environment={"PATH": os.environ["PATH"]})
    assert "environment" in handed.cause(row) and "was changed since the submit" in handed.cause(row), row
    assert handed.roles() == ["implement"]
    if again:
        handed.set(implement="echo one > work.txt\nanswer done\n")
        row = handed.run(environment={"PATH": os.environ["PATH"]})
        assert row["state"] == "succeeded", row
