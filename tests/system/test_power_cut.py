# SPDX-License-Identifier: MIT
"""Power cuts: state and repositories lie on a file system in an image. At a random event everything
stops, the image is copied as far as it was synced, and the daemon starts on the copy, in another
boot. CUTS=n, SEED=n."""
import os
import random
import shutil
import signal
import subprocess

import pytest
from kept import (KINDS, SCRIPTS, Told, evidence_is_sound, fill_repository, nothing_has_gone, paid_once,
                  passed_is_whole, sound)
from rld import Repo, close_clients, descendants, reap_adopted, wait_gone

CUTS = int(os.environ.get("CUTS", "4"))
SEED = int(os.environ.get("SEED", str(random.randrange(1 << 32))))
CUTS_OF_A_LIFE = 4
BOOT_ID = "/proc/sys/kernel/random/boot_id"
# Nothing reaches the disk but what is synced: neither by time nor because a file is replaced.
OPTIONS = "loop,commit=300,noauto_da_alloc"
# A mount namespace of the daemon's own, in which the boot has the id of the file $0.
IN_A_BOOT = ["unshare", "-m", "sh", "-c", f'mount --bind "$0" {BOOT_ID} && exec "$@"']


def run(*argv):
    return subprocess.run([str(word) for word in argv], capture_output=True, text=True)


class Machine:
    def __init__(self, path):
        self.image, self.place, self.boot = path / "image", path / "d", path / "boot_id"
        self.boots = 0
        self.place.mkdir()

    def start(self):
        """Another boot; why not, or nothing. What was left locked is older than that."""
        self.boots += 1
        self.boot.write_text(f"{self.boots:08x}-0000-4000-8000-000000000000\n")
        why = run("mount", "-o", OPTIONS, self.image, self.place).stderr.strip()
        for lock in self.place.rglob("*.lock"):
            os.utime(lock, (0, 0))
        return why

    def new_disk(self):
        run("umount", "-l", self.place)
        with open(self.image, "wb") as file:
            file.truncate(256 << 20)
        made = run("mkfs.ext4", "-q", "-F", self.image)
        return made.stderr.strip() or self.start()

    def cut(self, daemon):
        """Everything stands still, the image is copied below the page cache, all is killed."""
        stopped = set()
        while found := [pid for pid in [daemon.pid, *descendants(daemon.pid)] if pid not in stopped]:
            for pid in found:
                stopped.add(pid)
                send(pid, signal.SIGSTOP)
        after = self.image.with_name("after")
        run("cp", "--sparse=always", self.image, after)
        for pid in stopped:
            send(pid, signal.SIGKILL)
        for pid in stopped:
            wait_gone(pid)
        daemon.exited()
        close_clients()
        reap_adopted()
        assert run("umount", self.place).returncode == 0, run("fuser", "-vm", self.place).stderr
        after.rename(self.image)
        assert not (why := self.start()), why


def send(pid, signum):
    try:
        os.kill(pid, signum)
    except ProcessLookupError:
        pass


@pytest.fixture
def machine(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can mount an image")
    if shutil.which("mkfs.ext4") is None:
        pytest.skip("mkfs.ext4 is missing: install e2fsprogs")
    made = Machine(tmp_path)
    if why := made.new_disk():
        pytest.skip(f"no image can be mounted here: {why}")
    if why := run(*IN_A_BOOT, made.boot, "true").stderr.strip():
        pytest.skip(f"no file can be mounted over {BOOT_ID} here: {why}")
    yield made
    run("umount", "-l", made.place)


def test_the_work_is_synced(make_daemon, repo):
    """Before the exit record of each attempt that changes it."""
    daemon = make_daemon(scripts=SCRIPTS)
    run = daemon.review(repo.path, review={"checks": ["true"]})
    assert daemon.ended(run)["state"] == "succeeded"
    synced = {a["role"] for a in daemon.attempts(run)
              if "\nsyncs_work 1\n" in (daemon.state / "attempts" / str(a["id"]) / "job").read_text()}
    assert synced == {"implement", "fix"}


class Life:
    """Runs of each kind on a new disk, until all have ended."""

    def __init__(self, daemon, machine):
        self.daemon, self.machine, self.told = daemon, machine, Told()
        self.repos = {kind: fill_repository(Repo(machine.place / kind)) for kind in KINDS}
        for repo in self.repos.values():
            repo.write("mine.txt", "mine\n")
        run("sync", "-f", machine.place)
        daemon.start()
        self.runs = {}
        for kind, params in KINDS.items():
            self.runs[daemon.review(self.repos[kind].path, on_lost="retry", **params)] = kind

    def over(self):
        return all(number in self.told.ends for number in self.runs)

    def live(self, events):
        """Hear so many events, or all there are."""
        with self.daemon.events(since=self.told.last) as told:
            self.repeat_lost()
            while events > 0 and not self.over():
                event = told.next()
                self.told.take(event)
                events -= 1
                if event["type"] == "hold.opened":
                    self.repeat_lost()

    def repeat_lost(self):
        """An attempt that several cuts have hit waits for a human."""
        for hold in self.daemon.call("hold.list", state="open")["holds"]:
            if hold["kind"] == "lost":
                self.daemon.call("hold.rework", id=hold["id"])

    def check(self):
        """What was told, while others may be at work."""
        wrong = self.told.taken_back(self.daemon, self.runs)
        for number, kind in self.runs.items():
            if self.told.ends.get(number) == "succeeded":
                wrong += passed_is_whole(self.daemon, self.repos[kind], self.daemon.run(number))
            wrong += nothing_has_gone(self.repos[kind])
        return wrong

    def check_end(self):
        wrong = self.check()
        for number, kind in self.runs.items():
            row = self.daemon.run(number)
            if row["state"] != "succeeded":
                wrong.append(f"{kind}: {row['state']}: {row.get('cause') or row.get('reason')}")
            else:
                wrong += paid_once(self.daemon, number)
        self.daemon.stop()
        wrong += evidence_is_sound(self.daemon)
        for repo in self.repos.values():
            wrong += sound(repo.path / ".git")
        return wrong


@pytest.mark.deadline(60 + 20 * CUTS)
def test_power_cuts(machine, make_daemon):
    print(f"SEED={SEED} CUTS={CUTS}")
    chance = random.Random(SEED)
    daemon = make_daemon(start=False, scripts=SCRIPTS, prefix=[*IN_A_BOOT, machine.boot],
                         config={"parallel": 4, "limits": {"disk_floor": 0}})
    config, daemon.log_path = daemon.config.read_text(), machine.image.with_name("log")
    cuts = told = lives = runs = 0
    while cuts < CUTS:
        if lives > 0:
            (daemon.play.path / "starts").write_text("")
            assert not (why := machine.new_disk()), why
            for each in (daemon.state, daemon.home):
                each.mkdir(mode=0o700, exist_ok=True)
            daemon.config.write_text(config)
        else:
            run("sync", "-f", machine.place)
        life = Life(daemon, machine)
        lives, runs = lives + 1, runs + len(life.runs)
        for _ in range(min(CUTS_OF_A_LIFE, CUTS - cuts)):
            life.live(chance.randrange(1, 60))
            cuts, told = cuts + 1, told + len(life.told.ends)
            machine.cut(daemon)
            daemon.start()
            wrong = life.check()
            assert not wrong, (f"cut {cuts}", *wrong)
        life.live(1 << 30)
        wrong = life.check_end()
        assert not wrong, (f"after cut {cuts}", *wrong)
    print(f"{cuts} cuts in {lives} lives of {runs} runs; {told} times an end had been told before a cut")
