# SPDX-License-Identifier: MIT
"""Agents behind a launcher: what counts as their end, who ends them, how many there are at a time.
The launchers are scripts; tests/launchers has Slurm."""
import os
import signal
import subprocess
from pathlib import Path

import pytest
from rld import SHIM, Repo, RpcError, wait_gone

# it notes the uuid of each job, and runs it as asked
PREFIX = """#!/bin/sh
echo "$1 $2" >> {log}/placed; shift 2
{do}
"""
CANCEL = """#!/bin/sh
echo "$1" >> {log}/cancelled
{do}
"""


@pytest.fixture
def launcher(tmp_path):
    log = tmp_path / "launcher"
    log.mkdir()

    def make(do='exec "$@"', cancel="exit 0", **more):
        for name, text in (("place", PREFIX.format(log=log, do=do)), ("end", CANCEL.format(log=log, do=cancel))):
            (log / name).write_text(text)
            (log / name).chmod(0o755)
        return {"launcher.fake": {"command": [str(log / "place"), "{uuid}", "{run}:{workdir}"],
                                  "cancel": [str(log / "end"), "{uuid}"], **more}}
    make.placed = lambda: (log / "placed").read_text().splitlines() if (log / "placed").exists() else []
    make.cancelled = lambda: (log / "cancelled").read_text().split() if (log / "cancelled").exists() else []
    return make


def attempts(daemon, run):
    return daemon.call("attempt.list", run=run)["attempts"]


def kill_shim(daemon):
    for path in (daemon.state / "attempts").glob("*/shim"):
        pid = int(dict(line.split(" ", 1) for line in path.read_text().splitlines())["pid"])
        os.kill(pid, signal.SIGKILL)
        wait_gone(pid)


def test_a_reviewed_run(make_daemon, repo, launcher):
    daemon = make_daemon(scripts={"implement": "echo one > work.txt\nanswer done\n", "review": "pass\n"},
                         config=launcher())
    run = daemon.review(repo.path, launcher="fake")
    assert daemon.ended(run)["state"] == "succeeded"
    # implementer and reviewer, each in its place; nothing was left to be ended
    rows = attempts(daemon, run)
    assert len(rows) == 2 and len(launcher.placed()) == 2 and launcher.cancelled() == []
    assert launcher.placed()[0].split()[1] == f"{run}:{repo.path}"
    assert {(row["launcher"], row["node"]) for row in rows} == {("fake", os.uname().nodename)}
    assert os.uname().nodename in daemon.rlctl("show", run).out
    assert rows[1]["sandbox"] in (None, "none")
    assert any("behind its launcher" in w for w in daemon.run(run)["warnings"]) == (rows[1]["sandbox"] == "none")


@pytest.mark.parametrize("do, state, cause", [
    # as srun when its job is cancelled
    ('"$@" & until grep -q started "$5"; do sleep 0.05; done; kill -9 $!; exit 0', "held", "nothing says how"),
    ('"$@"; exit 3', "held", "the end of its output may be missing"),
    # as ssh does
    ('exec sh -c "$*"', "failed", "before it started the agent"),
    ("echo no such partition >&2; exit 1", "failed", "before it started the agent: no such partition"),
], ids=["killed", "other-status", "joined", "not-started"])
def test_an_end_without_evidence(make_daemon, repo, launcher, do, state, cause):
    script = "gate here\nanswer done\n" if "kill -9" in do else "answer done\n"
    daemon = make_daemon(scripts={"implement": script}, gates=["here"], config=launcher(do))
    run = daemon.submit(repo.path, launcher="fake")
    daemon.call("run.wait", ids=[run])
    assert daemon.run(run)["state"] == state
    row = attempts(daemon, run)[0]
    assert cause in row["cause"] and row["state"] == ("lost" if state == "held" else "exited")
    assert launcher.cancelled() == [launcher.placed()[0].split()[0]]


def test_what_is_cancelled_is_ended_where_it_runs(make_daemon, repo, launcher):
    daemon = make_daemon(scripts={"implement": "gate here\nanswer done\n"}, gates=["here"], config=launcher())
    run = daemon.submit(repo.path, launcher="fake")
    daemon.play.arrived("here")
    daemon.call("run.cancel", id=run)
    assert daemon.ended(run)["state"] == "cancelled"
    # to signal it, and to know that it has ended
    assert launcher.cancelled() == [launcher.placed()[0].split()[0]] * 2
    assert daemon.run(run)["warnings"] == []


