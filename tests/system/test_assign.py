# SPDX-License-Identifier: MIT
"""assign = "agent": agents pick their beads themselves, one after the other, and what they picked
is read from what they print."""
import pytest
from outer import Beads, bead, reasons, states, submit, with_bd
from rld import FAKES

BD = f"'{FAKES / 'bd'}'"
REVIEWED = {"enabled": True}


def picked(daemon, run):
    """{slot: task} of the implementers, over all iterations."""
    return {(a["iteration"], a["slot"]): a["task"] for a in daemon.attempts(run) if a["role"] == "implement"}


def slot(daemon, run, number):
    return next(s for s in daemon.run(run)["slots"] if s["slot"] == number)


def picks(daemon, run, number):
    """Wait until that slot has picked: what."""
    with daemon.events(run=run, types=["slot.picked"]) as events:
        return events.until("slot.picked", lambda e: e["slot"] == number)["task"]


def agents(daemon, path, **params):
    return submit(daemon, path, assign="agent", **params)


@pytest.fixture
def beads(tmp_path):
    return Beads(tmp_path / "beads", *(bead(f"x-{n}") for n in range(1, 5)))


STAGED = 'gate "a$RL_SLOT"; echo "bd update x-$RL_SLOT"; gate "b$RL_SLOT"; answer done\n'
STAGES = ["a1", "a2", "a3", "b1", "b2", "b3"]


def go_on(daemon, *gates):
    for gate in gates:
        daemon.play.arrived(gate)
        daemon.play.go(gate)


def go_on_from(daemon, first, *gates):
    """It stands at the first one already."""
    daemon.play.go(first)
    go_on(daemon, *gates)


# ---- one after the other -------------------------------------------------------------------------

def test_a_slot_starts_when_those_before_it_have_picked(make_daemon, beads):
    daemon = make_daemon(scripts={"implement": STAGED}, gates=STAGES, config={"parallel": 4})
    run = agents(daemon, beads.path, parallel=3, iterations=1)
    for number in (1, 2, 3):
        daemon.play.arrived(f"a{number}")
        assert len(daemon.play.starts()) == number
        for later in range(number + 1, 4):
            row = slot(daemon, run, later)
            assert (row["phase"], row["task"]) == ("waiting", None) and "picked" in row["reason"], row
        daemon.play.go(f"a{number}")
        assert picks(daemon, run, number) == f"x-{number}"
        assert slot(daemon, run, number)["task"] == f"x-{number}" and states(daemon, run)[f"x-{number}"] == "claimed"
    go_on(daemon, "b1", "b2", "b3")
    row = daemon.ended(run)
    assert row["cause"] == "limit: 1 iteration(s), 1 task(s) left", row
    assert states(daemon, run) == {"x-1": "passed", "x-2": "passed", "x-3": "passed", "x-4": "cancelled"}


def test_or_have_ended(make_daemon, beads):
    daemon = make_daemon(scripts={"implement": '[ $RL_SLOT = 1 ] && exit 0\n' + STAGED}, gates=STAGES)
    run = agents(daemon, beads.path, parallel=2, iterations=1)
    daemon.play.arrived("a2")
    assert slot(daemon, run, 1)["phase"] == "passed" and slot(daemon, run, 1)["task"] is None
    go_on_from(daemon, "a2", "b2")
    daemon.ended(run)
    assert picked(daemon, run) == {(1, 1): None, (1, 2): "x-2"}


def test_or_have_failed(make_daemon, beads):
    """One that does not begin any more, since the run goes no further, has no bead either."""
    daemon = make_daemon(scripts={"implement": 'exit 3\n'})
    run = agents(daemon, beads.path, parallel=3)
    row = daemon.ended(run)
    assert row["state"] == "failed" and "status 3" in row["cause"], row
    assert len(daemon.play.starts()) == 1


# ---- what counts as a pick -----------------------------------------------------------------------

SAID = [
    ("echo 'Updated issue: x-2'", "x-2"), ("echo 'Updated task: x-2'", "x-2"),
    ("echo '$ bd update x-2 --status in_progress, not x-1'", "x-2"),
    ("echo 'tsq update x-2'", "x-2"), ("echo 'I take x-3 now. Yes, x-3.'", "x-3"), ("echo 'neither x-1 nor x-2'", None),
    ("echo 'x-9 and X-2'", None), ("echo nothing", None), ("echo 'x-2.1'", "x-2.1"),
    ("echo 'x-21'", None), ("echo 'bd update x-5'", None),
    ("echo 'bd update x-2'; echo 'bd update x-1'", "x-2"),
    ("echo 'x-1 x-2'; echo 'only x-3'; echo 'bd update x-1'", "x-3"),
    ('''echo '{"type":"tool","input":{"command":"bd update \\"x-2\\" --claim"}}' ''', "x-2"),
    ("echo 'bd update x-3' >&2", "x-3"),
]


