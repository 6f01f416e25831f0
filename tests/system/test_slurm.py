# SPDX-License-Identifier: MIT
"""A real cluster of Slurm with two nodes, started by tests/launchers: make check-launchers."""
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from rld import Repo, wait_gone

CONF = os.environ.get("RLD_SLURM_CONF")
pytestmark = pytest.mark.skipif(CONF is None, reason="only in make check-launchers")


def wait_for(what, seconds=90):
    """Slurm tells nobody when something has changed."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        time.sleep(0.1)


class Cluster:
    """A controller that was killed is started again by tests/launchers, a node by revive()."""

    path = Path(CONF or "/").parent

    def call(self, *argv):
        return subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              env={**os.environ, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "SLURM_CONF": CONF})

    def run(self, *argv):
        done = self.call(*argv)
        assert done.returncode == 0, (argv, done.stderr)
        return done.stdout

    def jobs(self):
        return self.run("squeue", "-h", "-o", "%i %j %T %N").splitlines()

    def answers(self):
        return "UP" in self.call("scontrol", "ping").stdout and self.call("squeue", "-h").returncode == 0

    def idle(self):
        return self.answers() and self.jobs() == [] and set(self.run("sinfo", "-h", "-o", "%T").split()) == {"idle"}

    def kill(self, name):
        pid = int((self.path / f"{name}.pid").read_text())
        os.kill(pid, signal.SIGKILL)
        wait_gone(pid)

    def kill_node(self, node):
        """Its daemon and what supervises its jobs; the agents are left, as on a node that has lost
        its network."""
        self.kill(f"slurmd.{node}")
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                name = Path(f"/proc/{pid}/comm").read_text().strip()
                conf = f"SLURM_CONF={CONF}".encode() in Path(f"/proc/{pid}/environ").read_bytes()
            except OSError:
                continue
            if name == "slurmstepd" and conf:
                os.kill(int(pid), signal.SIGKILL)

    def revive(self, node):
        (self.path / f"revive.{node}").touch()
        wait_for(self.idle)


@pytest.fixture
def cluster():
    made = Cluster()
    wait_for(made.idle)
    yield made
    wait_for(made.idle)


@pytest.fixture
def start(make_daemon, cluster):
    def make(script, gates=(), **config):
        scripts = script if isinstance(script, dict) else {"implement": script, "review": "pass\n"}
        return make_daemon(scripts=scripts, gates=gates,
                           environment={"SLURM_CONF": CONF},
                           config={"run.launcher": "slurm", "agent.play": {"env": ["SLURM_CONF"]},
                                   "parallel": 24, **config})
    return make


def kill_shims(daemon):
    for path in (daemon.state / "attempts").glob("*/shim"):
        pid = int(dict(line.split(" ", 1) for line in path.read_text().splitlines())["pid"])
        if os.path.exists(f"/proc/{pid}"):
            os.kill(pid, signal.SIGKILL)


def is_script(pid, far):
    """Whether it is the script around the agent of that attempt."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return words[:2] == [b"/usr/bin/sh", b"-c"] and str(far).encode() in words


def ends(daemon, run):
    daemon.call("run.wait", ids=[run])
    return daemon.run(run)["state"]


def test_a_reviewed_run(start, repo):
    daemon = start("echo one > work.txt\nanswer done\n")
    run = daemon.review(repo.path)
    assert ends(daemon, run) == "succeeded"
    rows = daemon.attempts(run)
    assert [row["exit_code"] for row in rows] == [0, 0]
    assert all(row["launcher"] == "slurm" and row["node"] in ("n1", "n2") for row in rows)


def test_an_exit_status(start, repo):
    daemon = start("exit 7\n")
    run = daemon.submit(repo.path)
    assert ends(daemon, run) == "failed" and daemon.attempts(run)[0]["exit_code"] == 7


def test_refused_by_slurm(start, repo):
    daemon = start("answer done\n", **{"launcher.slurm": {"options": ["--partition=none"]}})
    run = daemon.submit(repo.path)
    assert ends(daemon, run) == "failed"
    cause = daemon.attempts(run)[0]["cause"]
    assert "before it started the agent" in cause and "invalid partition" in cause.lower()


def test_cancelled_by_rld(start, repo, cluster):
    """The agent is signalled, and may save what it has."""
    daemon = start("trap 'touch $PLAY/signalled; exit 1' TERM\ngate here\nanswer done\n", gates=["here"])
    run = daemon.submit(repo.path)
    daemon.play.arrived("here")
    assert daemon.cancelled(run)["state"] == "cancelled"
    assert cluster.jobs() == []
    assert (daemon.play.path / "signalled").exists() and daemon.run(run)["warnings"] == []


def test_a_time_limit(start, repo, cluster):
    daemon = start("gate here\nanswer done\n", gates=["here"])
    run = daemon.submit(repo.path, timeout="2s")
    assert ends(daemon, run) == "failed"
    attempt, = daemon.attempts(run)
    assert attempt["state"] == "exited" and attempt["end_kind"] == "timeout" and cluster.jobs() == []


