# SPDX-License-Identifier: MIT
"""When a run and its slots go on: one run after another, slots of a group, pauses at all moments,
turns of owners, disk space; and why each waits meanwhile."""
import json
import os
import subprocess

import pytest
from outer import NOTE, WORK, Beads, bead, done, states, submit, tasks_done, waits, with_bd
from rld import Repo, RpcError, proc_stat, wait_gone

GATES = [f"g{i}" for i in range(1, 13)]
QUICK = {"agent.quick": {"command": ["/bin/true"], "reader": "text"}}	# for passes_by()


def passes_by(daemon):
    """Another run, from its submit to its end: whoever could have begun meanwhile has."""
    path = daemon.path / "by"
    path.mkdir(exist_ok=True)
    assert daemon.ended(daemon.call("run.submit", task="x", workdir=str(path),
                                    agent="quick")["id"])["state"] == "succeeded"


def started(daemon):
    return [s[0] for s in daemon.play.starts()]


@pytest.fixture
def queue(make_daemon, tmp_path):
    """A daemon whose agents wait at gate g<run>, and a way to make directories."""
    def make(parallel=4, **config):
        daemon = make_daemon(scripts={"implement": "gate g$RL_RUN\nanswer done\n"}, gates=GATES,
                             config={"parallel": parallel, **QUICK, **config})
        daemon.dirs = iter(Repo(tmp_path / f"r{i}").path for i in range(20))
        return daemon
    return make


# ---- one after another ---------------------------------------------------------------------------

def after(daemon, run, **params):
    return daemon.submit(next(daemon.dirs), after=run, **params)


def test_after_a_success(queue):
    daemon = queue(4)
    first = daemon.submit(next(daemon.dirs))
    daemon.play.arrived("g1")
    second = after(daemon, first, priority=9)
    third = after(daemon, second)
    other = daemon.submit(next(daemon.dirs))
    daemon.play.arrived(f"g{other}")
    for run, before in ((second, first), (third, second)):
        assert (daemon.run(run)["state"], daemon.run(run)["reason"]) == ("queued", f"waits for run {before}")
    daemon.play.go("g1")
    daemon.play.arrived(f"g{second}")
    assert started(daemon) == [first, other, second] and daemon.run(third)["reason"] == f"waits for run {second}"
    daemon.play.go(f"g{second}")
    daemon.play.arrived(f"g{third}")
    for run in (third, other):
        daemon.play.go(f"g{run}")
    assert {r["state"] for r in daemon.ended(first, second, third, other)} == {"succeeded"}
    # of one that has ended well
    last = after(daemon, first)
    daemon.play.arrived(f"g{last}")
    daemon.play.go(f"g{last}")
    assert daemon.ended(last)["state"] == "succeeded"


@pytest.mark.parametrize("end, words", [("exit 1", "failed"), (None, "was cancelled")], ids=["failed", "cancelled"])
@pytest.mark.parametrize("killed", [False, True], ids=["", "killed"])
def test_after_a_failure(queue, end, words, killed):
    """All that come after it are cancelled, with the cause; a death of the daemon in between
    changes nothing."""
    daemon = queue(4)
    daemon.play.set({"implement": f"gate g$RL_RUN\n{end or 'true'}\n"})
    first = daemon.submit(next(daemon.dirs))
    daemon.play.arrived("g1")
    second = after(daemon, first)
    third, beside = after(daemon, second), after(daemon, first)
    if killed:
        daemon.kill()
        daemon.start()
    if end:
        daemon.play.go("g1")
    else:
        daemon.call("run.cancel", id=first)
    rows = daemon.ended(first, second, third, beside)
    assert [r["state"] for r in rows] == ["failed" if end else "cancelled"] + ["cancelled"] * 3
    assert rows[1]["cause"] == rows[3]["cause"] == f"run {first}, which must succeed first, {words}"
    assert rows[2]["cause"] == f"run {second}, which must succeed first, was cancelled"
    assert started(daemon) == [first]
    daemon.rlctl("wait", third, check=11)
    assert rows[1]["cause"] in daemon.rlctl("show", second, check=0).out