def test_what_is_a_pick(make_daemon, tmp_path):
    """x-5 is closed, and x-9 is none."""
    daemon = make_daemon(scripts={"implement": '. "$PLAY/said.$RL_RUN"\n'}, config={"parallel": 4})
    runs = []
    for number, (script, _) in enumerate(SAID, 1):
        beads = Beads(tmp_path / f"beads{number}", *(bead(i) for i in ("x-1", "x-2", "x-2.1", "x-3")),
                      bead("x-5", status="closed"))
        daemon.play.set({f"said.{number}": script + "\n"})
        runs.append(agents(daemon, beads.path, iterations=1))
    daemon.ended(*runs)
    assert [(script, picked(daemon, run)[1, 1]) for run, (script, _) in zip(runs, SAID)] == SAID


def test_seen_when_the_agent_has_ended(make_daemon, beads, repo):
    """What is no line yet is none; at the end it is."""
    daemon = make_daemon(scripts={"implement": "printf 'bd update x-2'; gate g\n", "review": "pass\n"}, gates=["g"])
    beads = Beads(repo.path, bead("x-1"), bead("x-2"))
    run = agents(daemon, beads.path, iterations=1, review=REVIEWED)
    daemon.play.arrived("g")
    assert slot(daemon, run, 1)["task"] is None
    daemon.play.go("g")
    daemon.ended(run)
    assert picked(daemon, run) == {(1, 1): "x-2"} and states(daemon, run)["x-2"] == "passed"
    assert [(a["role"], a["task"]) for a in daemon.attempts(run)] == [("implement", "x-2"), ("review", "x-2")]
    assert "x-2" in daemon.play.prompt(run, "review").decode()


def test_two_name_the_same(make_daemon, tmp_path):
    """It is the first one's. The other has none, and is not reviewed."""
    daemon = make_daemon(scripts={"implement": 'echo "bd update x-1"; gate "b$RL_SLOT"\nanswer done\n'}, gates=STAGES)
    beads = Beads(tmp_path / "beads", bead("x-1"), bead("x-2"))
    run = agents(daemon, beads.path, parallel=2, iterations=1)
    assert picks(daemon, run, 1) == "x-1"
    daemon.play.arrived("b2")
    go_on_from(daemon, "b2")
    with daemon.events(run=run) as events:
        events.until("attempt.ended")
    go_on(daemon, "b1")
    daemon.ended(run)
    assert picked(daemon, run) == {(1, 1): "x-1", (1, 2): None}
    assert states(daemon, run) == {"x-1": "passed", "x-2": "cancelled"}


def test_what_another_run_has_is_no_pick(make_daemon, tmp_path):
    daemon = make_daemon(scripts={"implement": 'echo "bd update x-1"; gate "g$RL_RUN"\nanswer done\n'},
                         gates=["g1", "g2"])
    beads = Beads(tmp_path / "beads", bead("x-1"), bead("x-2"))
    (tmp_path / "two").mkdir()
    first = agents(daemon, beads.path, iterations=1)
    assert picks(daemon, first, 1) == "x-1"
    second = agents(daemon, tmp_path / "two", beads=str(beads.path), iterations=1)
    go_on(daemon, "g2", "g1")
    daemon.ended(first, second)
    assert picked(daemon, first) == {(1, 1): "x-1"} and picked(daemon, second) == {(1, 1): None}


# ---- nothing picked ------------------------------------------------------------------------------

def test_nothing_picked_is_not_reviewed_and_ends_the_run(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "answer 'I looked around'\n", "review": "pass\n"},
                         config={"parallel": 4})
    beads = Beads(repo.path, bead("x-1"), bead("x-2"))
    run = agents(daemon, beads.path, parallel=2, review=REVIEWED)
    row = daemon.ended(run)
    assert (row["state"], row["cause"]) == ("succeeded", "nothing was picked: 2 task(s) left"), row
    assert [s[1] for s in daemon.play.starts()] == ["implement"] * 2, "one iteration, no review"
    assert row["iteration"] == 1 and daemon.reviews(run) == []
    with daemon.events(run=run) as events:
        assert events.until("review.skipped")["reason"] == "no task was picked"
    assert set(reasons(daemon, run).values()) == {"not started: nothing was picked: 2 task(s) left"}
    daemon.rlctl("wait", run, check=0)


