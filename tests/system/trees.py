# SPDX-License-Identifier: MIT
"""What tests of work trees, commits and merges share: tasks, what of a repository is its
user's, gates in git.

A test takes a Trees: a daemon, a repository, and beads that scripted agents do. `stop_at(WHERE)`
lets the next git process of that kind stand at a gate (STOPS), before its work or, as
"after-WHERE", behind it; so do agents by their role."""
import hashlib
import json
import os
import re
import shlex
import stat

import pytest
from stops import Stops

AGENTS = ("implement", "review", "fix", "commit")
# What the words of a git process tell about where a slot is, in the order of a task.
STEPS = {
    "base": '*" update-ref --no-deref refs/rl/"*"/base/"*',
    "lay": '*" worktree add "*',
    "note": '*" update-ref --stdin"',
    "measure": '*" diff-tree -p "*',
    "record": '*" commit -q "*',
    "merge": '*" merge-tree "*',
    "move": '*" update-ref --no-deref --stdin"',
    "conflict": '*" reset -q --hard "*',
    "pin": '*" update-ref --no-deref refs/rl/"*"/passed/"*',
    "save": '*" update-ref --no-deref refs/rl/"*"/salvage/"*',
    "clear": '*" update-ref --no-deref -d "*',
}
STOPS = AGENTS + tuple(STEPS) + tuple(f"after-{step}" for step in STEPS)

GIT = """#!/bin/sh
PLAY=%s
case $* in
%s
*) exec /usr/bin/git "$@" ;;
esac
stand() {
	if rm "$PLAY/stop.$1" 2> /dev/null; then
		echo $$ > "$PLAY/$1.here"
		read -r word < "$PLAY/$1.go"
	fi
}
stand "$at"
[ -e "$PLAY/stop.after-$at" ] || exec /usr/bin/git "$@"
/usr/bin/git "$@"
status=$?
stand "after-$at"
exit $status
"""

STOP = 'if rm "$PLAY/stop.$role" 2> /dev/null; then gate "$role"; fi\n'
WORK = 'echo "$RL_TASK_ID" > "$RL_TASK_ID.txt"\nanswer done\n'


def git_with_gates(directory, play):
    """A directory for PATH whose git stands at the gates of play."""
    cases = "\n".join(f"{pattern}) at={name} ;;" for name, pattern in STEPS.items())
    directory.mkdir()
    (directory / "git").write_text(GIT % (shlex.quote(str(play)), cases))
    (directory / "git").chmod(0o755)
    return directory


def beads(repo, *ids, commit=True, **more):
    """Tasks of these ids, in this order, without bd."""
    lines = [{"id": each, "title": f"do {each}", "status": "open", "priority": n, **more} for n, each in enumerate(ids)]
    repo.write(".beads/issues.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    if commit:
        repo.git("add", ".beads")
        repo.git("commit", "-q", "-m", "beads")


def files_of(directory):
    """Every file and link below, .git aside: path in bytes -> (kind, bytes)."""
    found, root = {}, os.fsencode(directory)
    for at, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f != b".git"]
        for name in names + [f for f in folders if os.path.islink(os.path.join(at, f))]:
            path = os.path.join(at, name)
            mode = os.lstat(path).st_mode
            if name == b".git" or not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
                continue
            if stat.S_ISLNK(mode):
                found[os.path.relpath(path, root)] = ("link", os.readlink(path))
            else:
                with open(path, "rb") as file:
                    found[os.path.relpath(path, root)] = ("program" if mode & 0o100 else "file", file.read())
    return found


def of_the_user(repo):
    """All of a repository that a run in work trees has no business with; only refs/rl, branches rl/
    and who has reserved these are ours."""
    git = repo.path / ".git"
    logs = [p for p in (git / "logs").rglob("*") if p.is_file() and "refs/heads/rl" not in str(p)
            and "refs/rl" not in str(p)] if (git / "logs").exists() else []
    return {
        "status": repo.git("status", "--porcelain=v2", "--branch", "--untracked-files=all", "--ignored", "-z"),
        "stash": repo.git("stash", "list"),
        "index": hashlib.sha256((git / "index").read_bytes()).hexdigest() if (git / "index").exists() else None,
        "HEAD": (git / "HEAD").read_bytes(),
        "config": re.sub(rb'\[branch "rl/[^\n]*\n\trldInstance = [0-9a-f]{8}\n', b"", (git / "config").read_bytes()),
        "reflog": {str(p.relative_to(git)): p.read_bytes() for p in logs},
        "refs": [line for line in repo.git("for-each-ref").splitlines()
                 if "\trefs/rl/" not in line and "\trefs/heads/rl/" not in line],
        "locks": [str(p) for p in git.rglob("*.lock")],
        "files": files_of(repo.path),
    }


