# SPDX-License-Identifier: MIT
"""Directories that a run may and may not work in."""
import os

import pytest
from rld import Repo, RpcError


def refused(daemon, workdir, **params):
    with pytest.raises(RpcError) as error:
        daemon.submit(workdir, **params)
    assert error.value.code == -32602 and error.value.data["field"] == "workdir", error.value
    assert error.value.data["hint"] or error.value.message
    return error.value


def test_missing(daemon, tmp_path):
    assert "No such file" in refused(daemon, tmp_path / "none").message
    done = daemon.rlctl("submit", "-C", tmp_path / "none", "x", check=1)
    assert str(tmp_path / "none") in done.err


def test_not_a_directory(daemon, tmp_path):
    (tmp_path / "file").touch()
    assert "directory" in refused(daemon, tmp_path / "file").message


def test_relative(daemon):
    refused(daemon, "some/where")


def test_a_loop_of_links(daemon, tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    refused(daemon, tmp_path / "loop")


def test_not_writable(make_daemon, tmp_path, unprivileged):
    """root may write everything: a daemon of another user shows it."""
    daemon = make_daemon(uid=unprivileged)
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(0o555)
    error = refused(daemon, closed)
    assert (f"{closed} cannot be used" in error.message and "Permission denied" in error.message
            and "write" in error.data["hint"])


def test_review_without_a_repository_is_refused_with_the_remedy(daemon, tmp_path):
    plain = tmp_path / "plain"
    plain.mkdir()
    with pytest.raises(RpcError) as error:
        daemon.review(plain)
    assert error.value.code == -32602 and "git init" in str(error.value)


def test_without_review_no_repository_is_needed(daemon, tmp_path):
    plain = tmp_path / "plain"
    plain.mkdir()
    number = daemon.submit(plain)
    assert daemon.ended(number)["state"] == "succeeded"
    assert (plain / "work.txt").read_text() == "one\n"


def test_dirty(daemon, repo):
    """What the user has not committed stays his, and is no part of the diff that is reviewed."""
    repo.write("README", "scratch\nuncommitted\n")
    repo.write("staged.txt", "staged\n")
    repo.git("add", "staged.txt")
    repo.write("staged.txt", "staged\nand more\n")
    repo.write("new.txt", "untracked\n")
    before, status = repo.state(), repo.git("status", "--porcelain=v1")
    number = daemon.review(repo.path)
    assert daemon.ended(number)["state"] == "succeeded"
    assert repo.state() == before
    assert repo.git("status", "--porcelain=v1") == status + "\n?? work.txt"
    review = daemon.play.prompt(number, "review").decode()
    assert "+one" in review and "uncommitted" not in review and "untracked" not in review
    assert "uncommitted" not in daemon.call("run.diff", id=number)["diff"]


def test_without_a_commit(daemon, tmp_path):
    repo = Repo(tmp_path / "fresh", commit=False)
    repo.write("there.txt", "there\n")
    number = daemon.review(repo.path)
    row = daemon.ended(number)
    assert row["state"] == "succeeded", row
    assert repo.git("ls-tree", "-r", "--name-only", row["result_ref"]) == "there.txt\nwork.txt"


def test_subdirectory(daemon, repo):
    repo.write("sub/dir/x", "x\n")
    daemon.play.set({"implement": "pwd > \"$PLAY/pwd\"; echo one > work.txt; "
                     "echo top >> ../../README; answer done\n", "review.1": "pass\n"})
    number = daemon.review(repo.path / "sub/dir")
    row = daemon.ended(number)
    assert row["state"] == "succeeded"
    assert (daemon.play.path / "pwd").read_text() == f"{repo.path}/sub/dir\n"
    diff = daemon.call("run.diff", id=number)["diff"]
    assert "b/sub/dir/work.txt" in diff and "+top" in diff


@pytest.mark.parametrize("name", ["with space", "ünïcödé 漢字", "quote'\"$(x)`y`", "-dash", "new\nline", "back\\slash"])
def test_names(daemon, tmp_path, name):
    repo = Repo(tmp_path / name)
    number = daemon.review(repo.path)
    row = daemon.ended(number)
    assert row["state"] == "succeeded", row
    assert row["workdir"] == str(repo.path)
    assert repo.read("work.txt") == "one\ntwo\n"


def test_file_names_of_every_kind(daemon, repo):
    names = ["a b", "ü", "tab\there", "new\nline", "-x", "'q'", 'd"q', "back\\", ":(top)x", "*", "x" * 200]
    daemon.play.set({"implement": 'cp "$PLAY"/names/* .\nanswer done\n', "review.1": "pass\n"})
    (daemon.play.path / "names").mkdir()
    for name in names:
        (daemon.play.path / "names" / name).write_text("content\n")
    number = daemon.review(repo.path)
    row = daemon.ended(number)
    assert row["state"] == "succeeded", row
    listed = repo.git("ls-tree", "-r", "-z", "--name-only", row["result_ref"]).split("\0")
    assert set(names) <= set(listed)


def test_links_executables_and_submodule_like_things(daemon, repo):
    daemon.play.set({"implement": "ln -s /nonexistent broken\nln -s README link\n"
                     "echo x > run.sh; chmod +x run.sh\nmkfifo pipe\nanswer done\n", "review.1": "pass\n"})
    number = daemon.review(repo.path)
    row = daemon.ended(number)
    assert row["state"] == "succeeded", row
    tree = repo.git("ls-tree", "-r", row["result_ref"])
    modes = {line.split("\t")[1]: line.split()[0] for line in tree.splitlines()}
    assert modes["broken"] == modes["link"] == "120000" and modes["run.sh"] == "100755"


def test_nothing_of_the_repository_is_executed(daemon, repo, tmp_path):
    """Filters, hooks, fsmonitor and external diffs of the repository stay quiet under the
    daemon's own git."""
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{tmp_path}/sprung'\ncat\n")
    trap.chmod(0o755)
    for key in ("filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "core.fsmonitor",
                "diff.external", "diff.evil.textconv",
                "diff.evil.command", "core.pager", "core.editor", "credential.helper", "gpg.program"):
        repo.git("config", key, str(trap))
    repo.git("config", "core.hooksPath", str(tmp_path / "hooks"))
    (tmp_path / "hooks").mkdir()
    for hook in ("post-checkout", "pre-commit", "post-index-change", "reference-transaction", "pre-auto-gc"):
        (tmp_path / "hooks" / hook).symlink_to(trap)
    repo.write(".gitattributes", "* filter=evil diff=evil\n")
    number = daemon.review(repo.path)
    row = daemon.ended(number)
    assert row["state"] == "succeeded", row
    assert not (tmp_path / "sprung").exists(), (tmp_path / "sprung").read_text()


def test_the_repository_may_vanish(make_daemon, repo):
    import shutil
    daemon = make_daemon(scripts={"implement": "gate work\n", "review": "pass\n"}, gates=["work"])
    number = daemon.review(repo.path)
    daemon.play.arrived("work")
    shutil.rmtree(repo.path)
    daemon.play.go("work")
    row = daemon.ended(number)
    assert row["state"] == "failed" and row["cause"]


def test_a_git_of_another_owner(make_daemon, repo, another_user):
    """git refuses repositories of other owners unless told otherwise; the daemon must say so or
    cope, never hang."""
    for path in (repo.path / ".git", repo.path):
        os.chown(path, another_user, another_user)
    daemon = make_daemon()
    number = daemon.review(repo.path)
    row = daemon.ended(number)
    assert row["state"] == "succeeded" or "owner" in row["cause"] or "safe.directory" in row["cause"], row