def test_cancelled_by_another(start, repo, cluster):
    """srun returns 0 then, if the agent exits with 0."""
    daemon = start("trap 'answer done; exit 0' TERM\ngate here\n", gates=["here"])
    run = daemon.submit(repo.path)
    daemon.play.arrived("here")
    cluster.run("scancel", cluster.run("squeue", "-h", "-o", "%i").split()[0])
    assert ends(daemon, run) == "held"
    attempt, = daemon.attempts(run)
    assert attempt["state"] == "lost" and "node n" in attempt["cause"]


def test_the_controller_restarts(start, repo, cluster):
    daemon = start("gate here\nanswer done\n", gates=["here"])
    run = daemon.submit(repo.path)
    daemon.play.arrived("here")
    cluster.kill("slurmctld")
    daemon.play.go("here")
    assert ends(daemon, run) == "succeeded"
    assert len(daemon.attempts(run)) == 1


def test_the_daemon_is_killed(start, repo):
    daemon = start("gate here\nanswer done\n", gates=["here"])
    run = daemon.submit(repo.path)
    daemon.play.arrived("here")
    daemon.kill()
    daemon.start()
    daemon.play.go("here")
    assert ends(daemon, run) == "succeeded"
    assert len(daemon.attempts(run)) == 1


def test_the_shim_is_killed(start, repo, cluster):
    """srun dies with it, and Slurm kills the job: sometimes nobody is left to write that the agent
    has ended. Only if that was written another one begins, with on_lost = "retry"."""
    daemon = start({"implement.1": "gate here\n", "implement.2": "answer done\n"}, gates=["here"],
                   **{"run.on_lost": "retry"})
    run = daemon.submit(repo.path)
    daemon.play.arrived("here")
    far = next((daemon.state / "attempts").glob("*/far"))
    kill_shims(daemon)
    state = ends(daemon, run)
    seen = "\nended " in far.read_text()
    assert cluster.jobs() == []
    assert state == ("succeeded" if seen else "held")
    assert [row["state"] for row in daemon.attempts(run)] == (["lost", "exited"] if seen else ["lost"])


# a batch job, which Slurm may queue again; what it prints is in a file
BATCH = """#!/bin/sh
printf '#!/bin/sh\\nexec "$@"\\n' > {job}
uuid=$1; shift
exec sbatch --wait --quiet --requeue --job-name=rl-$uuid --output={job}.out --open-mode=append {job} "$@"
"""


def test_slurm_queues_it_again(start, repo, cluster, tmp_path):
    """The job that begins once more does not start the agent once more. That one was told to end,
    not by rld: its attempt is lost, and over, so on_lost decides."""
    place = tmp_path / "place"
    place.write_text(BATCH.format(job=tmp_path / "job"))
    place.chmod(0o755)
    daemon = start({"implement.1": "gate here\n", "implement.2": "answer done\n"}, gates=["here"],
                   **{"run.on_lost": "retry", "run.launcher": "batch",
                      "launcher.batch": {"command": [str(place), "{uuid}"], "cancel": ["scancel", "--name=rl-{uuid}"]}})
    run = daemon.submit(repo.path)
    daemon.play.arrived("here")
    cluster.run("scontrol", "requeue", cluster.run("squeue", "-h", "-o", "%i").split()[0])
    assert ends(daemon, run) == "succeeded"
    assert [row["state"] for row in daemon.attempts(run)] == ["lost", "exited"]
    assert [began[2] for began in daemon.play.starts()] == [row["id"] for row in daemon.attempts(run)]
    assert "the attempt was started already" in (tmp_path / "job.out").read_text()


def test_a_node_dies(start, repo, cluster):
    """Slurm says that its job has ended, and the agent works on there: no other one may begin."""
    daemon = start("gate here\nanswer done\n", gates=["here"],
                   **{"run.on_lost": "retry", "launcher.slurm": {"options": ["--nodelist=n1"]}})
    run = daemon.submit(repo.path)
    daemon.play.arrived("here")
    cluster.kill_node("n1")
    assert ends(daemon, run) == "held"
    attempt, = daemon.attempts(run)
    assert attempt["state"] == "lost" and "on node n1" in attempt["cause"]
    cluster.revive("n1")
    daemon.play.go("here")
    far, = (daemon.state / "attempts").glob("*/far")
    script, = [int(pid) for pid in filter(str.isdigit, os.listdir("/proc")) if is_script(pid, far)]
    wait_gone(script)
    assert "\nended " in far.read_text()


def test_twenty_slots(start, tmp_path):
    gates = [f"g{i}" for i in range(1, 23)]
    daemon = start("gate g$RL_RUN\nanswer done\n", gates=gates, **{"launcher.slurm": {"slots": 20}})
    runs = [daemon.submit(Repo(tmp_path / f"r{i}").path) for i in range(20)]
    for run in runs:
        daemon.play.arrived(f"g{run}")
    more = daemon.submit(Repo(tmp_path / "more").path)
    with daemon.events(run=more) as events:
        events.until("slot.phase", lambda e: e.get("reason") == "launcher slurm: all 20 slots are in use")
    daemon.kill()
    daemon.start()
    for run in runs:
        daemon.play.go(f"g{run}")
    daemon.play.arrived(f"g{more}")
    daemon.play.go(f"g{more}")
    assert {row["state"] for row in daemon.ended(*runs, more)} == {"succeeded"}
    assert {len(daemon.attempts(run)) for run in (*runs, more)} == {1}
