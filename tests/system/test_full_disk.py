# SPDX-License-Identifier: MIT
"""A full disk below the state directory at the beginning of each phase of a run: it waits, and
continues when there is space. FILLS=n: with so many amounts of space left."""
import os
import select
import shutil
import subprocess
from pathlib import Path

import pytest
from kept import SCRIPTS, evidence_is_sound, fill_repository, nothing_has_gone, paid_once, passed_is_whole
from rld import ENDS, RL_GIT, RLD, SHIM, Repo, RpcError, descendants, proc_stat

FILLS = int(os.environ.get("FILLS", "1"))
LEFT = [0, 1, 2, 3, 5, 8, 13, 21, 34, 55]	# files, or pages
PAGE = 4096
NO_SPACE, SPACE = "no space left for", "the database has space again"
KINDS = {
    "shared": {"commit": "auto", "review": {"checks": ["test -s README"]}},
    "worktree": {"isolation": "worktree", "commit": "auto", "integrate": "merge",
                 "review": {"checks": ["test -s README"]}, "check_on_base": "require"},
}
# Words of operations and roles of attempts that every run of the kind begins.
PHASES = {
    "shared": {"snapshot", "implement", "measure", "checkout", "check", "review", "verify", "fix", "commit", "pin"},
    "worktree": {"base", "worktree", "checkout", "check", "implement", "measure", "review", "verify", "fix",
                 "commit", "merge", "pin", "clear"},
}

# As SCRIPTS, but in a work tree on that disk: agents that have no room for their work wait for it.
PATIENT = {name: text if name == "review" else
           "until " + text.replace("\n", " 2> /dev/null; do touch \"$PLAY/no-room\"; done\n", 1)
           for name, text in SCRIPTS.items()}

# rl-shim, which in the run under test, by its HOME, waits before each start until the test lets it
# go: at a pipe that it has put into the directory `held`
SHIM_THAT_HOLDS = """#!/bin/sh
if [ "$HOME" = {tools}/held ]; then
	mkfifo {tools}/pipe.$$
	phase=$RL_ROLE
	[ -n "$phase" ] || phase=$(sed -n '/rl-git$/{{n;s/^argv //p;q}}' "$1/job")
	mv {tools}/pipe.$$ "{tools}/held/$$ $phase"
	read -r word < "{tools}/held/$$ $phase"
fi
exec {shim} "$1"
"""


class Held:
    """A shim before its start."""

    def __init__(self, pipe):
        self.pipe, self.pid, self.phase = pipe, int(pipe.name.split()[0]), pipe.name.split()[1]

    def go(self):
        self.pidfd, self.reaped = os.pidfd_open(self.pid), self.faults_of_children()
        with open(self.pipe, "w") as pipe:
            self.pipe.unlink()
            pipe.write("go\n")

    def ended(self):
        return bool(select.select([self.pidfd], [], [], 0)[0])

    def faults_of_children(self):
        """A number that grows when it has reaped a child."""
        return int(Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[8])

    def waits(self):
        """Whether it waits for space to write down the end of its child."""
        try:
            return self.faults_of_children() > self.reaped and proc_stat(self.pid)[0] == "S" \
                and not descendants(self.pid)
        except (OSError, TypeError):		# it has just ended
            return False


class Tools:
    def __init__(self, path):
        self.path = path
        path.mkdir()
        (path / "held").mkdir()
        for program in (RLD, RL_GIT):
            shutil.copy(program, path)
        (path / "rl-shim").write_text(SHIM_THAT_HOLDS.format(tools=path, shim=SHIM))
        (path / "rl-shim").chmod(0o755)

    def held(self):
        return [Held(pipe) for pipe in (self.path / "held").iterdir()]


class Disk:
    """The small file system, full but for so many pages or files."""

    def __init__(self, path, mode):
        self.mode, self.fill_dir = mode, path / "fill"

    def fill(self, left):
        self.fill_dir.mkdir()
        if self.mode == "bytes":
            with open(self.fill_dir / "all", "wb", buffering=0) as file:
                for size in (1 << 16, PAGE):
                    write_all(file, b"x" * size)
                file.truncate(max(0, file.tell() - left * PAGE))
            return
        made = 0
        try:
            while True:
                (self.fill_dir / str(made)).touch(exist_ok=False)
                made += 1
        except OSError:
            for number in range(made - left, made):
                (self.fill_dir / str(number)).unlink()

    def free(self):
        shutil.rmtree(self.fill_dir)


def write_all(file, data):
    try:
        while True:
            file.write(data)
    except OSError:
        pass


@pytest.fixture(params=["bytes", "inodes"])
def disk(tmp_path, request):
    path = tmp_path / "d" / "state"
    path.mkdir(parents=True)
    options = f"size={16 + 16 * FILLS}m,mode=700"
    if request.param == "inodes":
        options += f",nr_inodes={3000 + 3000 * FILLS}"
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", path], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no tmpfs can be mounted here: {done.stderr.strip()}")
    yield Disk(path, request.param)
    subprocess.run(["umount", "-l", path], check=True)