def test_until_no_bead_is_left(make_daemon, tmp_path):
    """An iteration in which somebody picks is not idle."""
    daemon = make_daemon(scripts={"implement": '[ $RL_SLOT = 2 ] || echo "bd update x-$RL_ITERATION"\n'
                                  'answer done\n'}, config={"parallel": 4})
    beads = Beads(tmp_path / "beads", bead("x-1"), bead("x-2"), bead("x-3"))
    run = agents(daemon, beads.path, parallel=2)
    row = daemon.ended(run)
    assert (row["state"], row["cause"]) == ("succeeded", None), row
    assert picked(daemon, run) == {(1, 1): "x-1", (1, 2): None, (2, 1): "x-2", (2, 2): None, (3, 1): "x-3"}


def test_nothing_picked_by_one_that_failed_is_a_failure(make_daemon, tmp_path):
    """Also when those after it did well: a slot has failed, though no bead has."""
    daemon = make_daemon(scripts={"implement": '[ "$RL_SLOT.$RL_ITERATION" = 1.1 ] && exit 3\n'
                                  'echo "bd update x-$RL_ITERATION"\nanswer done\n'},
                         config={"parallel": 4})
    beads = Beads(tmp_path / "beads", bead("x-1"), bead("x-2"))
    run = agents(daemon, beads.path, parallel=2, on_failure="continue")
    row = daemon.ended(run)
    assert picked(daemon, run) == {(1, 1): None, (1, 2): "x-1",
                                   (2, 1): "x-2"} and set(states(daemon, run).values()) == {"passed"}
    assert row["state"] == "failed" and "status 3" in row["cause"], row
    daemon.rlctl("wait", run, check=10)


# ---- bd ------------------------------------------------------------------------------------------

@pytest.mark.parametrize("end", ["answer done", "exit 3"], ids=["passed", "failed"])
def test_what_an_agent_has_claimed_the_run_closes_or_gives_back(make_daemon, tmp_path, end):
    """What it does with bd it does as the run, and it may say so again."""
    script = f"{BD} update x-1 --claim && {BD} update x-1 --claim && echo 'Updated issue: x-1'\n{end}\n"
    daemon, _ = with_bd(make_daemon, tmp_path, scripts={"implement": script})
    beads = Beads(tmp_path / "beads", bead("x-1"))
    run = agents(daemon, beads.path)
    row = daemon.ended(run)
    assert row["warnings"] == [] and picked(daemon, run) == {(1, 1): "x-1"}, row
    assert beads.issues()["x-1"][0] == ("closed" if end == "answer done" else "open")
    assert (beads.issues()["x-1"][1] is None) == (end == "exit 3")


# ---- the daemon dies -----------------------------------------------------------------------------

def test_killed_between_pick_and_end(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": STAGED, "review": "pass\n"}, gates=STAGES, config={"parallel": 4})
    beads = Beads(repo.path, *(bead(f"x-{n}") for n in range(1, 4)))
    run = agents(daemon, beads.path, parallel=3, iterations=1, review=REVIEWED)
    go_on(daemon, "a1")
    assert picks(daemon, run, 1) == "x-1"
    daemon.play.arrived("a2")
    daemon.kill()
    daemon.start()
    assert slot(daemon, run, 1)["task"] == "x-1" and slot(daemon, run, 3)["phase"] == "waiting"
    go_on_from(daemon, "a2")
    assert picks(daemon, run, 2) == "x-2"
    go_on(daemon, "a3", "b1", "b2", "b3")
    row = daemon.ended(run)
    assert row["state"] == "succeeded", row
    assert picked(daemon, run) == {(1, 1): "x-1", (1, 2): "x-2", (1, 3): "x-3"}
    assert [s[1] for s in daemon.play.starts()].count("implement") == 3, "nobody was started twice"
    assert set(states(daemon, run).values()) == {"passed"} and len(daemon.reviews(run)) == 3


def test_picked_while_no_daemon_was_there(make_daemon, beads):
    daemon = make_daemon(scripts={"implement": STAGED}, gates=STAGES, config={"parallel": 4})
    run = agents(daemon, beads.path, parallel=2, iterations=1)
    daemon.play.arrived("a1")
    daemon.kill()
    go_on_from(daemon, "a1")
    daemon.play.arrived("b1")
    daemon.start()
    assert picks(daemon, run, 1) == "x-1"
    go_on(daemon, "a2", "b2")
    daemon.play.go("b1")
    daemon.ended(run)
    assert picked(daemon, run) == {(1, 1): "x-1", (1, 2): "x-2"}


def test_picked_and_ended_while_no_daemon_was_there(make_daemon, beads):
    daemon = make_daemon(scripts={"implement": STAGED}, gates=STAGES, config={"parallel": 4})
    run = agents(daemon, beads.path, parallel=2, iterations=1)
    daemon.play.arrived("a1")
    daemon.kill()
    go_on_from(daemon, "a1", "b1")
    daemon.start()
    go_on(daemon, "a2", "b2")
    daemon.ended(run)
    assert picked(daemon, run) == {(1, 1): "x-1", (1, 2): "x-2"}