def test_after_one_that_is_held(make_daemon, tmp_path):
    """It has not ended."""
    daemon = make_daemon(scripts={"implement": "echo one > work.txt\nanswer done\n", "review": "drift no\n"})
    first = daemon.review(Repo(tmp_path / "a").path, review={"max_fixes": 0, "on_exhausted": "hold"})
    second = daemon.submit(Repo(tmp_path / "b").path, after=first)
    assert daemon.ended(first)["state"] == "held"
    hold = daemon.call("hold.list")["holds"][0]["id"]
    with daemon.events(run=second) as events:
        events.until("run.state", lambda e: e.get("reason") ==
                     f'waits for run {first}; it is held: "rlctl hold show {hold}"')
    daemon.call("hold.approve", id=hold, message="fine")
    assert daemon.ended(second)["state"] == "succeeded"


# ---- groups --------------------------------------------------------------------------------------

@pytest.fixture
def night(make_daemon, tmp_path):
    """A run of six beads with four slots in group night, whose agents wait at their gate; the group
    has so many slots."""
    def make(slots):
        ids = [f"x-{n}" for n in range(1, 7)]
        daemon = make_daemon(scripts={"implement": NOTE + 'gate "$RL_TASK_ID"\nanswer done\n'},
                             gates=ids, config={"parallel": 8, **QUICK, "group.night": {"slots": slots}})
        return daemon, submit(daemon, Beads(tmp_path / "beads", *(bead(i) for i in ids)).path,
                              parallel=4, group="night")
    return make


def slot_reasons(daemon, run):
    return [s["reason"] for s in daemon.run(run)["slots"]]


def test_a_group_limits_the_slots_of_one_run(night):
    daemon, run = night(2)
    for task in ("x-1", "x-2"):
        daemon.play.arrived(task)
    assert slot_reasons(daemon, run)[2:] == ["group night: all 2 slots are in use"] * 2
    assert "group night: all 2 slots are in use" in daemon.rlctl("show", run, check=0).out
    daemon.rlctl("group", "set", "night", "--slots", 3, check=0)
    daemon.play.arrived("x-3")
    assert slot_reasons(daemon, run)[2] is None and sorted(tasks_done(daemon.play)) == ["x-1", "x-2", "x-3"]
    # fewer: nobody is ended, and nobody comes in before there is room
    daemon.rlctl("group", "set", "night", "--slots", 1, check=0)
    for task in ("x-1", "x-2"):
        daemon.play.go(task)
        with daemon.events(run=run) as events:
            events.until("slot.phase", lambda e: e["task"] == task and e["phase"] == "passed")
    assert sorted(tasks_done(daemon.play)) == ["x-1", "x-2", "x-3"]
    daemon.play.go("x-3")
    for task in ("x-4", "x-5", "x-6"):
        daemon.play.arrived(task)
        daemon.play.go(task)
    assert (daemon.ended(run)["state"] == "succeeded"
            and sorted(tasks_done(daemon.play)) == [f"x-{n}" for n in range(1, 7)])


def test_a_paused_group_lets_no_slot_begin(night):
    daemon, run = night(2)
    for task in ("x-1", "x-2"):
        daemon.play.arrived(task)
    daemon.rlctl("group", "pause", "night", check=0)
    daemon.rlctl("group", "set", "night", "--slots", 4, check=0)
    for task in ("x-1", "x-2"):
        daemon.play.go(task)
        with daemon.events(run=run) as events:
            events.until("slot.phase", lambda e: e["task"] == task and e["phase"] == "passed")
    passes_by(daemon)
    assert (sorted(tasks_done(daemon.play, run)) == ["x-1", "x-2"]
            and slot_reasons(daemon, run)[2:] == ["group night is paused"] * 2)
    daemon.rlctl("group", "resume", "night", check=0)
    for n in range(3, 7):
        daemon.play.arrived(f"x-{n}")
        daemon.play.go(f"x-{n}")
    assert daemon.ended(run)["state"] == "succeeded"


# ---- pauses at all moments -----------------------------------------------------------------------

PAUSES = ["ready", "claim", "implement", "close", "rest"]


