# SPDX-License-Identifier: MIT
"""A full disk below the state directory at the beginning of each phase of a run: it waits, and
continues when there is space. FILLS=n: with so many amounts of space left."""
import os
import shutil
import subprocess

import pytest
from kept import SCRIPTS, evidence_is_sound, fill_repository, nothing_has_gone, paid_once, passed_is_whole
from rld import ENDS, RL_GIT, RLD, SHIM, Repo, RpcError, alive

FILLS = int(os.environ.get("FILLS", "1"))
LEFT = [0, 1, 2, 3, 5, 8, 13, 21, 34, 55]	# files, or pages
PAGE = 4096
NO_SPACE = "no space left for"
# Which step begins a phase: the word of an operation, or the role of an attempt.
PHASES = {
    "shared": ["snapshot", "implement", "measure", "checkout", "check", "review", "verify", "fix", "commit", "pin"],
    "worktree": ["base", "worktree", "merge", "clear"],
}
KINDS = {
    "shared": {"commit": "auto", "review": {"checks": ["test -s work.txt"], "workspace": "snapshot"}},
    "worktree": {"isolation": "worktree", "commit": "auto", "integrate": "merge"},
}

# rl-shim, whose first start for what the file `hold` names waits until the test lets it go
SHIM_THAT_HOLDS = """#!/bin/sh
if [ -e {tools}/hold ] && read -r phase < {tools}/hold &&
	{{ [ "$RL_ROLE" = "$phase" ] || grep -aqx "argv $phase" "$1/job"; }} && mkdir {tools}/held 2>/dev/null; then
	read -r word < {tools}/go
fi
exec {shim} "$1"
"""


class Tools:
    def __init__(self, path):
        self.path = path
        path.mkdir()
        os.mkfifo(path / "go")
        for program in (RLD, RL_GIT):
            shutil.copy(program, path)
        (path / "rl-shim").write_text(SHIM_THAT_HOLDS.format(tools=path, shim=SHIM))
        (path / "rl-shim").chmod(0o755)

    def hold(self, phase):
        (self.path / "hold").write_text(f"{phase}\n")

    def arrived(self):
        return (self.path / "held").exists()

    def go(self, following):
        """following: the phase to hold next, or None."""
        (self.path / "hold").unlink()
        (self.path / "held").rmdir()
        if following:
            self.hold(following)
        (self.path / "go").write_text("go\n")


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
    options = "size=32m,mode=700" + (",nr_inodes=6000" if request.param == "inodes" else "")
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", path], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no tmpfs can be mounted here: {done.stderr.strip()}")
    yield Disk(path, request.param)
    subprocess.run(["umount", "-l", path], check=True)


class Trial:
    def __init__(self, daemon, tools, disk, path):
        self.daemon, self.tools, self.disk, self.path = daemon, tools, disk, path
        self.fills = self.waited = 0

    def stuck(self, run, role, logged):
        """Whether the run waits for space or has got through without; until then it works."""
        row = self.daemon.run(run)
        started = self.daemon.play.starts(run=run, role=role)
        return (self.tools.arrived() or row["state"] in (*ENDS, "held") or row.get("wait") == "host"
                or any(slot.get("wait") == "host" for slot in row["slots"])
                or self.daemon.log().count(NO_SPACE) > logged
                or bool(started) and not alive(started[-1][3]))

    def submit_more(self, repo):
        """It is kept, or refused for lack of space."""
        try:
            return [self.daemon.submit(repo.path)]
        except RpcError as error:
            assert error.data["retryable"] and error.data["kind"] == "no-space", error
            return []

    def run(self, kind, left):
        """One run, with a full disk as each of its phases begins."""
        name = f"{kind}-{left}"
        repo, other = (fill_repository(Repo(self.path / each / name)) for each in ("repo", "other"))
        repo.write("mine.txt", "mine\n")
        self.tools.hold(PHASES[kind][0])
        run = self.daemon.review(repo.path, **KINDS[kind])
        more = []
        for phase, following in zip(PHASES[kind], [*PHASES[kind][1:], None]):
            while not self.tools.arrived():
                assert (row := self.daemon.run(run))["state"] not in (*ENDS, "held"), (kind, phase, row)
            logged = self.daemon.log().count(NO_SPACE)
            self.disk.fill(left)
            self.tools.go(following)
            while not self.stuck(run, phase, logged):
                pass
            self.fills, self.waited = self.fills + 1, self.waited + (not self.tools.arrived())
            more += self.submit_more(other)
            assert run in [row["id"] for row in self.daemon.call("run.list")["runs"]]
            self.disk.free()
        row = self.daemon.ended(run)
        wrong = [] if row["state"] == "succeeded" else [f"{row['state']}: {row.get('cause') or row.get('reason')}"]
        wrong = wrong or passed_is_whole(self.daemon, repo, row) + paid_once(self.daemon, run)
        wrong += nothing_has_gone(repo)
        for number in more:
            if (state := self.daemon.ended(number)["state"]) != "succeeded":
                wrong.append(f"a run that was submitted meanwhile: {state}, {self.daemon.run(number).get('cause')}")
        return [f"{self.disk.mode}, {name} left: {words}" for words in wrong]


@pytest.mark.broad
@pytest.mark.each
@pytest.mark.deadline(60 + 60 * FILLS)
def test_full_at_each_phase(disk, make_daemon, tmp_path):
    tools = Tools(tmp_path / "tools")
    daemon = make_daemon(start=False, scripts=SCRIPTS, config={"parallel": 4, "limits": {"disk_floor": 0}})
    daemon.program, daemon.log_path = tools.path / RLD.name, tmp_path / "log"
    daemon.start()
    trial = Trial(daemon, tools, disk, tmp_path)
    wrong = [line for left in LEFT[:FILLS] for kind in KINDS for line in trial.run(kind, left)]
    assert daemon.running()
    daemon.stop()
    wrong += evidence_is_sound(daemon)
    print(f"{disk.mode}: {trial.fills} fills, the run waited {trial.waited} times")
    assert not wrong, wrong
