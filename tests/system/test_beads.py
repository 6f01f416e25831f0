# SPDX-License-Identifier: MIT
"""Beads as tasks, with bd and without: each is worked on once, whoever else works on them, and the
source is told the truth."""
import json
import os

import pytest
from outer import NOTE, WORK, Bd, Beads, bead, done, reasons, states, submit, tasks_done, with_bd
from rld import Repo, RpcError

EXPORT_OR_BD = pytest.mark.parametrize("has_bd", [False, True], ids=["export", "bd"])


@pytest.fixture
def make(make_daemon, tmp_path):
    """make(has_bd) → a daemon, and its Bd, None without."""
    def with_or_without(has_bd=True, scripts=None, **kwargs):
        scripts = scripts or {"implement": WORK}
        if has_bd:
            return with_bd(make_daemon, tmp_path, scripts=scripts, **kwargs)
        return make_daemon(scripts=scripts, **kwargs), None
    return with_or_without


def names(count):
    return [f"x-{n}" for n in range(1, count + 1)]


# ---- one bead, one worker ------------------------------------------------------------------------

@EXPORT_OR_BD
def test_more_slots_than_beads(make, tmp_path, has_bd):
    daemon, _ = make(has_bd, config={"parallel": 64})
    ids = names(40)
    for night in range(1 if has_bd else 3):
        beads = Beads(tmp_path / f"night{night}", *(bead(i) for i in ids))
        row = daemon.ended(submit(daemon, beads.path, parallel=64))
        assert row["state"] == "succeeded", row
        assert sorted(tasks_done(daemon.play, row["id"])) == sorted(ids)
        assert {t["state"] for t in row["tasks"]} == {"passed"} and len(row["tasks"]) == 40
        if has_bd:
            assert set(beads.issues().values()) == {("closed", beads.issues()["x-1"][1])}
            assert len(beads.calls("--claim")) == len(beads.calls(" close ")) == 40
    assert len({d.uuid for d in done(daemon.play)}) == len(done(daemon.play))


@EXPORT_OR_BD
def test_two_runs_at_once(make, tmp_path, has_bd):
    """One names the directory as it is, the other by a link."""
    daemon, _ = make(has_bd, scripts={"implement": NOTE + '[ "$RL_SLOT.$RL_ITERATION" != 1.1 ] || '
                                      'gate "g$RL_RUN"\nanswer done\n'}, gates=["g1", "g2"],
                     config={"parallel": 8})
    ids = names(12)
    beads = Beads(tmp_path / "beads", *(bead(i) for i in ids))
    (tmp_path / "link").symlink_to(beads.path)
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
    runs = [submit(daemon, tmp_path / "one", beads=str(beads.path), parallel=4),
            submit(daemon, tmp_path / "two", beads=f"{tmp_path}/link/", parallel=4)]
    for gate in ("g1", "g2"):
        daemon.play.arrived(gate)
    held = {t["id"] for r in runs for t in daemon.run(r)["tasks"] if t["state"] == "claimed"}
    for gate in ("g1", "g2"):
        daemon.play.go(gate)
    assert {r["state"] for r in daemon.ended(*runs)} == {"succeeded"}
    assert sorted(tasks_done(daemon.play)) == sorted(ids), "each once"
    assert all(tasks_done(daemon.play, r) for r in runs) and held
    for run in runs:
        others = set(ids) - set(tasks_done(daemon.play, run))
        assert {s for i, s in states(daemon, run).items() if i in others} <= {"taken", "done"}


def test_what_another_run_works_on_is_taken(make, tmp_path):
    daemon, _ = make(False, scripts={"implement": NOTE + "gate g$RL_RUN\n"}, gates=["g1", "g2"])
    beads = Beads(tmp_path / "beads", bead("x-1"), bead("x-2", priority=2))
    (tmp_path / "two").mkdir()
    first = submit(daemon, beads.path)
    daemon.play.arrived("g1")
    second = submit(daemon, tmp_path / "two", beads=str(beads.path))
    daemon.play.arrived("g2")
    assert (states(daemon, second)["x-1"], reasons(daemon, second)["x-1"]) == ("taken", "run 1 works on it")
    assert [d.task for d in done(daemon.play)] == ["x-1", "x-2"]
    daemon.play.go("g2")
    assert daemon.ended(second)["state"] == "succeeded"
    daemon.play.go("g1")
    assert daemon.ended(first)["state"] == "succeeded"
    assert tasks_done(daemon.play) == ["x-1", "x-2"]


