# SPDX-License-Identifier: MIT
"""Groups of runs: slots that change live and never end what runs, pause and resume,
kept over restarts."""
import pytest
from rld import Repo, RpcError

GATES = [f"g{i}" for i in range(1, 9)]
SCRIPTS = {"implement": "gate g$RL_RUN\nanswer done\n"}


@pytest.fixture
def daemon(make_daemon):
    return make_daemon(scripts=SCRIPTS, gates=GATES, config={"parallel": 4, "group.night": {"slots": 1}})


@pytest.fixture
def repos(tmp_path):
    return iter(Repo(tmp_path / f"r{i}") for i in range(20))


def groups(daemon):
    return {g.pop("name"): g for g in daemon.call("group.list")["groups"]}


def submit(daemon, repos, group="night", **params):
    return daemon.submit(next(repos).path, **({"group": group} if group else {}), **params)


def waits(daemon, run, reason):
    with daemon.events(run=run) as events:
        events.until("run.state", lambda e: e.get("reason") == reason)


def finish(daemon, *runs):
    for run in runs:
        daemon.play.go(f"g{run}")
    rows = daemon.ended(*runs)
    assert {r["state"] for r in (rows if isinstance(rows, list) else [rows])} == {"succeeded"}


def test_the_list(daemon, repos):
    idle = {"live": False, "used": 0, "queued": 0, "paused": False}
    assert list(groups(daemon)) == ["default", "night"]
    assert groups(daemon)["night"] == {"slots": 1, **idle}
    default = groups(daemon)["default"]
    first, second, other = submit(daemon, repos), submit(daemon, repos), submit(daemon, repos, group=None)
    daemon.play.arrived(f"g{first}")
    daemon.play.arrived(f"g{other}")
    assert [daemon.run(r)["group"] for r in (first, other)] == ["night", "default"]
    waits(daemon, second, "group night: its only slot is in use")
    assert groups(daemon) == {"default": {**default, "used": 1}, "night": {"slots": 1, **idle, "used": 1, "queued": 1}}
    daemon.play.go(f"g{first}")
    daemon.play.arrived(f"g{second}")
    finish(daemon, second, other)


def test_slots_change_live(daemon, repos):
    runs = [submit(daemon, repos) for _ in range(4)]
    daemon.play.arrived(f"g{runs[0]}")
    answer = daemon.call("group.set", name="night", slots=3)
    assert answer == {"name": "night", "slots": 3, "live": True, "used": answer["used"],
                      "queued": answer["queued"], "paused": False}
    for run in runs[1:3]:
        daemon.play.arrived(f"g{run}")
    waits(daemon, runs[3], "group night: all 3 slots are in use")
    # fewer slots than run: they go on, and the next waits until there is room
    assert daemon.call("group.set", name="night", slots=1)["used"] == 3
    daemon.play.go(f"g{runs[0]}")
    daemon.play.go(f"g{runs[1]}")
    daemon.ended(*runs[:2])
    assert daemon.play.starts(runs[3]) == [] and daemon.run(runs[2])["state"] == "running"
    daemon.play.go(f"g{runs[2]}")
    daemon.play.arrived(f"g{runs[3]}")
    finish(daemon, runs[3])
    assert {r["state"] for r in daemon.ended(*runs)} == {"succeeded"}
    # as configured again
    assert daemon.call("group.set", name="night") == {"name": "night", "slots": 1, "live": False,
                                                      "used": 0, "queued": 0, "paused": False}


def test_a_paused_group_starts_nothing(daemon, repos):
    running = submit(daemon, repos)
    daemon.play.arrived(f"g{running}")
    assert daemon.call("group.pause", name="night")["paused"]
    daemon.call("group.set", name="night", slots=4)
    waiting = submit(daemon, repos)
    other = submit(daemon, repos, group=None)
    daemon.play.arrived(f"g{other}")
    waits(daemon, waiting, "group night is paused")
    finish(daemon, running, other)
    assert daemon.play.starts(waiting) == [] and daemon.run(waiting)["state"] == "queued"
    assert not daemon.call("group.resume", name="night")["paused"]
    daemon.play.arrived(f"g{waiting}")
    finish(daemon, waiting)