# What the cancel command does, and whether another attempt may begin in the same tree by itself.
SHIMLESS = {
    "fails": ("exit 1", False, "may still run there"),
    "unseen": ("exit 0", False, "nothing says that the agent has ended"),
    "seen": ('echo "ended $1 143 signalled" >> {far}', True, "rl-shim was killed"),
}


@pytest.mark.parametrize("cancel, retried, cause", SHIMLESS.values(), ids=SHIMLESS)
def test_the_shim_is_gone(make_daemon, repo, launcher, tmp_path, cancel, retried, cause):
    """With on_lost = "retry"; the daemon is down meanwhile."""
    far = tmp_path / "far"
    daemon = make_daemon(scripts={"implement.1": "gate here\nanswer done\n", "implement.2": "answer done\n"},
                         gates=["here"], config={**launcher(cancel=cancel.format(far=far)), "run.on_lost": "retry"})
    run = daemon.submit(repo.path, launcher="fake")
    daemon.play.arrived("here")
    daemon.kill()
    kill_shim(daemon)
    far.symlink_to(next((daemon.state / "attempts").glob("*/far")))
    daemon.start()
    daemon.call("run.wait", ids=[run])
    rows = attempts(daemon, run)
    assert [row["state"] for row in rows] == (["lost", "exited"] if retried else ["lost"])
    assert rows[0]["exit_code"] is None and cause in rows[0]["cause"]
    assert daemon.run(run)["state"] == ("succeeded" if retried else "held")
    assert launcher.cancelled()


def test_slots(make_daemon, tmp_path, launcher):
    runs = [f"g{i}" for i in range(1, 4)]
    daemon = make_daemon(scripts={"implement": "gate g$RL_RUN\nanswer done\n"}, gates=runs,
                         config={"parallel": 4, **launcher(slots=1), "run.launcher": "fake"})
    repos = [Repo(tmp_path / f"r{i}").path for i in range(3)]
    first = daemon.submit(repos[0])
    daemon.play.arrived(f"g{first}")
    second = daemon.submit(repos[1])
    with daemon.events(run=second) as events:
        events.until("slot.phase", lambda e: e.get("reason") == "launcher fake: its only slot is in use")
    # it keeps no permit meanwhile, and others need none of the launcher
    local = daemon.submit(repos[2], launcher="local")
    daemon.play.arrived(f"g{local}")
    daemon.play.go(f"g{local}")
    daemon.play.go(f"g{first}")
    daemon.play.arrived(f"g{second}")
    daemon.play.go(f"g{second}")
    assert {r["state"] for r in daemon.ended(first, second, local)} == {"succeeded"}
    assert len(launcher.placed()) == 2


def test_refused(make_daemon, repo, launcher):
    daemon = make_daemon(scripts={}, config=launcher())
    with pytest.raises(RpcError) as e:
        daemon.submit(repo.path, launcher="fakes")
    assert "unknown launcher 'fakes'; did you mean 'fake'? Choose one of local, slurm, systemd, ssh, fake" in \
        str(e.value)
    with pytest.raises(RpcError) as e:
        daemon.review(repo.path, review={"sandbox": "require", "read_only": True}, launcher="fake")
    assert "a reviewer behind launcher 'fake' cannot be confined" in str(e.value)
    assert os.path.exists(repo.path)