def test_a_list_that_is_older_than_the_claim_of_another_run(make, tmp_path):
    daemon, bd = make(scripts={"implement": NOTE + "gate g$RL_RUN\n"}, gates=["g1", "g2"])
    beads = Beads(tmp_path / "beads", bead("x-1"), bead("x-2", priority=2))
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
    bd.stop("ready", "after")
    late = submit(daemon, tmp_path / "one", beads=str(beads.path))
    daemon.play.arrived("bd")
    first = submit(daemon, tmp_path / "two", beads=str(beads.path))
    daemon.play.arrived(f"g{first}")
    daemon.play.go("bd")
    daemon.play.arrived(f"g{late}")
    assert (states(daemon, late)["x-1"], reasons(daemon, late)["x-1"]) == ("taken", f"run {first} works on it")
    assert [d.task for d in done(daemon.play)] == ["x-1", "x-2"]
    for run in (first, late):
        daemon.play.go(f"g{run}")
    assert {r["state"] for r in daemon.ended(first, late)} == {"succeeded"}
    assert {s for s, _ in beads.issues().values()} == {"closed"}


def test_two_daemons(make_daemon, tmp_path):
    """Both have read what is ready before either claims; both runs are number 1 of their daemon."""
    beads = Beads(tmp_path / "beads", bead("x-1"), bead("x-2", priority=2))
    one, _ = with_bd(make_daemon, tmp_path, "one", scripts={"implement": NOTE + "gate g\n"}, gates=["g"])
    two, bd = with_bd(make_daemon, tmp_path, "two", scripts={"implement": NOTE + "gate g\n"}, gates=["g"])
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
    bd.stop("ready", "after")
    late = submit(two, tmp_path / "b", beads=str(beads.path))
    two.play.arrived("bd")
    first = submit(one, tmp_path / "a", beads=str(beads.path))
    one.play.arrived("g")
    owner = beads.issues()["x-1"][1]
    two.play.go("bd")
    two.play.arrived("g")
    assert (states(two, late)["x-1"], reasons(two, late)["x-1"]) == ("taken", f"taken: {owner}")
    assert beads.issues()["x-1"] == ("in_progress", owner) and beads.issues()["x-2"][1] not in (None, owner)
    for daemon in (one, two):
        daemon.play.go("g")
    assert one.ended(first)["state"] == two.ended(late)["state"] == "succeeded"
    assert tasks_done(one.play) == ["x-1"] and tasks_done(two.play) == ["x-2"]
    assert {s for s, _ in beads.issues().values()} == {"closed"}


@pytest.mark.broad
def test_two_daemons_with_many_slots(make_daemon, tmp_path):
    ids = names(40)
    beads = Beads(tmp_path / "beads", *(bead(i) for i in ids))
    daemons = [with_bd(make_daemon, tmp_path, name, scripts={"implement": WORK},
                       config={"parallel": 64})[0] for name in ("one", "two")]
    for daemon in daemons:
        (tmp_path / f"{daemon.path.name}.work").mkdir()
        submit(daemon, tmp_path / f"{daemon.path.name}.work", beads=str(beads.path), parallel=64)
    assert {d.ended(1)["state"] for d in daemons} == {"succeeded"}
    assert sorted(tasks_done(daemons[0].play) + tasks_done(daemons[1].play)) == sorted(ids), "each once"
    assert len(beads.calls(" close ")) == 40 and {s for s, _ in beads.issues().values()} == {"closed"}


def test_nothing_is_left_for_a_slot(make, tmp_path):
    """Somebody else was quicker with the last one: no task, no agent, no failure."""
    daemon, bd = make()
    beads = Beads(tmp_path / "beads", bead("x-1"))
    bd.stop("ready", "after")
    run = submit(daemon, beads.path)
    daemon.play.arrived("bd")
    beads.bd("update", "x-1", "--claim")
    daemon.play.go("bd")
    row = daemon.ended(run)
    assert row["state"] == "succeeded" and daemon.play.starts() == [], row
    assert reasons(daemon, run) == {"x-1": "taken: eve"} and beads.issues() == {"x-1": ("in_progress", "eve")}


