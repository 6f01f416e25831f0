# SPDX-License-Identifier: MIT
"""SIGKILL of the daemon, of shims, of rl-git and of all at once, while many runs are at work."""
import collections
import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "system"))
import kept  # noqa: E402
import rld as harness  # noqa: E402
from rld import ENDS, Closed, Daemon, Play, Repo  # noqa: E402


class Kind(NamedTuple):
    name: str
    help: str


KIND = Kind("kill", "SIGKILL of rld, rl-shim, rl-git, or of a whole process namespace, at random moments under load")
CLIENTS = 4
NAMESPACE = ["unshare", "--pid", "--kill-child", "--fork", "--mount-proc"]
LIVES = 3           # rounds of submits in a namespace, at most
PAUSES = (0, 0.05, 0.2, 1)       # seconds, at most, before a kill


def program_of(pid):
    with contextlib.suppress(OSError):
        return os.path.basename(os.readlink(f"/proc/{pid}/exe"))


def can_unshare():
    return subprocess.run([*NAMESPACE, "true"], capture_output=True).returncode == 0


class Load:
    def __init__(self, path, seed, active):
        self.chance, self.wrong = random.Random(f"{seed} kill"), []
        self.path, self.seed, self.active = path, seed, active
        self.daemon = Daemon(path / "d", Play(path / "play", kept.SCRIPTS))
        self.daemon.write_config({"parallel": active, "limits": {"grace": "2s"}})
        self.repos = [Repo(path / f"r{i}", commit=False) for i in range(active)]
        self.asked, self.acked = 0, {}
        self.hits, self.killed = collections.Counter(), collections.Counter()

    def fill(self):
        for repo in self.repos:
            kept.fill_repository(repo)
            repo.write("mine.txt", "mine\n")

    # ---- load

    def submit(self):
        """Each directory has a run; what of them is answered before the kill is chance."""
        busy = {run["workdir"] for run in self.rows() if run["state"] not in ENDS}
        free = [repo for repo in self.repos if str(repo.path) not in busy]
        clients = [self.daemon.connect() for _ in range(CLIENTS)]
        waiting = collections.defaultdict(dict)
        for i, repo in enumerate(free):
            rpc, key = clients[i % CLIENTS], f"key {self.asked}"
            request = rpc.request("run.submit", {
                "task": "do it", "workdir": str(repo.path), "key": key, "review": {"enabled": True},
                "on_lost": "retry", **({"commit": "auto"} if self.asked % 2 else {})})
            waiting[rpc][request["id"]] = key
            self.asked += 1
            rpc.send(request)
        return waiting

    def take(self, rpc, keys, all_of_them):
        with contextlib.suppress(Closed, ConnectionError):
            for _ in range(len(keys) if all_of_them else self.chance.randrange(len(keys) + 1)):
                answer = rpc.reply()
                self.acked[keys.pop(answer["id"])] = answer["result"]["id"]

    def rows(self):
        rows, more = [], {}
        with self.daemon.connect() as rpc:
            while True:
                page = rpc.call("run.list", limit=100, **more)
                rows += page["runs"]
                if page.get("next") is None:
                    return rows
                more = {"cursor": page["next"]}

    # ---- kills

    def living(self, name):
        """Not what it has forked, and what has not become another program yet."""
        return [pid for pid in harness.descendants() if program_of(pid) == name
                and (stat := harness.proc_stat(pid)) is not None and program_of(stat[1]) != name]

    def kill_daemon(self):
        self.daemon.kill()
        stages = collections.Counter(row["stage"] for row in self.daemon.query(
            "SELECT stage FROM slot JOIN run ON run.id = slot.run WHERE run.ended_at IS NULL"))
        self.hits.update(f"rld, a slot in {stage}" for stage in stages)

    def live_in_namespace(self):
        """The daemon, its shims, its agents and its clients: all end at once, as when a container
        does. Nothing that began outside is at work then."""
        self.rest()
        self.daemon.stop()
        life = subprocess.Popen([*NAMESPACE, sys.executable, "-B", __file__, str(self.path), str(self.seed),
                                 str(self.active), str(self.asked)], stdout=subprocess.PIPE, text=True)
        self.asked += LIVES * self.active
        wanted = self.chance.randrange(1, self.active)
        for line in life.stdout:
            key, number = line.rsplit(" ", 1)
            self.acked[key] = int(number)
            wanted -= 1
            if wanted == 0:
                time.sleep(self.chance.random() * self.chance.choice(PAUSES) * 5)
                life.kill()
        life.wait()
        life.stdout.close()
        while harness.descendants():
            harness.reap_adopted()
        self.hits["namespace"] += 1

    def kill_one(self, name):
        """The next one that lives, as long as there is work."""
        while not (pids := self.living(name)):
            if all(row["state"] in (*ENDS, "held") for row in self.rows()):
                return
        pid = self.chance.choice(pids)
        words = harness.command_of(pid).split(" ")
        repo = self.operation_of(name, pid)
        # rld gives an operation up that was killed three times
        if repo is not None and self.killed[repo, self.asked // (10 * self.active)] == 2:
            return
        self.killed[repo, self.asked // (10 * self.active)] += 1
        what = words[1] if name == "rl-git" and len(words) > 1 else self.job_of(words)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            self.hits[f"{name} {what}"] += 1

    def operation_of(self, name, pid):
        """The repository of the operation that dies with the process; None: an agent's."""
        with contextlib.suppress(OSError, IndexError, TypeError, ValueError):
            shim = pid if name == "rl-shim" else harness.proc_stat(pid)[1]
            words = Path(harness.command_of(shim).split(" ")[1], "operation").read_text()
            return next((repo.path for repo in self.repos if f"{repo.path}\n" in words), None)
        return None

    def job_of(self, words):
        with contextlib.suppress(OSError, IndexError):
            job = Path(words[-1], "job").read_text()
            return "of an operation" if "rl-git" in job else "of an agent"
        return "that has just begun"

    # ---- what must hold

    def check(self):
        """What was answered is there, once."""
        rows = self.rows()
        numbers = [row["id"] for row in rows]
        if len(set(numbers)) != len(numbers) or len(numbers) > self.asked:
            self.wrong.append(f"{self.asked} were asked for, and there are {numbers}")
        if gone := set(self.acked.values()) - set(numbers):
            self.wrong.append(f"runs {gone} were answered, and are gone")
        starts = collections.Counter(start[2] for start in self.daemon.play.starts())
        if twice := [attempt for attempt, times in starts.items() if times > 1]:
            self.wrong.append(f"attempts {twice} were started twice")
        if failed := [row for row in rows if row["state"] in ("failed", "cancelled")]:
            self.wrong.append(f"{[(row['id'], row['cause']) for row in failed]}")

    def rest(self):
        """All runs come to their ends: what was lost too often is asked of a human."""
        while True:
            open_ = [row["id"] for row in self.rows() if row["state"] not in ENDS]
            if not open_:
                return
            self.daemon.call("run.wait", ids=open_[:50])
            for hold in self.daemon.call("hold.list", state="open")["holds"]:
                if hold["kind"] != "lost":
                    self.wrong.append(f"run {hold['run']} is held: {hold['reason']}")
                    self.daemon.call("run.cancel", id=hold["run"])
                else:
                    self.daemon.call("hold.rework", id=hold["id"])

    def check_end(self):
        self.check()
        newest = {}
        for row in self.rows():
            if row["state"] == "succeeded":
                newest.setdefault(row["workdir"], row)
            self.wrong += kept.paid_once(self.daemon, row["id"])
            bad = [a for a in self.daemon.attempts(row["id"])
                   if a["state"] not in ("exited", "lost") or (a["state"] == "exited" and a["exit_code"] != 0)]
            self.wrong += [f"attempt {a['id']} is {a['state']}, {a['exit_code']}: {a['cause']}" for a in bad]
        for repo in self.repos:
            if str(repo.path) in newest:
                self.wrong += kept.passed_is_whole(self.daemon, repo, self.daemon.run(newest[str(repo.path)]["id"]))
            self.wrong += kept.nothing_has_gone(repo) + kept.sound(repo.path / ".git")

    def round(self, kill):
        if kill == self.live_in_namespace:
            kill()
            self.daemon.start()
            self.check()
            return
        waiting = self.submit()
        for rpc, keys in waiting.items():
            self.take(rpc, keys, False)
        time.sleep(self.chance.random() * self.chance.choice(PAUSES))
        kill()
        for rpc, keys in waiting.items():
            self.take(rpc, keys, self.daemon.running())
            rpc.close()
        harness.close_clients()
        if not self.daemon.running():
            self.daemon.start()
        self.check()


def kills_of(load):
    return [load.kill_daemon, load.kill_daemon, lambda: load.kill_one("rl-shim"), lambda: load.kill_one("rl-git"),
            *([load.live_in_namespace] if can_unshare() else [])]


def live(path, seed, active, asked):
    """In the namespace: submit, and say what was answered, until all of it is killed."""
    load = Load(Path(path), f"{seed} {asked}", int(active))
    load.asked = int(asked)
    load.daemon.start()
    for _ in range(LIVES):
        for rpc, keys in load.submit().items():
            before = set(load.acked)
            load.take(rpc, keys, True)
            for key in set(load.acked) - before:
                print(f"{key} {load.acked[key]}", flush=True)
    signal.pause()


def run(count, seed):
    """So many kills: how many sentences are wrong."""
    count = count or 1000
    harness.become_subreaper()
    path = Path(tempfile.mkdtemp(prefix="rl-fault-", dir=os.environ.get("TMPDIR")))
    load = Load(path, seed, 20 if count >= 100 else 6)
    print(f"== kill: {count} kills, seed {seed}", flush=True)
    started = time.monotonic()
    load.fill()
    load.daemon.start()
    kills = kills_of(load)
    for i in range(count):
        load.round(load.chance.choice(kills) if i >= len(kills) else kills[i])
        if load.wrong:
            break
    load.rest()
    load.check_end()
    load.wrong += load.daemon.finish()
    for name, times in sorted(load.hits.items()):
        print(f"  {times:6} {name}")
    print(f"kill: {count} kills, {load.asked} submits, {len(load.acked)} answered, {len(load.daemon.play.starts())} "
          f"agents, {len(load.wrong)} wrong, {time.monotonic() - started:.0f} s")
    for sentence in load.wrong[:20]:
        print(f"WRONG {sentence}")
    if load.wrong:
        print(load.daemon.log()[-3000:])
    else:
        shutil.rmtree(path, ignore_errors=True)
    return len(load.wrong)


if __name__ == "__main__":
    live(*sys.argv[1:])