@pytest.mark.parametrize("killed", [False, True], ids=["", "killed"])
@pytest.mark.parametrize("moment", PAUSES)
def test_paused_and_resumed(make_daemon, tmp_path, moment, killed):
    """What is under way ends by itself; nothing begins before resume; then each bead
    is done, once."""
    daemon, bd = with_bd(make_daemon, tmp_path,
                         scripts={"implement": NOTE + '[ "$RL_TASK_ID" != x-1 ] || gate g\nanswer done\n'},
                         gates=["g"], config={"parallel": 4, **QUICK})
    beads = Beads(tmp_path / "beads", bead("x-1"), bead("x-2"), bead("x-3"))
    if moment in ("ready", "claim", "close"):
        bd.stop(moment, "before")
    run = submit(daemon, beads.path, pause_ms=3600000 if moment == "rest" else 0)
    gates = {"ready": ["bd"], "claim": ["bd"], "implement": ["g"], "close": ["g", "bd"], "rest": ["g"]}[moment]
    for gate in gates[:-1]:
        daemon.play.arrived(gate)
        daemon.play.go(gate)
    shim = proc_stat(daemon.play.arrived(gates[-1]))[1]
    if moment == "rest":
        daemon.play.go("g")
        waits(daemon, run, "pausing between iterations")
    before = tasks_done(daemon.play)
    row = daemon.call("run.pause", id=run)
    assert (row["state"], row["paused"]) == ("paused", True), row
    if killed:
        daemon.kill()
        daemon.start()
    if moment != "rest":
        daemon.play.go(gates[-1])
        wait_gone(shim)
    passes_by(daemon)
    row = daemon.run(run)
    assert row["state"] == "paused" and tasks_done(daemon.play) == before, row
    daemon.call("run.resume", id=run)
    if "g" not in gates:
        daemon.play.arrived("g")
        daemon.play.go("g")
    if moment == "rest":
        daemon.cancelled(run)
        assert tasks_done(daemon.play)[:1] == ["x-1"] and "x-2" in states(daemon, run)
        return
    assert daemon.ended(run)["state"] == "succeeded"
    assert tasks_done(daemon.play) == ["x-1", "x-2", "x-3"] and {s for s, _ in beads.issues().values()} == {"closed"}


def test_resume_undoes_nothing_else(make_daemon, tmp_path):
    """Neither the limit of the group, nor a busy workdir, nor a run before it."""
    daemon = make_daemon(scripts={"implement": "gate g$RL_RUN\nanswer done\n"}, gates=GATES,
                         config={"parallel": 4, **QUICK, "group.night": {"slots": 1}})
    one, two = Repo(tmp_path / "one").path, Repo(tmp_path / "two").path
    first, busy, behind = daemon.submit(one, group="night"), daemon.submit(one), daemon.submit(two, after=1)
    full = daemon.submit(Repo(tmp_path / "three").path, group="night")
    daemon.play.arrived("g1")
    for run in (busy, behind, full):
        daemon.call("run.pause", id=run)
        waits(daemon, run, "paused")
        daemon.call("run.resume", id=run)
    passes_by(daemon)
    assert [daemon.run(r)["reason"]
            for r in (busy, behind, full)] == ["workdir busy: run 1", "waits for run 1",
                                               "group night: its only slot is in use"]
    assert started(daemon) == [first]
    daemon.play.go("g1")
    for run in (busy, behind, full):
        daemon.play.arrived(f"g{run}")
        daemon.play.go(f"g{run}")
    daemon.ended(busy, behind, full)


# ---- owners --------------------------------------------------------------------------------------

AS_ANOTHER = """
import json, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(sys.argv[2].encode() + b"\\n")
print(s.makefile().readline())
"""