# ---- the daemon dies -----------------------------------------------------------------------------

@pytest.mark.parametrize("what", ["claim", "close", "release"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_while_bd_works(make, tmp_path, what, when):
    """What bd is at comes to its end, and then it is asked again; nobody works on
    the bead twice."""
    daemon, bd = make(scripts={"implement": NOTE + ("exit 1\n" if what == "release" else "answer done\n")})
    beads = Beads(tmp_path / "beads", bead("x-1"))
    bd.stop(what, when)
    run = submit(daemon, beads.path)
    daemon.play.arrived("bd")
    daemon.kill()
    daemon.start()
    daemon.play.go("bd")
    row = daemon.ended(run)
    assert row["state"] == ("failed" if what == "release" else "succeeded") and row["warnings"] == [], row
    assert tasks_done(daemon.play) == ["x-1"]
    assert beads.issues()["x-1"][0] == ("open" if what == "release" else "closed")


# ---- the end of a bead ---------------------------------------------------------------------------

@EXPORT_OR_BD
def test_a_failed_bead_is_released(make, tmp_path, has_bd):
    daemon, _ = make(has_bd, scripts={"implement": NOTE +
                                      '[ "$RL_RUN.$RL_TASK_ID" != 1.x-2 ] || exit 3\nanswer done\n'})
    beads = Beads(tmp_path / "beads", *(bead(i) for i in names(3)))
    row = daemon.ended(submit(daemon, beads.path))
    assert row["state"] == "failed" and "3" in row["cause"], row
    assert states(daemon, 1) == {"x-1": "passed", "x-2": "failed", "x-3": "cancelled"}
    assert reasons(daemon, 1)["x-3"].startswith("not started: ")
    if has_bd:
        assert beads.issues()["x-2"] == beads.issues()["x-3"] == ("open", None) and beads.issues()["x-1"][0] == "closed"
    # and is anybody's
    assert daemon.ended(submit(daemon, beads.path))["state"] == "succeeded"
    assert tasks_done(daemon.play, 2) == ["x-2", "x-3"]
    if has_bd:
        assert {s for s, _ in beads.issues().values()} == {"closed"}


@EXPORT_OR_BD
def test_a_failed_bead_is_not_offered_again_in_its_run(make, tmp_path, has_bd):
    daemon, _ = make(has_bd, scripts={"implement": NOTE + '[ "$RL_TASK_ID" != x-1 ] || exit 3\nanswer done\n'})
    beads = Beads(tmp_path / "beads", *(bead(i) for i in names(3)))
    row = daemon.ended(submit(daemon, beads.path, on_failure="continue"))
    assert row["state"] == "failed" and tasks_done(daemon.play) == names(3), row
    assert states(daemon, 1) == {"x-1": "failed", "x-2": "passed", "x-3": "passed"}


@EXPORT_OR_BD
def test_a_cancelled_run_gives_its_beads_back(make, tmp_path, has_bd):
    daemon, _ = make(has_bd, scripts={"implement": NOTE + "[ $RL_RUN != 1 ] || gate g\nanswer done\n"}, gates=["g"])
    beads = Beads(tmp_path / "beads", bead("x-1"), bead("x-2"))
    run = submit(daemon, beads.path)
    daemon.play.arrived("g")
    row = daemon.cancelled(run)
    assert row["state"] == "cancelled" and row["warnings"] == [], row
    if has_bd:
        assert set(beads.issues().values()) == {("open", None)}
    assert daemon.ended(submit(daemon, beads.path))["state"] == "succeeded"
    assert tasks_done(daemon.play, 2) == ["x-1", "x-2"]


def test_what_its_agent_has_closed_is_open_again_when_it_failed(make, tmp_path):
    daemon, _ = make(scripts={"implement": f"cd '{tmp_path}/beads' && "
                              f"'{os.path.dirname(__file__)}/../fakes/bd' close x-1\nexit 3\n"})
    beads = Beads(tmp_path / "beads", bead("x-1"))
    assert daemon.ended(submit(daemon, beads.path))["state"] == "failed"
    assert beads.issues() == {"x-1": ("open", None)}


def test_who_has_it_by_now_keeps_it(make, tmp_path):
    daemon, _ = make(scripts={"implement": "gate g\nexit 3\n"}, gates=["g"])
    beads = Beads(tmp_path / "beads", bead("x-1"))
    run = submit(daemon, beads.path)
    daemon.play.arrived("g")
    beads.bd("update", "x-1", "--assignee=eve")
    daemon.play.go("g")
    assert daemon.ended(run)["state"] == "failed"
    assert beads.issues() == {"x-1": ("in_progress", "eve")}


# ---- what others do meanwhile --------------------------------------------------------------------

@EXPORT_OR_BD
def test_new_beads(make, tmp_path, has_bd):
    daemon, _ = make(has_bd,
                     scripts={"implement": NOTE + '[ "$RL_TASK_ID" != x-1 ] || gate g\nanswer done\n'},
                     gates=["g"])
    beads = Beads(tmp_path / "beads", bead("x-1"), bead("x-3", priority=3))
    run = submit(daemon, beads.path)
    daemon.play.arrived("g")
    if has_bd:
        beads.bd("create", "new", "--id=x-2", "--priority=2")
    else:
        beads.write(bead("x-1"), bead("x-3", priority=3), bead("x-2", priority=2))
    daemon.play.go("g")
    assert daemon.ended(run)["state"] == "succeeded"
    assert tasks_done(daemon.play) == ["x-1", "x-2", "x-3"], "by priority, the new one too"


@EXPORT_OR_BD
def test_closed_by_somebody_else(make, tmp_path, has_bd):
    daemon, _ = make(has_bd,
                     scripts={"implement": NOTE + '[ "$RL_TASK_ID" != x-1 ] || gate g\nanswer done\n'},
                     gates=["g"])
    beads = Beads(tmp_path / "beads", *(bead(i) for i in names(3)))
    run = submit(daemon, beads.path)
    daemon.play.arrived("g")
    if has_bd:
        beads.bd("close", "x-1", "x-2")
    else:
        beads.write(bead("x-1", status="closed"), bead("x-2", status="closed"), bead("x-3"))
    daemon.play.go("g")
    row = daemon.ended(run)
    assert row["state"] == "succeeded" and row["warnings"] == [], row
    assert tasks_done(daemon.play) == ["x-1", "x-3"]
    assert states(daemon, run)["x-1"] == "passed" and states(daemon, run)["x-2"] in ("done", "taken")
    assert (not has_bd or reasons(daemon, run)["x-2"] ==
            "its source no longer offers it: it was closed, claimed or held back there")


# ---- order ---------------------------------------------------------------------------------------

@EXPORT_OR_BD
def test_priority_and_dependencies(make, tmp_path, has_bd):
    daemon, _ = make(has_bd)
    beads = Beads(tmp_path / "beads",
                  json.dumps({"_type": "memory", "key": "k", "value": "no issue"}),
                  bead("late", priority=4), bead("x-10", priority=2), bead("x-9", priority=2),
                  bead("first", priority=0),
                  bead("wall", priority=3), bead("behind", priority=0, on=["wall"]),
                  bead("last", priority=0, on=["behind", "late"]),
                  bead("related", priority=1,
                       dependencies=[{"issue_id": "related", "depends_on_id": "late", "type": "related"}]),
                  bead("shut", status="closed"), bead("later", status="deferred"),
                  bead("child", priority=0, dependencies=[
                      {"issue_id": "child", "depends_on_id": "parent", "type": "parent-child"}]),
                  bead("parent", priority=4, on=["late"]))
    assert daemon.ended(submit(daemon, beads.path))["state"] == "succeeded"
    order = tasks_done(daemon.play)
    assert order[:6] == ["first", "related", "x-10", "x-9", "wall", "behind"], order
    assert order[6] == "late" and sorted(order[7:]) == ["child", "last", "parent"], order


@EXPORT_OR_BD
def test_the_last_line_of_an_id_counts(make, tmp_path, has_bd):
    daemon, _ = make(has_bd)
    beads = Beads(tmp_path / "beads", bead("x-1", title="old"), bead("x-2"), "",
                  bead("x-2", status="closed"), bead("x-1", title="new"))
    assert daemon.ended(submit(daemon, beads.path))["state"] == "succeeded"
    assert tasks_done(daemon.play) == ["x-1"] and daemon.run(1)["tasks"][0]["title"] == "new"


@EXPORT_OR_BD
def test_a_dependant_of_a_failed_bead_never_starts(make, tmp_path, has_bd):
    daemon, _ = make(has_bd, scripts={"implement": NOTE + '[ "$RL_TASK_ID" != x-1 ] || exit 3\nanswer done\n'})
    beads = Beads(tmp_path / "beads", bead("x-1"), bead("x-2", on=["x-1"]), bead("x-3", on=["x-2"]), bead("x-4"))
    row = daemon.ended(submit(daemon, beads.path, on_failure="continue"))
    assert row["state"] == "failed" and tasks_done(daemon.play) == ["x-1", "x-4"], row
    assert states(daemon, 1) == {"x-1": "failed", "x-2": "cancelled", "x-3": "cancelled", "x-4": "passed"}
    assert reasons(daemon, 1) == {**reasons(daemon, 1), "x-2": "depends on x-1, which failed",
                                  "x-3": "depends on x-2, which never starts"}
    shown = daemon.rlctl("show", 1, check=0).out
    assert "depends on x-1, which failed" in shown and "depends on x-2, which never starts" in shown


@EXPORT_OR_BD
def test_what_waits_for_others_says_for_whom(make, tmp_path, has_bd):
    """x-2 for a bead of the run, x-3 for one that somebody else works on, x-4 for x-3."""
    daemon, _ = make(has_bd, scripts={"implement": NOTE + "[ $RL_TASK_ID != x-1 ] || gate g\nanswer done\n"})
    daemon.play.gates("g")
    beads = Beads(tmp_path / "beads", bead("x-1"), bead("x-2", on=["x-1"]),
                  bead("y-1", status="in_progress", assignee="eve"),
                  bead("x-3", on=["y-1"]), bead("x-4", on=["x-3"]), bead("z-1", status="deferred"))
    run = submit(daemon, beads.path)
    daemon.play.arrived("g")
    assert states(daemon, run) == {"x-1": "claimed", "x-2": "open", "x-3": "taken", "x-4": "open"}
    assert (reasons(daemon, run)["x-3"] == "waits for y-1, which is not in this run"
            and "waits for x-1" in daemon.rlctl("show", run, check=0).out)
    daemon.play.go("g")
    row = daemon.ended(run)
    assert row["state"] == "succeeded" and tasks_done(daemon.play) == ["x-1", "x-2"], row
    assert states(daemon, run) == {"x-1": "passed", "x-2": "passed", "x-3": "taken", "x-4": "cancelled"}
    assert reasons(daemon, run)["x-4"] == "depends on x-3, which is left to another run"
    assert row["cause"] == "1 task(s) left, waiting for tasks that are not in this run", row


@EXPORT_OR_BD
def test_what_waits_for_a_bead_that_only_waits_for_the_review_of_the_run(make, tmp_path, has_bd):
    """It is done before that review, which is about all of them; nobody has closed what it waited
    for yet. But it is not when it waits for somebody else as well."""
    passes = 'answer \'{"verdict": "pass", "followUpPrompt": ""}\'\n'
    daemon, _ = make(has_bd, scripts={"implement": NOTE + "echo $RL_TASK_ID >> work.txt\nanswer done\n",
                                      "review": passes})
    repo = Repo(tmp_path / "repo")
    Beads(repo.path, bead("x-1"), bead("x-2", on=["x-1"]), bead("x-3", on=["x-2"]),
          bead("y-1", status="in_progress", assignee="eve"), bead("z-1", on=["x-1", "y-1"]))
    row = daemon.ended(submit(daemon, repo.path, review={"enabled": True, "scope": "run"}))
    assert row["state"] == "succeeded" and tasks_done(daemon.play) == ["x-1", "x-2", "x-3"], row
    assert states(daemon, 1) == {"x-1": "passed", "x-2": "passed", "x-3": "passed", "z-1": "taken"}
    assert reasons(daemon, 1)["z-1"] == "waits for y-1, which is not in this run"
    assert len(daemon.play.starts(1, "review")) == 1


# ---- the export alone ----------------------------------------------------------------------------

def test_what_has_passed_is_not_offered_again_until_it_is_newer(make, tmp_path):
    daemon, _ = make(False)
    beads = Beads(tmp_path / "beads", bead("x-1"), bead("x-2"))
    before = beads.export.read_bytes()
    assert daemon.ended(submit(daemon, beads.path))["state"] == "succeeded"
    assert beads.export.read_bytes() == before, "never written"
    daemon.restart()
    assert daemon.ended(submit(daemon, beads.path))["state"] == "succeeded"
    assert tasks_done(daemon.play, 2) == []
    beads.write(bead("x-1"), bead("x-2", updated_at="2099-01-01T00:00:00.123+02:00"))
    assert daemon.ended(submit(daemon, beads.path))["state"] == "succeeded"
    assert tasks_done(daemon.play, 3) == ["x-2"]


@pytest.mark.parametrize("wrong, words",
                         [("{", ""), ('{"title": "no id"}', "id"), ("[]", ""),
                          ('{"id": "x-9", "id": "x-8"}', ""),
                          ('{"id": "x-9", "status": 1}', "status"), ("<<<<<<< HEAD", "merge")])
def test_one_malformed_line(make, tmp_path, wrong, words):
    daemon, _ = make(False)
    beads = Beads(tmp_path / "beads", bead("x-1"), "", wrong, bead("x-2"))
    for check in (True, False):
        with pytest.raises(RpcError) as refused:
            submit(daemon, beads.path, check=check)
        told = refused.value
        assert ((told.code, told.data["field"]) == (-32602, "beads")
                and ".beads/issues.jsonl:3: " in told.message and words in told.message), told
    done = daemon.rlctl("submit", "--dry-run", "--beads", cwd=beads.path, check=1)
    assert ".beads/issues.jsonl:3: " in done.err and "The run is valid" not in done.out + done.err
    assert daemon.call("run.list")["runs"] == [] and daemon.play.starts() == [], "none of it is trusted"


def test_with_bd_the_export_is_nobodys_business(make, tmp_path):
    """Its database is what counts, and nothing of it is asked before the run begins."""
    daemon, _ = make(True)
    beads = Beads(tmp_path / "beads", bead("x-1"))
    beads.bd("ready", "--json")
    beads.export.write_text("{\n")
    assert submit(daemon, beads.path, check=True, environment={"PATH": daemon.environment["PATH"]}) is None
    assert daemon.ended(submit(daemon, beads.path))["state"] == "succeeded" and tasks_done(daemon.play) == ["x-1"]


def test_neither_bd_nor_an_export(make, tmp_path):
    daemon, _ = make(False)
    (tmp_path / "empty" / ".beads").mkdir(parents=True)
    assert "install bd" in daemon.rlctl("submit", "--dry-run", "--beads", cwd=tmp_path / "empty", check=1).err


def test_malformed_meanwhile(make, tmp_path):
    daemon, _ = make(False, scripts={"implement": NOTE + "gate g\nanswer done\n"}, gates=["g"])
    beads = Beads(tmp_path / "beads", bead("x-1"), bead("x-2"))
    run = submit(daemon, beads.path)
    daemon.play.arrived("g")
    beads.write("what is this")
    daemon.play.go("g")
    row = daemon.ended(run)
    assert row["state"] == "failed" and ".beads/issues.jsonl:1: " in row["cause"], row
    assert states(daemon, run)["x-1"] == "passed" and tasks_done(daemon.play) == ["x-1"]


# ---- bd says no ----------------------------------------------------------------------------------

def test_bd_cannot_say_what_is_ready(make, tmp_path):
    daemon, bd = make()
    beads = Beads(tmp_path / "beads", bead("x-1"))
    bd.says("ready", '{"error": "the \\u001b[31mdatabase is of a later version", "schema_version": 1}\n')
    row = daemon.ended(submit(daemon, beads.path))
    assert (row["state"] == "failed" and "bd ready" in row["cause"]
            and "database is of a later version" in row["cause"] and "\x1b" not in row["cause"]), row
    assert daemon.play.starts() == [], "the export is no substitute"


def test_while_bd_does_not_answer(make, tmp_path):
    """The run says whom it waits for, also when it was at rest before, and can be cancelled."""
    daemon, bd = make(scripts={"implement": WORK})
    beads = Beads(tmp_path / "beads", bead("x-1"), bead("x-2"))
    bd.stop("ready", "before")
    run = submit(daemon, beads.path, pause_ms=1)
    daemon.play.arrived("bd")
    assert (daemon.run(run)["state"], daemon.run(run)["reason"]) == ("running", "waits for bd ready")
    job, = (daemon.state / "attempts").glob("*/job")
    assert "\nwall_ms 300000\n" in job.read_text(), job.read_text()
    bd.stop("claim", "before")
    daemon.play.go("bd")
    daemon.play.arrived("bd")
    assert daemon.run(run)["reason"] is None
    bd.stop("ready", "before")
    daemon.play.go("bd")
    daemon.play.arrived("bd")
    assert (daemon.run(run)["iteration"], daemon.run(run)["reason"]) == (1, "waits for bd ready")
    daemon.call("run.cancel", id=run)
    row = daemon.ended(run)
    assert row["state"] == "cancelled" and tasks_done(daemon.play) == ["x-1"], row


def test_bd_cannot_claim(make, tmp_path):
    daemon, bd = make()
    beads = Beads(tmp_path / "beads", bead("x-1"), bead("x-2"))
    bd.says("claim", '{"error": "unknown flag: --claim", "schema_version": 1}\n')
    row = daemon.ended(submit(daemon, beads.path))
    assert row["state"] == "failed" and "bd update x-1" in row["cause"] and "unknown flag: --claim" in row["cause"], row
    assert daemon.play.starts() == [], "what is not claimed is not worked on"
    assert states(daemon, 1)["x-1"] == "failed"


def test_bd_cannot_close(make, tmp_path):
    """What was paid for is not lost: the task has passed, and somebody is told."""
    daemon, bd = make()
    beads = Beads(tmp_path / "beads", bead("x-1"), bead("x-2"))
    bd.says("close", '{"error": "blocked by open issues [x-9]", "schema_version": 1}\n')
    row = daemon.ended(submit(daemon, beads.path))
    assert row["state"] == "succeeded" and tasks_done(daemon.play) == ["x-1", "x-2"], row
    assert len(row["warnings"]) == 2 and all(f"task x-{n + 1}: " in w and "blocked by open issues [x-9]" in w
                                             for n, w in enumerate(row["warnings"])), row


def test_bd_cannot_release(make, tmp_path):
    daemon, bd = make(scripts={"implement": "exit 3\n"})
    beads = Beads(tmp_path / "beads", bead("x-1"))
    bd.says("release", '{"error": "unknown flag: --status", "schema_version": 1}\n')
    row = daemon.ended(submit(daemon, beads.path))
    assert (row["state"] == "failed" and len(row["warnings"]) == 1 and "release" in row["warnings"][0]
            and "unknown flag: --status" in row["warnings"][0]), row


def test_bd_goes_away(make, tmp_path):
    """Between the claim and the close. The bead was worked on once, and that nobody
    was told is told."""
    daemon, bd = make(scripts={"implement": NOTE + '[ "$RL_TASK_ID" != x-1 ] || gate g\nanswer done\n'}, gates=["g"])
    beads = Beads(tmp_path / "beads", bead("x-1"), bead("x-2"))
    run = submit(daemon, beads.path)
    daemon.play.arrived("g")
    bd.program.unlink()
    daemon.play.go("g")
    row = daemon.ended(run)
    assert tasks_done(daemon.play) == ["x-1", "x-2"] and states(daemon, run) == {"x-1": "passed", "x-2": "passed"}
    assert row["state"] == "succeeded" and any("x-1" in w and "bd" in w for w in row["warnings"]), row


@pytest.mark.parametrize("envelope", ["0", "1"])
def test_bd_in_an_envelope(make_daemon, tmp_path, envelope):
    bd = Bd(tmp_path / "d.tools", tmp_path / "d.play")
    bd.program.write_text(bd.program.read_text().replace("PLAY=", f"export BD_JSON_ENVELOPE={envelope}\nPLAY="))
    daemon = make_daemon(scripts={"implement": WORK}, environment=bd.environment, gates=["bd"])
    beads = Beads(tmp_path / "beads", bead("x-1"), bead("x-2"))
    assert daemon.ended(submit(daemon, beads.path, parallel=2))["state"] == "succeeded"
    assert {s for s, _ in beads.issues().values()} == {"closed"}


# ---- ids -----------------------------------------------------------------------------------------

ODD = ["x-7", "x-7.1", "a/b", "a", "..", ".", "../../up", "a..b", "x.lock", "@{-1}", "with space",
       "tab~^:?*[\\", "größe-ö", "日本", "%41", "'\"$(touch no)`", "HEAD", "z" * 200, "ö" * 100,
       "ö" * 99 + "oe"]


@EXPORT_OR_BD
def test_odd_ids(make, tmp_path, has_bd):
    """Each has a branch and a ref of its own, below ours, and nothing is made beside them."""
    daemon, _ = make(has_bd, scripts={"implement": NOTE + 'echo "$RL_TASK_ID" > out.txt\nanswer done\n',
                                      "review": "pass\n"}, config={"parallel": 6})
    repo = Repo(tmp_path / "repo with ö")
    ids = ODD if not has_bd else ODD[:6]
    beads = Beads(repo.path, *(bead(i) for i in ids), bead("-rf"))
    repo.write(".gitignore", ".beads/\n")
    repo.git("add", ".gitignore")
    repo.git("commit", "-q", "-m", "ignore")
    before = sorted(p.name for p in tmp_path.iterdir())
    row = daemon.ended(submit(daemon, repo.path, parallel=6, integrate="none", review={"enabled": True}))
    assert row["state"] == "succeeded" and sorted(tasks_done(daemon.play)) == sorted(ids), row
    tasks = {t["id"]: t for t in row["tasks"]}
    assert "-rf" not in tasks and set(tasks) == set(ids)
    assert len({t["branch"] for t in tasks.values()}) == len(ids)
    for name, task in tasks.items():
        assert task["branch"].startswith("rl/1/") and task["branch"].count("/") == 2, task
        assert repo.git("show", f"{task['branch']}:out.txt") == name
    assert len(repo.git("for-each-ref", daemon.ref("passed")).splitlines()) == len(ids)
    assert sorted(p.name for p in tmp_path.iterdir()) == before and repo.git("status", "--porcelain") == ""
    assert repo.git("worktree", "list").count("\n") == 0
    if has_bd:
        assert {s for i, (s, _) in beads.issues().items()
                if i != "-rf"} == {"closed"} and beads.issues()["-rf"] == ("open", None)


@pytest.mark.broad
def test_many_beads(make, tmp_path):
    """A project of many years. The daemon stands still for none of it; with a look at all beads for
    each it would for minutes."""
    daemon, _ = make(False, scripts={"implement": WORK + "answer no_beads_available\n"})
    ids = names(30000)
    beads = Beads(tmp_path / "beads", *(bead(i, priority=n % 5, on=[f"x-{n}"] if n % 3 == 2 else [])
                                        for n, i in enumerate(ids)))
    row = daemon.ended(submit(daemon, beads.path))
    assert (row["state"],
            row["cause"]) == ("succeeded",
                              "stop-marker: 30000 task(s) left") and len(tasks_done(daemon.play)) == 1


def test_beside_a_run_that_is_reviewed_in_the_same_tree(make_daemon, tmp_path, repo):
    """What bd writes for another run, and an agent of that by itself, is no work of this one, and
    stays where bd wants it."""
    beads = Beads(repo.path, bead("x-1"))
    repo.git("add", ".beads/issues.jsonl")
    repo.git("commit", "-qm", "beads")
    log = repo.path / ".beads" / "issues.jsonl"
    daemon, _ = with_bd(make_daemon, tmp_path, scripts={
        "implement": NOTE + 'if [ "$RL_RUN" = 1 ]; then echo one > work.txt; else echo >> ' +
        f"'{log}'" + '; fi\nanswer done\n',
        "review": "gate review\npass\n"}, gates=["review"], config={"parallel": 4})
    first = daemon.review(repo.path, isolation="shared", commit="auto")
    daemon.play.arrived("review")
    row = daemon.ended(submit(daemon, repo.path, isolation="worktree"))
    assert row["state"] == "succeeded" and beads.issues()["x-1"][0] == "closed", row
    daemon.play.go("review")
    row = daemon.ended(first)
    assert (row["state"], row["cause"]) == ("succeeded", None), row
    assert repo.git("show", "--format=", "--name-only", "HEAD") == "work.txt"
    assert (repo.git("status", "--porcelain").splitlines()[0].strip() == "M .beads/issues.jsonl"
            and beads.issues()["x-1"][0] == "closed")
    assert [w.split(":")[0]
            for w in row["warnings"]] == ["run 2 keeps its tasks in .beads and writes there at the same time"], row