class Trial:
    def __init__(self, make_daemon, disk, path):
        self.disk, self.path, self.tools = disk, path, Tools(path / "tools")
        self.daemon = make_daemon(start=False, scripts=PATIENT, config={"parallel": 4, "limits": {"disk_floor": 0}})
        self.daemon.program, self.daemon.log_path = self.tools.path / RLD.name, path / "log"
        self.daemon.start()
        self.no_room = self.daemon.play.path / "no-room"
        self.fills = self.waited = 0

    def end(self):
        assert self.daemon.running()
        self.daemon.stop()
        return evidence_is_sound(self.daemon)

    def next_held(self, run):
        """A shim of the run, when one is held; None when the run has ended."""
        while not (held := self.tools.held()):
            if self.daemon.run(run)["state"] in (*ENDS, "held"):
                return None
        return held[0]

    def while_full(self, run, held, left, shim_has_space):
        """One phase, from before its start until the run waits for space or has got through. A shim
        that has space never waits: it only looks as if it did, for a moment, before it ends."""
        logged = self.daemon.log().count(NO_SPACE)
        self.disk.fill(left)
        self.no_room.unlink(missing_ok=True)
        held.go()
        while not held.ended() and (shim_has_space or not held.waits()) and not self.no_room.exists():
            pass
        # then the daemon reads its end, and begins the next phase or waits
        while held.ended() and not self.waits(run, logged) and not self.tools.held():
            if self.daemon.run(run)["state"] in (*ENDS, "held"):
                break
        os.close(held.pidfd)
        self.fills, self.waited = self.fills + 1, self.waited + self.waits(run, logged)

    def waits(self, run, logged):
        row = self.daemon.run(run)
        return (row.get("wait") == "host" or any(slot.get("wait") == "host" for slot in row["slots"])
                or self.daemon.log().count(NO_SPACE) > logged)

    def resumed(self):
        """The daemon has seen that there is space: what it says of the next fill is about that."""
        while (log := self.daemon.log()).count(SPACE) < log.count(NO_SPACE):
            pass

    def submit_more(self, repo):
        """It is kept, or refused for lack of space."""
        try:
            return [self.daemon.submit(repo.path)]
        except RpcError as error:
            assert error.data["retryable"] and error.data["kind"] == "no-space", error
            return []

    def run(self, kind, left, only=None, size=0):
        """One run, with a full disk as each of its phases begins, or only that one. Its repository
        has a file of that size."""
        name = f"{kind}-{left}"
        repo, other = (fill_repository(Repo(self.path / each / name)) for each in ("repo", "other"))
        repo.write("mine.txt", "mine\n")
        (repo.path / "large").write_bytes(b"large\n" * (size // 6))
        run = self.daemon.review(repo.path, **KINDS[kind],
                                 environment={**self.daemon.environment, "HOME": str(self.tools.path / "held")})
        more, phases = [], set()
        while held := self.next_held(run):
            if held.phase in phases or held.phase != (only or held.phase):
                held.go()
                os.close(held.pidfd)
                continue
            phases.add(held.phase)
            try:
                self.while_full(run, held, left, shim_has_space=bool(only))
                more += self.submit_more(other)
                assert run in [row["id"] for row in self.daemon.call("run.list")["runs"]]
            finally:
                self.disk.free()
            self.resumed()
        row = self.daemon.ended(run)
        wrong = [] if row["state"] == "succeeded" else [f"{row['state']}: {row.get('cause') or row.get('reason')}"]
        wrong = wrong or passed_is_whole(self.daemon, repo, row) + paid_once(self.daemon, run)
        wrong += [f"never began: {phase}" for phase in ({only} if only else PHASES[kind]) - phases]
        wrong += nothing_has_gone(repo)
        for number in more:
            if (state := self.daemon.ended(number)["state"]) != "succeeded":
                wrong.append(f"a run that was submitted meanwhile: {state}, {self.daemon.run(number).get('cause')}")
        return [f"{self.disk.mode}, {name} left: {words}" for words in wrong]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.deadline(60 + 60 * FILLS)
def test_full_at_each_phase(disk, make_daemon, tmp_path, kind):
    trial = Trial(make_daemon, disk, tmp_path)
    wrong = [line for left in LEFT[:FILLS] for line in trial.run(kind, left)] + trial.end()
    print(f"{disk.mode}, {kind}: {trial.fills} fills, the run waited {trial.waited} times")
    assert not wrong, wrong


@pytest.mark.parametrize("disk", ["bytes"], indirect=True)
def test_full_in_the_middle_of_a_checkout(disk, make_daemon, tmp_path):
    """It may begin, and has no room for a file."""
    trial = Trial(make_daemon, disk, tmp_path)
    wrong = trial.run("shared", 256, only="checkout", size=2 << 20) + trial.end()
    assert not wrong and trial.waited == 1, wrong
