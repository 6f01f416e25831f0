# SPDX-License-Identifier: MIT
"""What agents leave on hosts that share no directory, and what such a host may be."""
import os
import shutil
import subprocess

import pytest
import test_copied
from rld import Repo
from test_copied import CAN, SSH, attempts, farm, is_empty, output, result  # noqa: F401

pytestmark = pytest.mark.skipif(not CAN, reason="needs rsync, and mount namespaces (root)")
DONE = "echo one > work.txt\nanswer done\n"
OWN = "echo one > work.txt; git add .; git commit -qm own\n"


@pytest.fixture
def mine(repo):
    """A repository whose commits have an author."""
    repo.git("config", "user.name", "me")
    repo.git("config", "user.email", "me@example.org")
    return repo


def done(daemon, run):
    row = daemon.ended(run)
    assert row["state"] == "succeeded", row["cause"]
    assert len(daemon.play.starts(run)) == 1
    return row


def history(repo, count):
    one = "commit refs/heads/main\ncommitter t <t@example.org> {} +0000\ndata 1\nc\n{}M 644 inline n\ndata 4\n{:04}\n"
    repo.git("fast-import", "--quiet", input="".join(
        one.format(1700000000 + n, "" if n else "from refs/heads/main^0\n", n) for n in range(count)).encode())
    repo.git("reset", "-q", "--hard")


@pytest.mark.each
@pytest.mark.parametrize("kind", ["long", "shallow", "sha256"])
def test_a_repository(farm, mine, tmp_path, kind):
    """What it does not have there is not missed, and what comes back is no second history."""
    if kind == "sha256":
        shutil.rmtree(mine.path / ".git")
        mine.git("init", "-q", "-b", "main", "--object-format=sha256")
        mine.git("add", ".")
        mine.git("-c", "user.name=me", "-c", "user.email=me@example.org", "commit", "-qm", "start")
    else:
        history(mine, 120)
    if kind == "shallow":
        mine.path.rename(tmp_path / "whole")
        subprocess.run(["git", "clone", "-q", "--depth=20", f"file://{tmp_path}/whole", mine.path], check=True)
    mine.git("config", "user.name", "me")
    mine.git("config", "user.email", "me@example.org")
    shallow = mine.path / ".git" / "shallow"
    before = shallow.read_text() if shallow.exists() else None
    daemon = farm(scripts={"implement": f"git log --format=%h | wc -l > count\n{OWN}git checkout -q -b side HEAD~1\n"
                                        "git commit -q --allow-empty -m other; git checkout -q -\nanswer done\n"})
    run = daemon.submit(mine.path)
    done(daemon, run)
    assert result(mine, daemon, run, "count") == {"long": "100", "shallow": "20", "sha256": "1"}[kind]
    assert mine.git("log", "--format=%s", "main..rl/1/t1") == "own"
    assert mine.git("log", "--format=%s", "main..side") == "other"
    assert (shallow.read_text() if shallow.exists() else None) == before


LEFT = {
    # script, what stderr says, subjects of the commits that come back
    "no-git": ("rm -rf .git\n" + DONE, "is damaged", ""),
    "a file": ("rm -rf .git; echo junk > .git\n" + DONE, "is damaged", ""),
    "a link": ("rm -rf .git; ln -s /nowhere .git\n" + DONE, "is damaged", ""),
    "no-objects": (OWN + "rm -rf .git/objects/*\n", "", ""),
    "one-object": (OWN + "rm -f .git/objects/$(git rev-parse HEAD:work.txt | sed 's,^..,&/,')\n", "", ""),
    "a bad branch": (OWN + "echo junk > .git/refs/heads/bad; git rev-parse HEAD | tr 0-9a-f 1 > .git/refs/heads/gone\n"
                     "git branch aside\n", "", "own"),
    "no-branch": (OWN + "git branch aside; git checkout -q --orphan new\n", "", ""),
    "locks": ("touch .git/index.lock .git/HEAD.lock\n" + DONE, "", ""),
    "detached": (OWN + "git checkout -q --detach\n", "", "own"),
    "packed": (OWN + "git branch aside; git gc -q --prune=now\n", "", "own"),
    "no-tree": ("rm -rf \"$PWD\"\n", "its work tree there is gone", None),
}


@pytest.mark.each
@pytest.mark.parametrize("what", LEFT)
def test_what_it_leaves(farm, mine, what):
    """It has ended, and its files are here, whatever has become of its repository."""
    script, said, own = LEFT[what]
    daemon = farm(scripts={"implement": script})
    run = daemon.submit(mine.path)
    row = done(daemon, run)
    attempt, = attempts(daemon, run)
    assert said in output(daemon, attempt["id"], "stderr") if said else True
    if own is None:
        assert row["result_commit"] is None
    else:
        assert result(mine, daemon, run, "work.txt") == "one"
        assert mine.git("log", "--format=%s", "main..rl/1/t1").replace("do it", "").strip() == own
    assert mine.git("for-each-ref", "--format=%(refname)", "refs/heads/aside") == (
        "refs/heads/aside" if "aside" in script else "")
    assert all(is_empty(daemon, host) for host in farm.hosts)


