# SPDX-License-Identifier: MIT
"""Loops end: a round whose work or whose findings were there before is no progress, and two fixes
without progress are enough, in every profile that stalls."""
import contextlib
import hashlib
import re
import sqlite3

import pytest

import test_profile_comments
import test_profile_decision
import test_profile_exit
import test_profile_file
import test_profile_verdict
from loop import Loop
from rld import Repo, unshare_plans

PROFILES = {
    "verdict": test_profile_verdict.VERDICT, "decision": test_profile_decision.DECISION,
    "file": test_profile_file.PROFILE, "exit": test_profile_exit.PROFILE,
    "comments": test_profile_comments.COMMENTS,
}


def cycle(*words):
    return f"set -- {' '.join(repr(w) for w in words)}; shift $(((nth - 1) % {len(words)})); words=$1\n"


# How each words what it finds in round $nth, and which finding that is.
REVIEWERS = {
    "the same words": ("words='foo.c: bug in add'\n", lambda n: 0),
    "lines move": ("words=\"foo.c:${nth}0: bug in add, see line ${nth}1\"\n", lambda n: 0),
    "times and case differ": (cycle("Bug in add, at 12:01:00 after 0.5s", "BUG in *add*: at 12:02:33 after 13 s",
                                    "bug in add; at 9:00:00 after 2 minutes"), lambda n: 0),
    "ids differ": ("words=\"bug in add of 5dbe01${nth}d\"\n", lambda n: 0),
    "swings between two": (cycle("use tabs", "use blanks"), lambda n: n % 2),
    "goes around three": (cycle("use tabs", "use blanks", "use neither"), lambda n: n % 3),
    "counts": ("words=\"$nth tests fail of 1$nth\"\n", lambda n: n),
    "always something new": (cycle("use tabs", "use blanks", "rename it", "split it", "join it", "drop it"),
                             lambda n: n),
}

# What lies there after the implementer and each fix.
FIXERS = {
    "does nothing": (1, 1, 1, 1, 1, 1), "changes something each time": (1, 2, 3, 4, 5, 6),
    "swings": (1, 2, 1, 2, 1, 2), "swings after a start": (1, 2, 3, 2, 3, 2),
    "goes around three": (1, 2, 3, 1, 2, 3), "works once": (1, 2, 2, 2, 2, 2), "works twice": (1, 2, 3, 3, 3, 3),
    "gives up after the fourth": (1, 2, 3, 4, 5, 5), "works every second time": (1, 1, 2, 2, 3, 3),
}


def write_state(fixers):
    """The script of implementers (nth 0) and fixers: a run plays the fixer of its number."""
    cases = "".join(f"{i}) set -- {' '.join(map(str, FIXERS[name]))} ;;\n" for i, name in enumerate(fixers, 1))
    return (f"case $RL_RUN in\n{cases}esac\n[ $role = implement ] || shift $nth\n"
            "echo \"state $1\" > work.txt\nanswer \"state $1, $role $nth\"\n")


def said(daemon, row):
    return (row["reason"] if row["state"] == "held" else row["cause"]) + "\n".join(row["warnings"])


def run_all(make_daemon, repo, tmp_path, profile, reviewer, fixers, **review):
    """One run for each fixer: (its row, which rounds come back)."""
    script, means = REVIEWERS[reviewer]
    work = write_state(fixers)
    loop = Loop(make_daemon, repo, tmp_path, PROFILES[profile], {
        "implement": work, "fix": work, "review": script + PROFILES[profile].finds("$words"),
        "review.1": script + PROFILES[profile].finds("$words")})
    extra = {"profile": profile, **PROFILES[profile].prepare(loop), "max_fixes": 5, **review}
    for i in range(len(fixers)):
        assert loop.daemon.review(Repo(tmp_path / f"r{i}").path, "do it", review=extra) == i + 1
    for number, name in enumerate(fixers, 1):
        row = loop.daemon.ended(number)
        fixes = [a["role"] for a in loop.daemon.attempts(number)].count("fix")
        states = FIXERS[name][:fixes + 1]
        back = [any(states[k] == states[j] or means(k) == means(j) for j in range(k)) for k in range(fixes + 1)]
        yield loop.daemon, row, fixes, back, f"{profile}: reviewer {reviewer}, fixer {name}: {fixes} fixes"


def longest(back):
    return max(len(part) for part in "".join("x" if b else " " for b in back).split(" "))


def check_ends(make_daemon, repo, tmp_path, profile, reviewer, fixers):
    for daemon, row, fixes, back, what in run_all(make_daemon, repo, tmp_path, profile, reviewer, fixers):
        if profile == "exit":
            assert fixes == 5 and "stalled" not in said(daemon, row), what
            continue
        assert longest(back) <= 2, what
        assert fixes == 5 or back[-1], what + ", and the last one was new"
        # the round is named, whatever else ended the loop
        named = re.search(r"round (\d+) repeats round (\d+): the (tree|findings|tree and the findings)",
                          said(daemon, row))
        assert bool(named) == back[-1], f"{what}: {said(daemon, row)}"
        assert ("stalled: round" in said(daemon, row)) == (fixes < 5), f"{what}: {said(daemon, row)}"
        if named:
            assert int(named[1]) == fixes + 1 and int(named[2]) <= fixes, f"{what}: {named[0]}"