def test_between_the_attempts_of_a_run(make_daemon, repos):
    """A run at work keeps its slot, but its next attempt waits while the group is paused."""
    daemon = make_daemon(scripts={**SCRIPTS, "review": "pass\n"}, gates=GATES, config={"group.night": {"slots": 2}})
    run = daemon.review(next(repos).path, group="night")
    daemon.play.arrived(f"g{run}")
    daemon.call("group.pause", name="night")
    daemon.play.go(f"g{run}")
    with daemon.events(run=run) as events:
        events.until("attempt.ended")
    other = daemon.review(next(repos).path)
    daemon.play.arrived(f"g{other}")
    finish(daemon, other)
    assert [s[1] for s in daemon.play.starts(run)] == ["implement"]
    daemon.call("group.resume", name="night")
    assert daemon.ended(run)["state"] == "succeeded"


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_limits_outlive_the_daemon(daemon, repos, end):
    daemon.call("group.set", name="night", slots=2)
    daemon.call("group.set", name="day", slots=7)
    daemon.call("group.pause", name="day")
    before = groups(daemon)
    assert before["day"] == {"slots": 7, "live": True, "used": 0, "queued": 0, "paused": True}
    getattr(daemon, end)()
    daemon.start()
    assert groups(daemon) == before
    runs = [submit(daemon, repos) for _ in range(3)]
    for run in runs[:2]:
        daemon.play.arrived(f"g{run}")
    waits(daemon, runs[2], "group night: all 2 slots are in use")
    daemon.play.go(f"g{runs[0]}")
    daemon.play.arrived(f"g{runs[2]}")
    finish(daemon, runs[1], runs[2])


def test_a_reload_changes_what_is_configured(daemon, repos):
    runs = [submit(daemon, repos) for _ in range(2)]
    daemon.play.arrived(f"g{runs[0]}")
    daemon.write_config({"parallel": 4, "group.night": {"slots": 2}, "group.day": {"slots": 5}})
    daemon.call("daemon.reload")
    daemon.play.arrived(f"g{runs[1]}")
    assert {n: g["slots"] for n, g in groups(daemon).items() if n != "default"} == {"day": 5, "night": 2}
    # what was set live goes before it
    daemon.call("group.set", name="night", slots=3)
    daemon.write_config({"parallel": 4, "group.night": {"slots": 1}})
    daemon.call("daemon.reload")
    assert groups(daemon)["night"]["slots"] == 3
    assert daemon.call("group.set", name="night")["slots"] == 1
    finish(daemon, *runs)


def test_what_is_refused(daemon):
    before = groups(daemon)
    for params in ({"name": ""}, {"name": "a b"}, {"name": "-a"}, {"name": "x" * 65},
                   {"name": "night", "slots": 0}, {"name": "night", "slots": 1001},
                   {"name": "night", "slots": "2"}, {}):
        with pytest.raises(RpcError) as error:
            daemon.call("group.set", **params)
        assert error.value.code == -32602 and error.value.data["field"] in ("name", "slots"), params
    assert daemon.call("group.set", name="night", slots=5, check=True)["slots"] == 1
    assert not daemon.call("group.pause", name="night", check=True)["paused"]
    assert not daemon.call("group.pause", name="nobody", check=True)["paused"]
    assert groups(daemon) == before


def test_it_is_told(daemon):
    with daemon.events(types=["group"]) as events:
        daemon.call("group.pause", name="night")
        event = events.until("group")
    assert (event["group"], event["paused"], event["run"]) == ("night", True, None)


def test_the_commands(daemon, repos):
    run = submit(daemon, repos)
    daemon.play.arrived(f"g{run}")
    done = daemon.rlctl("group", "set", "night", "--slots", "3", check=0)
    assert (done.out, done.err) == ("", "Group night: 3 slots, 1 in use.\n")
    assert daemon.rlctl("group", "pause", "night", check=0).err == "Group night: 3 slots, 1 in use; paused.\n"
    rows = [line.split() for line in daemon.rlctl("group", "list", check=0).out.splitlines()]
    assert rows[0] == ["GROUP", "STATE", "USED", "SLOTS", "QUEUED", "FROM"]
    assert rows[2] == ["night", "paused", "1", "3", "0", "group", "set"]
    assert daemon.rlctl("group", "resume", "night", check=0).err == "Group night: 3 slots, 1 in use.\n"
    assert daemon.rlctl("group", "set", "night", "--slots", "default",
                        check=0).err == "Group night: 1 slot, 1 in use.\n"
    for wrong in (["set", "night"], ["set", "night", "--slots", "0"],
                  ["set", "night", "--slots", "many"], ["pause"], ["list", "x"], ["what"]):
        assert daemon.rlctl("group", *wrong, check=2).out == ""
    assert "is not a valid group name" in daemon.rlctl("group", "set", "a b", "--slots", "1", check=1).err
    listed = daemon.rlctl("list", check=0).out.splitlines()
    assert listed[0].split()[:3] == ["RUN", "STATE",
                                     "GROUP"] and listed[1].split()[:3] == [str(run), "running", "night"]
    assert "\ngroup    night\n" in daemon.rlctl("show", run, check=0).out
    finish(daemon, run)
