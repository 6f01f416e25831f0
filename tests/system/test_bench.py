# SPDX-License-Identifier: MIT
"""make bench: each row can be measured, and both sides of it do the same. How fast they are
is no matter here."""
import json
import os
import re
import subprocess
import sys

import pytest
from rld import BUILD, SANITIZED, SOURCE, can_trace

sys.path.append(str(SOURCE / "tests" / "bench"))
from script import Script, Start, Sync, Unlink, recipe, same_processes  # noqa: E402
from table import Row  # noqa: E402


RUN = str(SOURCE / "tests" / "bench" / "run")


def bench(*words, status=0):
    done = subprocess.run([RUN, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env={"PATH": os.environ["PATH"], "RLD_BUILD": str(BUILD), "LANG": "C.UTF-8"})
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(not can_trace(), reason="strace is missing or may not trace here")
@pytest.mark.skipif(SANITIZED, reason="the bench compares the product, not the sanitizers")
@pytest.mark.deadline(300)
def test_each_row_can_be_measured(tmp_path):
    """All but those of other sizes: the short bench has the smallest of each."""
    said = bench("--short", "--json", str(tmp_path / "b.json"))
    rows = {row["name"]: row for row in json.loads((tmp_path / "b.json").read_text())["rows"]}
    left_out = {name for name in bench("--list").splitlines() if name not in rows and f"\n{name} " not in said}
    assert all(re.search(r"\d{4,}|slots 256|followers", name) for name in left_out), left_out
    assert all(row["median"] > 0 or name.startswith(("idle, wakeups", "followers")) for name, row in rows.items()), said
    assert {name.split(",")[0].split()[0] for name in rows} == {
        "idle", "rpc", "submit", "runs", "rlctl", "review", "first", "later", "history", "queue", "slots", "followers",
        "a", "queued", "running", "verdict"}


def test_one_row_alone(tmp_path):
    bench("--short", "--json", str(tmp_path / "b.json"), "--rows", "verdict, prose; verdict, quotes")
    assert [row["name"] for row in json.loads((tmp_path / "b.json").read_text())["rows"]] == ["verdict, prose",
                                                                                             "verdict, quotes"]
    bench("--short", "--rows", "nothing is called so", status=2)


def test_what_is_said_of_a_row():
    row = Row("r", "p", at_most=2, why="because")
    assert [row.verdict(value) for value in (1, 2, 4)] == ["reached", "reached", "MISSED, at 50 %: because"]
    assert Row("r", "p", at_least=0.8).verdict(0.4) == "MISSED, at 50 %" and Row("r", "p").verdict(9) == ""


# ---- what is not the same is told ----------------------------------------------------------------

@pytest.fixture
def attempt(tmp_path):
    """attempt(N, words) → what rld and its shim leave of a process that printed "said"."""
    def make(number, *argv):
        path = tmp_path / "state" / "attempts" / str(number)
        path.mkdir(parents=True)
        (path / "job").write_text("rl-job 1\n" + "".join(f"argv {word}\n" for word in argv) +
                                  f"cwd {tmp_path}\nuuid u{number}\nend 0\n")
        (path / "exit").write_text("rl-exit 1\nhow code\nstatus 0\nend 0\n")
        (path / "stdout.0000000000000000").write_text("said\n")
        return f'7{number} execve("/bin/{argv[0]}", {json.dumps(argv)}, ["PATH=/bin", "RL_ATTEMPT_UUID=u{number}"]) = 0'
    return make


@pytest.fixture
def replay(tmp_path):
    """Do what a trace tells again, in a workspace of its own."""
    def make(lines):
        for name in ("recorded", "workspace"):
            (tmp_path / name).mkdir()
        actions = recipe(lines, tmp_path / "state")
        script = Script(actions, tmp_path / "state", tmp_path / "recorded", tmp_path / "script", tmp_path / "workspace")
        try:
            script.review(script.prepare(), 3)
        finally:
            script.close()
        return actions
    return make


def test_what_is_done_is_taken_from_the_trace(attempt, replay, tmp_path):
    """In order; what a started program does itself is not done twice, and syncs of the
    database are commits."""
    state, run = tmp_path / "state", attempt(1, "echo", "said")
    actions = replay([f"70 fsync(3<{state}/attempts>) = 0",
                      '71 execve("/x/rl-shim", ["rl-shim"], ["RL_ATTEMPT_UUID=u1"]) = 0', run,
                      f"71 fdatasync(3<{state}/inner>) = 0", f"70 fdatasync(3<{state}/rld.db-wal>) = 0",
                      f"70 fsync(3<{state}/attempts/1/exit.tmp>) = 0",
                      f'70 unlink("{state}/runs/1/index") = 0'])
    assert [type(action) for action in actions] == [Sync, Start, Sync, Unlink]
    assert (actions[0].size, actions[2].size) == (None, (state / "attempts" / "1" / "exit").stat().st_size)
    assert ((tmp_path / "script" / "journal").stat().st_size == 3 * 4096
            and (tmp_path / "script" / "1" / "attempts" / "1" / "exit.tmp").exists())


@pytest.mark.parametrize("program", [("echo", "other"), ("false",)], ids=["output", "status"])
def test_a_process_that_does_something_else_is_told(attempt, replay, program):
    with pytest.raises(RuntimeError, match="the script does not do what rld does"):
        replay([attempt(1, *program)])


def test_what_the_trace_lacks_is_told(attempt, replay):
    seen, _ = attempt(1, "echo", "said"), attempt(2, "echo", "unseen")
    with pytest.raises(RuntimeError, match="strace has not seen .*unseen"):
        replay([seen])


def test_a_sync_of_another_kind_is_told(attempt, replay):
    with pytest.raises(RuntimeError, match="not understood: 70 sync_file_range"):
        replay([attempt(1, "echo", "said"), "70 sync_file_range(3</x>, 0, 0, 2) = 0"])


@pytest.mark.parametrize("other", [[["a"]], [["a"], ["b"], ["c"]], [["a"], ["x"]]], ids=["less", "more", "another"])
def test_other_processes_are_told(other):
    same_processes([["a"], ["b"]], [["a"], ["b"]])
    with pytest.raises(RuntimeError, match="the script does not do what rld does, process [23]"):
        same_processes([["a"], ["b"]], other)
