# SPDX-License-Identifier: MIT
"""What must be on the disk whatever has happened to the machine: results, objects, paid work."""
import collections
import os
import subprocess

from rld import ENDS

PAID = ["implement", "review", "fix", "review"]
# One that was lost and comes again does the same: reviews go by their round.
SCRIPTS = {
    "implement": "echo one > work.txt\nanswer 'first answer'\n",
    "fix": "printf 'one\\ntwo\\n' > work.txt\nanswer 'second answer'\n",
    "review": 'if [ "$RL_REVIEW_ROUND" = 1 ]; then drift "add a second line"; else pass; fi\n',
}
FILES = {"README": "scratch\n", "source/a.c": "int a;\n", "source/b.c": "int b;\n"}
# What may be wrong with a run of the user's choosing: each takes another way through the daemon.
KINDS = {
    "shared": {},
    "committed": {"commit": "auto"},
    "checked": {"review": {"checks": ["test -s work.txt"]}},
    "worktree": {"isolation": "worktree", "commit": "auto", "integrate": "merge"},
}


def fill_repository(repo):
    for name, text in FILES.items():
        repo.write(name, text)
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "files")
    return repo


def git_of(directory, *words):
    done = subprocess.run(["git", f"--git-dir={directory}", "-c", "safe.directory=*", *words], capture_output=True,
                          env={"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null",
                               "GIT_CONFIG_NOSYSTEM": "1"})
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


def sound(directory):
    """Every object of a git directory is what its name says, and every ref leads to one."""
    status, said = git_of(directory, "fsck", "--full", "--no-dangling", "--no-progress")
    bad = [line for line in said.splitlines() if not line.startswith(("notice:", "dangling "))]
    return [] if status == 0 and not bad else [f"{directory}: git fsck: {status}, {bad[:5]}"]


def evidence_is_sound(daemon):
    """The evidence repositories, and every tree that a row names. The daemon is stopped."""
    wrong = []
    for directory in sorted(daemon.state.glob("evidence/*.git")):
        wrong += sound(directory)
    rows = daemon.query("SELECT run, number, tree, evidence FROM product JOIN run ON run.id = product.run")
    for row in rows:
        status, said = git_of(daemon.state / "evidence" / f"{row['evidence']}.git", "rev-list", "--objects",
                              "--missing=print", row["tree"])
        lost = [line for line in said.splitlines() if line.startswith("?")]
        if status or lost:
            wrong.append(f"product {row['number']} of run {row['run']}: {status}, {lost[:3] or said[:200]}")
    if not rows:
        wrong.append("there is no product")
    return wrong


def passed_is_whole(daemon, repo, row):
    """The result of a run that has passed: all files of the repository, and the work."""
    wrong = []
    for where in filter(None, (row.get("result_ref"), row.get("result_commit"))):
        for name, text in {**FILES, "work.txt": "one\ntwo\n"}.items():
            status, said = git_of(repo.path / ".git", "cat-file", "blob", f"{where}:{name}")
            if (status, said) != (0, text):
                wrong.append(f"run {row['id']}: {where}:{name} is {said[:200]!r}")
    if not row.get("result_ref"):
        wrong.append(f"run {row['id']} has no result: {row}")
    return wrong


def nothing_has_gone(repo):
    """What a person has in the directory stays there."""
    return [f"{repo.path}/{name} has gone" for name, text in {**FILES, "mine.txt": "mine\n"}.items()
            if not (repo.path / name).exists() or repo.read(name) != text]


def paid_once(daemon, run, reworked=0):
    """Each step of the work has one agent that ended by itself, and no other was started but those
    that were lost, or that a human had done again."""
    attempts = [a for a in daemon.attempts(run) if a["role"] != "check"]
    wrong = []
    started = collections.Counter(role for _, role, *_ in daemon.play.starts(run=run))
    lost = collections.Counter(a["role"] for a in attempts if a["state"] == "lost")
    for role, times in collections.Counter(PAID).items():
        ended = sum(1 for a in attempts if a["role"] == role and a.get("exit_code") == 0)
        if not times <= ended <= times + reworked:
            wrong.append(f"run {run}: {role} has ended {ended} times")
        if started[role] > times + lost[role] + reworked:
            wrong.append(f"run {run}: {role} was started {started[role]} times, {lost[role]} were lost")
    return wrong


class Told:
    """What the daemon has said so far, which no fault may take back."""

    def __init__(self):
        self.ends, self.exits, self.last = {}, {}, 0

    def take(self, event):
        self.last = max(self.last, event["seq"])
        if event["type"] == "run.state" and event["state"] in ENDS:
            self.ends[event["run"]] = event["state"]
        if event["type"] == "attempt.ended" and "exit_code" in event:
            self.exits[event["attempt"]] = event["exit_code"]

    def taken_back(self, daemon, runs):
        wrong = [f"run {run} ended as {state}, and is {daemon.run(run)['state']}"
                 for run, state in self.ends.items() if daemon.run(run)["state"] != state]
        known = {a["id"]: a for run in runs for a in daemon.attempts(run)}
        wrong += [f"attempt {number} had ended with {code}: {known.get(number)}" for number, code in self.exits.items()
                  if number not in known or known[number].get("exit_code") != code]
        return wrong