def test_hosts(make_daemon, tmp_path, launcher):
    """The one with the fewest of its slots in use; what waits says for what."""
    gates = [f"g{i}" for i in range(1, 5)]
    config = launcher(hosts=[{"name": "n1", "slots": 1}, {"name": "n2", "slots": 2}])
    config["launcher.fake"]["command"][2] = "{node}"
    daemon = make_daemon(scripts={"implement": "gate g$RL_RUN\nanswer done\n"}, gates=gates,
                         config={"parallel": 4, **config, "run.launcher": "fake"})
    runs = []
    for i, node in enumerate(["n1", "n2", "n2"]):
        runs.append(daemon.submit(Repo(tmp_path / f"r{i}").path))
        daemon.play.arrived(gates[i])
        # on disk before it is placed there
        assert attempts(daemon, runs[i])[0]["node"] == node
    last = daemon.submit(Repo(tmp_path / "r3").path)
    with daemon.events(run=last) as events:
        events.until("slot.phase", lambda e: e.get("reason") ==
                     "launcher fake: n1: its only slot is in use; n2: all 2 slots are in use")
    assert attempts(daemon, last)[0]["node"] is None
    # they are counted when they were taken back, too
    daemon.kill()
    daemon.start()
    daemon.play.go("g1")
    daemon.play.arrived("g4")
    assert attempts(daemon, last)[0]["node"] == "n1"
    for gate in gates[1:]:
        daemon.play.go(gate)
    assert {r["state"] for r in daemon.ended(*runs, last)} == {"succeeded"}
    assert [line.split()[1] for line in launcher.placed()] == ["n1", "n2", "n2", "n1"]


# options are one word each; what runs there has nothing of the environment here
SSH = """#!/bin/sh
while [ "${{1#-}}" != "$1" ]; do shift; done
host=$1; shift
[ ! -e {log}/down.$host ] || {{ echo "ssh: connect to host $host port 22: Connection refused" >&2; exit 255; }}
echo "$host $*" >> {log}/placed
[ ! -e {log}/no-shim ] || sed -i "s,^s=.*,s={log}/rl-shim," "${{1#sh }}"
exec env -i PATH=/usr/bin:/bin setsid -w sh -c "$*"
"""
HOSTS = [{"name": "n1", "slots": 1}, {"name": "n2", "slots": 1}]


@pytest.fixture
def ssh(tmp_path, make_daemon, launcher):
    log = tmp_path / "launcher"
    (log / "ssh").write_text(SSH.format(log=log))
    (log / "ssh").chmod(0o755)

    def make(config=(), **more):
        return make_daemon(environment={"PATH": f"{log}:{os.environ['PATH']}"}, config={
            "launcher.farm": {"preset": "ssh", "hosts": HOSTS, "options": ["-oPort=22"]}, "run.launcher": "farm",
            **dict(config)}, **more)
    make.log, make.placed = log, launcher.placed
    return make


ODD = "it's \"$HOME\" `x` \\ *\nand more"


@pytest.fixture(params=[True, pytest.param(False, marks=pytest.mark.each)], ids=["rl-shim", "script"])
def has_shim(ssh, request):
    """Whether there is an rl-shim of this version on the other machine."""
    if not request.param:
        (ssh.log / "no-shim").touch()
    return request.param


def test_ssh(ssh, repo, has_shim):
    daemon = ssh(scripts={"implement": "printf %s \"$ODD\" > work.txt\npwd > where.txt\nanswer done\n",
                          "review": "pass\n"}, config={"agent.play": {"set": {"ODD": ODD}}})
    run = daemon.review(repo.path)
    assert daemon.ended(run)["state"] == "succeeded"
    rows = attempts(daemon, run)
    assert [(row["launcher"], row["node"], row["exit_code"]) for row in rows] == [("farm", "n1", 0)] * 2
    assert (repo.path / "work.txt").read_text() == ODD
    assert (repo.path / "where.txt").read_text() == f"{repo.path}\n"
    assert b"do it" in daemon.play.prompt(run, "implement")
    # nothing of the agent is in an argv, and its environment is in no file any more
    assert [line.split(" ")[:2] for line in ssh.placed()] == [["n1", "sh"]] * 2
    for row in rows:
        place = daemon.state / "attempts" / str(row["id"]) / "place"
        assert str(place / "start") in "\n".join(ssh.placed())
        assert (place / "exit").exists() == (place / "start").exists() == has_shim
        assert not any("ODD" in path.read_text() for path in place.iterdir() if path.is_file())
        # what the agent has printed is kept once
        assert not list(place.glob("std*"))