def test_what_git_would_obey(farm, mine, tmp_path):
    """No configuration, alternate or hook of its repository counts here."""
    evil = (f"mkdir -p evil .git/hooks .git/objects/info; cp -r .git/refs .git/objects evil\n"
            f"git config -f evil/config core.fsmonitor 'touch {tmp_path}/hacked; false'\n"
            f"git config core.fsmonitor 'touch {tmp_path}/hacked; false'\n"
            "echo ../../evil > .git/commondir; echo /nowhere > .git/objects/info/alternates\n"
            f"for h in pre-commit reference-transaction post-checkout; do\n"
            f"printf '#!/bin/sh\\ntouch {tmp_path}/hacked\\n' > .git/hooks/$h; chmod 755 .git/hooks/$h; done\n"
            "rm -rf evil/objects evil/refs\n")
    daemon = farm(scripts={"implement": OWN + evil + "answer done\n"})
    run = daemon.submit(mine.path)
    done(daemon, run)
    assert mine.git("log", "--format=%s", "main..rl/1/t1").split("\n")[-1] == "own"
    assert not (tmp_path / "hacked").exists()


def test_what_git_ignores(farm, mine):
    """Also where the repository says it, not a file of the tree."""
    (mine.path / ".git" / "info" / "exclude").write_text("cache\n")
    daemon = farm(scripts={"implement": f"mkdir cache; echo x > cache/x\n{OWN}answer done\n"})
    run = daemon.submit(mine.path)
    done(daemon, run)
    assert "cache" not in mine.git("log", "--name-only", "rl/1/t1")


def test_what_nobody_may_read(monkeypatch, request, another_user, tmp_path):
    """By a user who is not root there."""
    user = "setpriv --reuid=65534 --regid=65534 --clear-groups"
    monkeypatch.setattr(test_copied, "SSH", SSH.replace('sh -c "$*"', f'{user} sh -c "$*"'))
    monkeypatch.setattr(test_copied, "HOST", test_copied.HOST.replace("echo", "chown 65534 {state} && echo"))
    farm, repo = request.getfixturevalue("farm"), request.getfixturevalue("repo")
    daemon = farm(scripts={"implement": "mkdir -p d/e; echo x > d/e/x; echo y > y; chmod 000 y d/e/x d/e d\n"
                                        "echo one > work.txt; chmod 555 .\nanswer done\n"})
    farm.log.chmod(0o755)
    subprocess.run(["chmod", "-R", "a+rwX", daemon.play.path], check=True)
    daemon.path.chmod(0o755)
    run = daemon.submit(repo.path)
    done(daemon, run)
    assert [result(repo, daemon, run, path) for path in ("d/e/x", "y", "work.txt")] == ["x", "y", "one"]
    assert all(is_empty(daemon, host) for host in farm.hosts)


def causes(daemon, run, words, count):
    """Wait until so many attempts were not started, for that cause."""
    found = []
    while len(found) < count:
        found = [a["cause"] for a in attempts(daemon, run) if a["cause"]]
    assert all(words in cause for cause in found), found


def test_it_is_this_machine(monkeypatch, request):
    """Nothing is copied to itself, and then removed."""
    monkeypatch.setattr(test_copied, "SSH", SSH.replace('nsenter -m -t "$(cat {log}/pid.$host)" ', ""))
    farm, repo = request.getfixturevalue("farm"), request.getfixturevalue("repo")
    daemon = farm(scripts={"implement": DONE})
    run = daemon.submit(repo.path)
    causes(daemon, run, "belongs to an rld; if to this one, choose files = shared", 2)
    assert (daemon.state / "worktrees" / "1" / "1-1" / ".git").is_file()
    assert (daemon.state / "attempts" / str(attempts(daemon, run)[0]["id"]) / "place" / "copy").exists()
    daemon.cancelled(run)
    assert daemon.play.starts(run) == []


def test_it_has_copies_of_another_machine(farm, repo):
    """Its runs have the same numbers."""
    daemon = farm(scripts={"implement": DONE})
    there = farm.hosts[0].path(daemon.state / "attempts")
    there.mkdir()
    os.symlink("other", there / "copied")
    run = daemon.submit(repo.path)
    done(daemon, run)
    causes(daemon, run, "there has copies of another machine", 1)


SLOW = """#!/bin/sh
case "$*" in *--exclude=/.git*) echo > {log}/at.here; sleep 60 ;; esac
exec /usr/bin/rsync "$@"
"""


def test_a_cancel_while_it_is_taken_there(farm, repo):
    """Nothing is left of what had arrived, the environment of the agent above all."""
    daemon = farm(scripts={"implement": DONE})
    os.mkfifo(farm.log / "at.here")
    (farm.log / "rsync").write_text(SLOW.format(log=farm.log))
    (farm.log / "rsync").chmod(0o755)
    run = daemon.submit(repo.path)
    (farm.log / "at.here").read_text()
    host = next(h for h in farm.hosts if h.name == attempts(daemon, run)[0]["node"])
    assert not is_empty(daemon, host)
    daemon.cancelled(run)
    assert is_empty(daemon, host) and daemon.play.starts(run) == []


KILLS = """#!/bin/sh
case "$*" in *--exclude=/.git*) if [ ! -e {log}/killed ]; then
	touch {log}/killed; kill -9 $(sed 's/.*) . \\([0-9]*\\) .*/\\1/' /proc/$PPID/stat); fi ;; esac
exec /usr/bin/rsync "$@"
"""


def test_the_follower_is_killed(farm, repo):
    """Before the agent has begun: then it does not begin, so another attempt costs nothing more."""
    daemon = farm(scripts={"implement": DONE})
    (farm.log / "rsync").write_text(KILLS.format(log=farm.log))
    (farm.log / "rsync").chmod(0o755)
    run = daemon.submit(repo.path)
    done(daemon, run)
    causes(daemon, run, "ended by signal 9, before it started the agent", 1)