def test_owners_take_turns(make_daemon, tmp_path, another_user):
    """Four runs of root are in the queue before the first of the daemon's user: his is the next,
    unless it matters less."""
    daemon = make_daemon(scripts={"implement": "gate g$RL_RUN\nanswer done\n"}, gates=GATES,
                         config={"parallel": 2}, uid=another_user)

    def directory(n):
        path = tmp_path / f"w{n}"
        path.mkdir()
        os.chown(path, another_user, another_user)
        return str(path)

    def nobody(**params):
        request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "run.submit", "params": {"task": "x", **params}})
        done = subprocess.run(["/usr/bin/python3", "-c", AS_ANOTHER, str(daemon.socket), request],
                              user=another_user, group=another_user, extra_groups=[],
                              capture_output=True, check=True, cwd="/")
        return json.loads(done.stdout)["result"]["id"]

    mine = [daemon.submit(directory(n)) for n in range(4)]
    for run in mine[:2]:
        daemon.play.arrived(f"g{run}")
    less = nobody(workdir=directory(4), priority=-1)
    his = [nobody(workdir=directory(5)), nobody(workdir=directory(6))]
    assert daemon.run(his[0])["owner"] != daemon.run(mine[0])["owner"]
    # when this one ends, that one begins
    turns = [(mine[0], his[0]), (mine[1], mine[2]), (his[0], his[1]), (his[1], mine[3]), (mine[2], less)]
    for ends, begins in turns:
        daemon.play.go(f"g{ends}")
        daemon.play.arrived(f"g{begins}")
    for run in (mine[3], less):
        daemon.play.go(f"g{run}")
    daemon.ended(*mine, *his, less)
    assert started(daemon)[2:] == [begins for _, begins in turns]


# ---- the reason of each --------------------------------------------------------------------------

def test_why_each_waits(queue):
    """In rlctl list, in rlctl show, and in the document; and after it has begun there is none."""
    daemon = queue(parallel=2, **{"group.night": {"slots": 1}, "group.shut": {"slots": 2}})
    daemon.call("group.pause", name="shut")
    one = next(daemon.dirs)
    expected = {
        daemon.submit(one, group="night"): None,
        daemon.submit(next(daemon.dirs), group="night"): "group night: its only slot is in use",
        daemon.submit(one): "workdir busy: run 1",
        daemon.submit(next(daemon.dirs), group="shut"): "group shut is paused",
        daemon.submit(next(daemon.dirs), after=1): "waits for run 1",
    }
    daemon.play.arrived("g1")
    passes_by(daemon)
    paused = daemon.submit(next(daemon.dirs), priority=-9)
    daemon.play.arrived(f"g{paused}")
    full = daemon.submit(next(daemon.dirs))
    waits(daemon, full, "all slots of the daemon are in use")
    last = daemon.submit(next(daemon.dirs))
    daemon.call("run.pause", id=last)
    waits(daemon, last, "paused")
    expected |= {paused: None, full: "all slots of the daemon are in use", last: "paused"}
    rows = {r["id"]: r for r in daemon.call("run.list")["runs"] if r["id"] in expected}
    # which of two limits that hold both is told may be either
    both = {2: {"group night: its only slot is in use", "all slots of the daemon are in use"}}
    assert {i: r["reason"] in both.get(i, {expected[i]})
            for i, r in rows.items()} == dict.fromkeys(expected,
                                                       True), {i: r["reason"] for i, r in rows.items()}
    listed = {line.split()[0]: line for line in daemon.rlctl("list", check=0).out.splitlines()[1:]}
    for run, row in rows.items():
        if row["reason"]:
            assert row["reason"] in listed[str(run)] and row["reason"] in daemon.rlctl("show", run, check=0).out
    daemon.call("group.resume", name="shut")
    daemon.call("run.resume", id=last)
    for run in (1, paused):
        daemon.play.go(f"g{run}")
    left = set(expected) - {1, paused}
    while left:
        run = next(r for r in started(daemon)[::-1] if r in left) if left & set(started(daemon)) else None
        if run is None:
            continue
        daemon.play.arrived(f"g{run}")
        assert daemon.run(run)["reason"] is None
        daemon.play.go(f"g{run}")
        left.remove(run)
    daemon.ended(*expected)


# ---- drain ---------------------------------------------------------------------------------------