def test_ssh_exit_status(ssh, repo, has_shim):
    daemon = ssh(scripts={"implement": "echo out; echo err >&2; exit 7\n"})
    run = daemon.submit(repo.path)
    assert daemon.ended(run)["state"] == "failed"
    row, = attempts(daemon, run)
    assert (row["state"], row["exit_code"]) == ("exited", 7)
    assert [output(daemon, row["id"], stream) for stream in ("stdout", "stderr")] == ["out\n", "err\n"]


def output(daemon, attempt, stream):
    return daemon.call("attempt.output", id=attempt, stream=stream, offset=0)["data"]


def until_printed(daemon, attempt, stream, words):
    while words not in output(daemon, attempt, stream):
        pass


def far_shim(daemon, attempt):
    """The pid of the rl-shim where the agent was placed."""
    text = (daemon.state / "attempts" / str(attempt) / "place" / "shim").read_text()
    return int(dict(line.split(" ", 1) for line in text.splitlines())["pid"])


def near_shim(daemon, attempt):
    """The pid of the rl-shim here, and of its child, which follows the agent."""
    text = (daemon.state / "attempts" / str(attempt) / "shim").read_text()
    pid = int(dict(line.split(" ", 1) for line in text.splitlines())["pid"])
    return pid, int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def test_ssh_output_is_removed_last(ssh, repo):
    """What the agent has printed is there until the exit record of the near rl-shim vouches for it
    here: that may be killed as long as it has none."""
    daemon = ssh(scripts={"implement": "echo before\ngate here\nanswer done\n"}, gates=["here"])
    run = daemon.submit(repo.path)
    daemon.play.arrived("here")
    row, = attempts(daemon, run)
    until_printed(daemon, row["id"], "stdout", "before")
    place = daemon.state / "attempts" / str(row["id"]) / "place"
    pid, follower = near_shim(daemon, row["id"])
    os.kill(pid, signal.SIGSTOP)
    daemon.play.go("here")
    while ") Z " not in Path(f"/proc/{follower}/stat").read_text():
        pass
    assert [path.read_text() for path in place.glob("stdout.*")] == ["before\ndone\n"]
    os.kill(pid, signal.SIGCONT)
    assert daemon.ended(run)["state"] == "succeeded"
    assert not list(place.glob("std*"))


LONG = "echo before\ngate here\nseq 1 60000\necho after >&2\nanswer done\n"


def test_ssh_the_connection_breaks(ssh, repo):
    """It is made again; the agent is not started again, and nothing that it prints is missing."""
    daemon = ssh(scripts={"implement": LONG}, gates=["here"])
    run = daemon.submit(repo.path)
    daemon.play.arrived("here")
    row, = attempts(daemon, run)
    until_printed(daemon, row["id"], "stdout", "before")
    (ssh.log / "down.n1").touch()
    until_printed(daemon, row["id"], "stderr", "the connection to the agent is lost")
    (ssh.log / "down.n1").unlink()
    until_printed(daemon, row["id"], "stderr", "there is a connection to the agent again")
    daemon.kill()
    daemon.start()
    daemon.play.go("here")
    assert daemon.ended(run)["state"] == "succeeded"
    row, = attempts(daemon, run)
    printed = [(daemon.state / "attempts" / str(row["id"]) / f"std{which}.0000000000000000").read_text()
               for which in ("out", "err")]
    assert [str(n) for n in range(1, 60001)] == printed[0].split("before\n")[1].split("\n")[:60000]
    assert printed[1].endswith("after\n") and len(set(ssh.placed())) == 1 < len(ssh.placed())


def test_ssh_its_shim_is_killed(ssh, repo):
    """The agent dies with it. It is known to be over, so on_lost decides."""
    daemon = ssh(scripts={"implement.1": "gate here\nanswer done\n", "implement.2": "answer done\n"}, gates=["here"],
                 config={"run.on_lost": "retry"})
    run = daemon.submit(repo.path)
    daemon.play.arrived("here")
    pid = far_shim(daemon, attempts(daemon, run)[0]["id"])
    os.kill(pid, signal.SIGKILL)
    wait_gone(pid)
    assert daemon.ended(run)["state"] == "succeeded"
    assert [row["state"] for row in attempts(daemon, run)] == ["lost", "exited"]


def far_call(daemon, attempt, *words):
    """What the script does that starts the agent."""
    directory = daemon.state / "attempts" / str(attempt)
    return subprocess.run([SHIM, "--far", directory / "far", *words], capture_output=True, text=True)


