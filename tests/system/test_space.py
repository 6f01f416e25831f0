# SPDX-License-Identifier: MIT
"""A full disk under a running agent: what was paid for waits for space and is not lost."""
import errno
import os
import subprocess

import pytest
from rld import proc_stat, wait_gone


@pytest.fixture
def small(make_daemon):
    """small(PLACE) → a daemon for which PLACE in its state directory is a small file
    system of its own."""
    made = []

    def make(place, **kwargs):
        daemon = make_daemon(start=False, config={"limits": {"disk_floor": 0}}, **kwargs)
        path = daemon.state / place
        path.mkdir(mode=0o700, exist_ok=True)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m,mode=700", "tmpfs", path],
                              capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"no tmpfs can be mounted here: {done.stderr.strip()}")
        made.append((daemon, path))
        return daemon.start()

    yield make
    for daemon, path in made:
        daemon.stop()
        subprocess.run(["umount", "-l", path], check=True)


def fill(directory):
    path = directory / "fill"
    with open(path, "wb", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError as error:
                assert error.errno == errno.ENOSPC
    return path


def until_logged(daemon, words):
    subprocess.run(["sh", "-c", 'tail -n +1 -F "$1" | grep -q -m1 -- "$2"', "sh", daemon.log_path, words],
                   check=True, timeout=60)


def until_it_waits(daemon, run, words):
    with daemon.events(run=run) as events:
        event = events.until("host", lambda e: e["what"] == "waits")
    assert (event["error"] == "ENOSPC" and words in event["reason"]
            and event["reason"].endswith("No space left on device; make room on the disk")), event


def test_an_attempt_waits_for_space(small, repo):
    daemon = small("attempts", scripts={"implement": "answer done\n"})
    filling = fill(daemon.state / "attempts")
    number = daemon.submit(repo.path)
    until_it_waits(daemon, number, "host: attempt directory ")
    assert daemon.run(number)["state"] == "running" and not daemon.play.starts()
    second = daemon.submit(repo.path)
    daemon.call("run.cancel", id=number)
    assert daemon.ended(number)["state"] == "cancelled", "it can be cancelled while it waits"
    os.unlink(filling)
    assert daemon.ended(second)["state"] == "succeeded"


def test_an_answer_waits_for_space(small, repo):
    daemon = small("attempts", scripts={"implement": "answer 'the paid answer'\ngate g\n"}, gates=["g"])
    number = daemon.submit(repo.path)
    shim = proc_stat(daemon.play.arrived("g"))[1]
    filling = fill(daemon.state / "attempts")
    daemon.play.go("g")
    wait_gone(shim)
    until_it_waits(daemon, number, "host: its answer cannot be written to ")
    assert daemon.run(number)["state"] == "running"
    os.unlink(filling)
    row = daemon.ended(number)
    assert row["state"] == "succeeded", row
    assert len(daemon.play.starts()) == 1, "paid once"
    assert daemon.rlctl("rpc", "attempt.output", f"id={row['result']['attempt']}", "stream=answer",
                        check=0).out.count("the paid answer") == 1


def test_a_run_that_begins_waits_for_space(small, repo):
    daemon = small("runs", scripts={"implement": "answer done\n"})
    filling = fill(daemon.state / "runs")
    number = daemon.submit(repo.path)
    until_it_waits(daemon, number, "host: ")
    assert daemon.run(number)["state"] == "running" and daemon.run(number)["wait"] == "host"
    os.unlink(filling)
    assert daemon.ended(number)["state"] == "succeeded"


def test_what_an_agent_says_waits_for_space(small, repo):
    """More than a pipe holds: when the agent has ended, the disk has refused the first words."""
    daemon = small(".", scripts={"implement": "gate g\nanswer 'the paid answer'\n"
                                 "head -c 150000 /dev/zero | tr '\\0' '\\n'\n"}, gates=["g"])
    number = daemon.submit(repo.path)
    agent = daemon.play.arrived("g")
    filling = fill(daemon.state)
    daemon.play.go("g")
    wait_gone(agent)
    os.unlink(filling)
    row = daemon.ended(number)
    assert row["state"] == "succeeded" and len(daemon.play.starts()) == 1, row
    assert daemon.rlctl("rpc", "attempt.output", f"id={row['result']['attempt']}", "stream=answer",
                        check=0).out.count("the paid answer") == 1