def test_a_drain_leaves_the_rest_of_a_long_run_to_the_next_daemon(make_daemon, tmp_path):
    """What runs ends, with all that belongs to it; no slot, iteration or run begins."""
    daemon, _ = with_bd(make_daemon, tmp_path,
                        scripts={"implement": NOTE + '[ "$RL_TASK_ID" != x-1 ] || gate g\nanswer done\n'},
                        gates=["g"], config={"parallel": 1})
    beads = Beads(tmp_path / "beads", *(bead(f"x-{n}") for n in range(1, 4)))
    run, queued = submit(daemon, beads.path), daemon.submit(Repo(tmp_path / "r").path)
    daemon.play.arrived("g")
    stop = daemon.rlctl_start("stop", "--drain")
    waits(daemon, queued, "the daemon is draining")
    with pytest.raises(RpcError) as refused:
        submit(daemon, beads.path)
    assert refused.value.code == 6
    daemon.play.go("g")
    assert daemon.exited() == 0 and stop.wait() == 0
    assert (tasks_done(daemon.play) == ["x-1"] and beads.issues()["x-1"][0] == "closed"
            and beads.issues()["x-2"] == ("open", None))
    daemon.start()
    assert {r["state"] for r in daemon.ended(run, queued)} == {"succeeded"}
    assert [d.task for d in done(daemon.play) if d.run == run] == ["x-1", "x-2", "x-3"]


# ---- disk space ----------------------------------------------------------------------------------

@pytest.fixture
def small(tmp_path):
    """A file system of 24 MiB to work in."""
    path = tmp_path / "small"
    path.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", path], capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"no tmpfs can be mounted here: {mounted.stderr.strip()}")
    yield path
    subprocess.run(["umount", "-l", path], check=True)


def until_logged(daemon, words):
    subprocess.run(["sh", "-c", 'tail -n +1 -F "$1" | grep -q -m1 -- "$2"', "sh", daemon.log_path, words], check=True)


@pytest.mark.parametrize("killed", [False, True], ids=["", "killed"])
def test_too_little_space_holds_back_what_is_new(make_daemon, small, killed):
    """Who works goes on; the next waits, says why, and begins when there is room again."""
    daemon = make_daemon(scripts={"implement": NOTE + '[ "$RL_TASK_ID" != x-1 ] || gate g\nanswer done\n'},
                         gates=["g"], config={"limits": {"disk_floor": "10M"}, "parallel": 4, **QUICK})
    beads = Beads(small, bead("x-1"), bead("x-2"))
    run = submit(daemon, beads.path)
    daemon.play.arrived("g")
    (small / "fill").write_bytes(b"x" * (20 << 20))
    used = daemon.state / "evidence" / "1.git" / "rld" / "rooms"
    (used / "1-tree-1-1").mkdir(parents=True)
    daemon.play.go("g")
    until_logged(daemon, "waiting for disk space")
    assert not used.exists(), "what only saves time goes first"
    passes_by(daemon)      # elsewhere there is room
    row = daemon.run(run)
    assert row["state"] == "running" and tasks_done(daemon.play) == ["x-1"], row
    reason = row["slots"][0]["reason"]
    assert (reason.startswith("waiting for disk space: ") and str(small) in reason
            and "limits.disk_floor is 10" in reason)
    assert reason in daemon.rlctl("show", run, check=0).out
    if killed:
        daemon.kill()
        daemon.start()
    daemon.play.set({"implement": NOTE + "gate g\n"})
    (small / "fill").unlink()
    daemon.play.arrived("g")
    assert daemon.run(run)["slots"][0]["reason"] is None, "it waits no more"
    assert "do x-2" in daemon.play.prompt(run, "implement", 2).decode()
    daemon.play.go("g")
    assert daemon.ended(run)["state"] == "succeeded" and tasks_done(daemon.play) == ["x-1", "x-2"]


def test_cancelled_while_it_waits_for_space(make_daemon, small):
    daemon = make_daemon(scripts={"implement": WORK}, config={"limits": {"disk_floor": "1T"}})
    run = submit(daemon, Beads(small, bead("x-1")).path)
    until_logged(daemon, "waiting for disk space")
    assert daemon.cancelled(run)["state"] == "cancelled" and daemon.play.starts() == []