def test_ssh_called_again(ssh, repo):
    daemon = ssh(scripts={"implement": "answer done\n"})
    run = daemon.submit(repo.path)
    assert daemon.ended(run)["state"] == "succeeded"
    row, = attempts(daemon, run)
    far = daemon.state / "attempts" / str(row["id"]) / "far"
    words, told = (row["uuid"], "-", "0", "0", "0", "false"), far.read_text()
    # it was killed between its record and the word that it has ended
    far.write_text(told.splitlines(keepends=True)[0])
    assert far_call(daemon, row["id"], *words).returncode == 0 and far.read_text() == told
    # what it has told proves nothing
    for damaged in ("", told + "more"):
        far.write_text(damaged)
        done = far_call(daemon, row["id"], *words)
        assert done.returncode == 76 and "the agent is gone: its records are damaged" in done.stderr
    # a record is missing as well
    far.write_text(told.splitlines(keepends=True)[0])
    (far.parent / "place" / "exit").unlink()
    done = far_call(daemon, row["id"], *words)
    assert done.returncode == 76 and "rl-shim: the agent is gone: its rl-shim was killed" in done.stderr
    claim = far.parent / "place" / "claim"
    pid, boot, machine = claim.readlink().name.split(".")
    for target, status, why in (("revoked", 75, "is not to be"), (f"{pid}.{boot}1.{machine}", 76, "was restarted"),
                                (f"{pid}.{boot}1.{machine}1", 75, "on another machine"), ("shim-.", 75, "another"),
                                ("77.x", 75, "started already")):
        claim.unlink()
        claim.symlink_to(target)
        done = far_call(daemon, row["id"], *words)
        assert (done.returncode, why in done.stderr) == (status, True), (target, done)
    for wrong in ((), (row["uuid"], "-", "0", "-1", "0", "false"), (row["uuid"], "-", "0", "0", "0")):
        done = far_call(daemon, row["id"], *wrong)
        assert done.returncode == 75 and "rl-shim: arguments: only a script of rld has them" in done.stderr


def test_ssh_cancelled(ssh, repo, has_shim):
    daemon = ssh(scripts={"implement": "trap 'touch $PLAY/signalled; exit 1' TERM\ngate here\nanswer done\n"},
                 gates=["here"])
    run = daemon.submit(repo.path)
    daemon.play.arrived("here")
    assert daemon.cancelled(run)["state"] == "cancelled"
    assert (daemon.play.path / "signalled").exists() and daemon.run(run)["warnings"] == []
    row, = attempts(daemon, run)
    assert "\nended " in (daemon.state / "attempts" / str(row["id"]) / "far").read_text()


def test_ssh_without_hosts(ssh, repo):
    daemon = ssh(scripts={})
    with pytest.raises(RpcError) as e:
        daemon.submit(repo.path, launcher="ssh")
    assert "launcher 'ssh' has no hosts" in str(e.value)


def test_a_host_that_does_not_answer(ssh, tmp_path):
    """Nothing was started there: it is a failure of the launcher, and another host is tried."""
    (ssh.log / "down.n1").touch()
    daemon = ssh(scripts={"implement": "gate g$RL_RUN\nanswer done\n"}, gates=["g1", "g2"])
    first = daemon.submit(Repo(tmp_path / "r1").path)
    daemon.play.arrived("g1")
    rows = attempts(daemon, first)
    assert [(row["node"], row["state"], row["process"]) for row in rows] == [
        ("n1", "exited", "not-started"), ("n2", "running", None)]
    assert "before it started the agent: ssh: connect to host n1 port 22: Connection refused" in rows[0]["cause"]
    # the next one does not try it, and is told
    second = daemon.submit(Repo(tmp_path / "r2").path)
    with daemon.events(run=second) as events:
        told = events.until("slot.phase", lambda e: "launcher farm" in (e.get("reason") or ""))
    assert "n1: left out until 2" in told["reason"] and "Connection refused; n2: its only slot" in told["reason"]
    check, = [check for check in daemon.call("daemon.doctor")["checks"] if check["name"] == "launcher"]
    assert check["state"] == "warning" and check["text"].startswith("farm: n1 is left out until 2")
    # it is tried again when the other one is in use
    (ssh.log / "down.n1").unlink()
    daemon.play.arrived("g2")
    assert attempts(daemon, second)[-1]["node"] == "n1"
    for gate in ("g1", "g2"):
        daemon.play.go(gate)
    assert {r["state"] for r in daemon.ended(first, second)} == {"succeeded"}