@pytest.mark.broad
@pytest.mark.deadline(180)
@pytest.mark.parametrize("reviewer", REVIEWERS)
@pytest.mark.parametrize("profile", PROFILES)
def test_each_reviewer_with_each_fixer(make_daemon, repo, tmp_path, profile, reviewer):
    """At most two fixes without progress; and what never comes back is not cut short."""
    check_ends(make_daemon, repo, tmp_path, profile, reviewer, list(FIXERS))


@pytest.mark.each
@pytest.mark.parametrize("profile", PROFILES)
def test_some_of_them(make_daemon, repo, tmp_path, profile):
    check_ends(make_daemon, repo, tmp_path, profile, "swings between two", ["does nothing", "works twice"])


def test_a_program_that_reviews_stalls_if_it_is_told_to(make_daemon, repo, tmp_path):
    (daemon, row, fixes, _, what), = run_all(make_daemon, repo, tmp_path, "exit", "lines move",
                                             ["changes something each time"], stall_limit=2)
    assert fixes == 2 and "accepted: stalled: round 3 repeats round 1: the findings are the same" in row["cause"], what


def test_the_limit_counts_the_fixes_in_vain(make_daemon, repo, tmp_path):
    """Two findings that swing: with three, one more fix is paid."""
    (_, row, fixes, _, what), = run_all(make_daemon, repo, tmp_path, "verdict", "swings between two",
                                        ["changes something each time"], stall_limit=3)
    assert fixes == 3 and row["cause"] == "stalled: round 4 repeats round 2: the findings are the same", what
    assert row["slots"][0]["stalled"] == 3


# ---- checks are findings, too ----

# The output of a check, what a fixer does, and how many fixes are paid of four. In place the tree
# is measured after the checks, so only the output tells.
CHECKS = {
    "the fixer does nothing": ("echo $nth bottles; exit 1\n", "answer no\n", 2, "the tree is the same"),
    "the output is the same": ("echo '3 failed in 0.'$nth's'; exit 1\n", "echo $nth >> work.txt; answer yes\n", 2,
                               "the findings are the same"),
    "the output gets better": ("echo \"$((40 - $(cat work.txt | wc -l))) failed\" >&2; exit 1\n",
                               "echo $nth >> work.txt\nanswer yes\n",
                               4, None),
    "it exits otherwise": ("exit $(($(cat work.txt | wc -l) + 1))\n", "echo $nth >> work.txt\nanswer yes\n", 4, None),
}


@pytest.mark.each
@pytest.mark.parametrize("case,place", [(c, p) for c in CHECKS for p in ("room", "same")
                                        if p == "room" or c != "the fixer does nothing"])
def test_a_check_that_fails_again(make_daemon, repo, tmp_path, case, place):
    script, fix, fixes, why = CHECKS[case]
    loop = Loop(make_daemon, repo, tmp_path, PROFILES["verdict"], {"check": script, "fix": fix})
    row = loop.run(review={"checks": [loop.check], "max_fixes": 4, "workspace": place})
    assert loop.roles() == ["implement"] + ["fix"] * fixes and row["state"] == "failed", row
    if why is None:
        assert "still fails after 4 fix attempt(s)" in row["cause"] and "repeats" not in row["cause"], row
        assert row["end_kind"] == "check"
    else:
        assert row["cause"].startswith(f"stalled: fix 2 repeats the work before fix 1: {why}: check `{loop.check}` "
                                       "still fails: check process exited with status 1"), row
        assert row["end_kind"] == "stalled"


# ---- a human, and runs of an older version ----

def test_rework_counts_anew(make_daemon, repo, tmp_path):
    """What a human sends back may look like what was there before."""
    loop = Loop(make_daemon, repo, tmp_path, PROFILES["decision"])
    loop.set(review_1=PROFILES["decision"].finds("use tabs"), review=PROFILES["decision"].finds("use tabs"))
    row = loop.run(review={"max_fixes": 5})
    hold, = loop.daemon.call("hold.list", run=1)["holds"]
    assert hold["kind"] == "stalled" and hold["reason"].startswith("stalled: round 3 repeats round 1"), hold
    loop.daemon.call("hold.rework", id=hold["id"], message="blanks are fine")
    row = loop.daemon.ended(1)
    assert loop.roles() == ["implement", "review"] + ["fix", "review"] * 4, row
    reason = [h["reason"] for h in loop.daemon.call("hold.list", run=1)["holds"]][0]
    assert reason.startswith("stalled: round 5 repeats round 3"), reason


def test_a_run_of_an_older_version_keeps_its_rule(make_daemon, repo, tmp_path):
    """It compares a round with the one before it, and its findings keep their ids."""
    script, _ = REVIEWERS["swings between two"]
    finds = PROFILES["verdict"].finds("$words")
    loop = Loop(make_daemon, repo, tmp_path, PROFILES["verdict"],
                {"review": script + finds, "review.1": "gate review\n" + script + finds})
    number = loop.submit()
    loop.play.arrived("review")
    loop.daemon.kill()
    with contextlib.closing(sqlite3.connect(loop.daemon.state / "rld.db")) as db, db:
        unshare_plans(db)
        assert db.execute("UPDATE run SET plan = json_remove(plan, '$.any_round')").rowcount == 1
    loop.daemon.start()
    loop.play.go("review")
    row = loop.daemon.ended(number)
    assert row["cause"] == "drift unresolved after 5 fix attempt(s)", row
    ids = {f["id"] for r in loop.daemon.reviews(number) for f in r["findings"]}
    assert ids == {hashlib.sha256(b"\0" + text).hexdigest()[:16] for text in (b"use tabs", b"use blanks")}