def work_trees(repo):
    """Paths of the work trees that git knows beside the user's own."""
    return [line[9:] for line in repo.git("worktree", "list", "--porcelain").splitlines()
            if line.startswith("worktree ")][1:]


def commits(repo, *what):
    """[(commit, parents, subject)] from the oldest on."""
    lines = repo.git("log", "--reverse", "--format=%H%x00%P%x00%s", *what).splitlines()
    return [(c, p.split(), s) for c, p, s in (line.split("\0") for line in lines)]


def names_in(repo, tree):
    return set(repo.git("ls-tree", "-r", "-z", "--name-only", tree).strip("\0").split("\0")) - {""}


class Trees(Stops):
    def __init__(self, make_daemon, repo, tmp_path, scripts=None, config=None, name="d", gates=(), **kwargs):
        self.repo, play = repo, tmp_path / f"{name}.play"
        tools = git_with_gates(tmp_path / f"{name}.tools", play)
        scripts = {"implement": WORK, "review": "pass\n", **(scripts or {})}
        scripts = {role: STOP + text for role, text in scripts.items()}
        config = {"limits": {"grace": "1s"}, **(config or {})}
        config["agent.play"] = {"writable": [str(play)], **config.get("agent.play", {})}
        self.daemon = make_daemon(name=name, scripts=scripts, gates=STOPS + tuple(gates), config=config,
                                  environment={"PATH": f"{tools}:/usr/local/bin:/usr/bin:/bin"}, **kwargs)
        self.play = self.daemon.play

    def set(self, **scripts):
        """Replace scripts: set(review="…", review_1="…")."""
        self.play.set({role.replace("_", "."): STOP + text for role, text in scripts.items()})

    def submit(self, review=None, **params):
        """A run over the beads of the repository, or over a task; each in a work tree of its own.
        review: keys, or True."""
        params = {"workdir": str(self.repo.path), "isolation": "worktree", **params}
        if "task" not in params and "stories" not in params and "workflow" not in params:
            params.setdefault("beads", True)
        if review:
            params["review"] = {"enabled": True, **(review if isinstance(review, dict) else {})}
        return self.daemon.call("run.submit", **params)["id"]

    def run(self, **params):
        row = self.daemon.ended(self.submit(**params))
        told = {t["branch"] for t in row["tasks"]} - {None}
        there = set(self.repo.git("for-each-ref", "--format=%(refname:short)", "refs/heads/rl").split())
        assert told <= there, "a branch is told that is not there"
        return row

    def roles(self, number=1):
        return [s[1] for s in self.play.starts(run=number)]

    def tasks(self, number=1):
        return {t["id"]: t for t in self.daemon.run(number)["tasks"]}

    def slot(self, number=1, task=None):
        return next(s for s in self.daemon.run(number)["slots"] if task in (None, s["task"]))

    def salvage(self, number=1):
        return self.daemon.call("salvage.list", run=number)["salvage"]

    def restored(self, saved, directory):
        """What rlctl salvage restore gives back of it."""
        self.daemon.rlctl("salvage", "restore", saved["id"], directory, check=0)
        return files_of(directory)

    def is_linear(self, row):
        """The result branch stands on the base, without a merge: its commits."""
        found = commits(self.repo, f"{row['base_commit']}..{row['result_branch']}")
        parent = row["base_commit"]
        for commit, parents, _ in found:
            assert parents == [parent], found
            parent = commit
        return found


@pytest.fixture
def trees(make_daemon, repo, tmp_path):
    """trees(scripts=…) → a Trees on the repository of the test."""
    return lambda **kwargs: Trees(make_daemon, kwargs.pop("repo", repo), tmp_path, **kwargs)