def test_ssh_what_it_prints_when_it_is_cancelled(ssh, repo):
    daemon = ssh(scripts={"implement": "trap 'echo saved; exit 1' TERM\necho before\ngate here\nanswer done\n"},
                 gates=["here"])
    for _ in range(3):
        run = daemon.submit(repo.path)
        daemon.play.arrived("here")
        row, = attempts(daemon, run)
        assert daemon.cancelled(run)["state"] == "cancelled"
        assert output(daemon, row["id"], "stdout") == "before\nsaved\n"


def test_ssh_over_the_limit_of_output(ssh, repo):
    """What is dropped there is dropped here: nothing looks complete that is not."""
    daemon = ssh(scripts={"implement": "echo first\nyes 0123456789 | head -c 30000000\necho last\nanswer done\n"},
                 config={"limits.output": "1M"})
    run = daemon.submit(repo.path)
    assert daemon.ended(run)["state"] == "succeeded"
    row, = attempts(daemon, run)
    got = daemon.call("attempt.output", id=row["id"], stream="stdout", offset=0)
    record = (daemon.state / "attempts" / str(row["id"]) / "exit").read_text().splitlines()
    fields = dict(line.split(" ", 1) for line in record if " " in line)
    assert got["data"].startswith("first\n0123456789\n")
    assert int(fields["stdout_bytes"]) > 30000000 and int(fields["dropped"]) > 0


def test_ssh_words_of_a_connection(ssh, repo):
    """What the log-in prints is nothing of the agent's, and no progress of it."""
    text = (ssh.log / "ssh").read_text()
    (ssh.log / "ssh").write_text(text.replace("exec env", "echo Welcome; echo Banner >&2\nexec env"))
    daemon = ssh(scripts={"implement": "printf half\ngate here\necho ' line'\nanswer done\n"}, gates=["here"])
    run = daemon.submit(repo.path)
    daemon.play.arrived("here")
    while len(ssh.placed()) < 3:
        pass
    daemon.play.go("here")
    assert daemon.ended(run)["state"] == "succeeded"
    row, = attempts(daemon, run)
    assert "half line\n" in output(daemon, row["id"], "stdout")
    assert output(daemon, row["id"], "stderr").count("Banner") == 1


def test_ssh_output_that_cannot_be_read(ssh, repo):
    """An end is not believed before all of its output is here."""
    daemon = ssh(scripts={"implement": "echo before\ngate here\necho after\nanswer done\n"}, gates=["here"])
    run = daemon.submit(repo.path)
    daemon.play.arrived("here")
    row, = attempts(daemon, run)
    until_printed(daemon, row["id"], "stdout", "before\n")
    place = daemon.state / "attempts" / str(row["id"]) / "place"
    segment = next(place.glob("stdout.*"))
    segment.rename(place / "hidden")
    daemon.play.go("here")
    while "\nended " not in (place.parent / "far").read_text():
        pass
    asked = len(ssh.placed())
    while len(ssh.placed()) == asked:
        assert daemon.run(run)["state"] == "running"
    (place / "hidden").rename(segment)
    assert daemon.ended(run)["state"] == "succeeded"
    assert output(daemon, row["id"], "stdout").startswith("before\nafter\n")


def test_ssh_is_killed(ssh, repo):
    """A status that looks like the agent's is none."""
    (ssh.log / "no-shim").touch()
    text = (ssh.log / "ssh").read_text()
    (ssh.log / "ssh").write_text(text.replace("exec env", "env") + "[ \"${1%start}\" = \"$1\" ] || kill -9 $$\n")
    daemon = ssh(scripts={"implement": "exit 137\n"})
    run = daemon.submit(repo.path)
    daemon.call("run.wait", ids=[run])
    row, = attempts(daemon, run)
    assert row["state"] == "lost"
