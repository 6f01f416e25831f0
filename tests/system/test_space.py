# SPDX-License-Identifier: MIT
"""A full disk under a running agent: what was paid for waits for space and is not lost."""
import errno
import os
import subprocess

import pytest
from rld import proc_stat, wait_gone


@pytest.fixture
def small_state(make_daemon):
    """A daemon whose state directory is a small file system of its own."""
    daemon = make_daemon(scripts={"implement": "answer 'the paid answer'\ngate g\n"}, gates=["g"], start=False)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m,mode=700", "tmpfs", daemon.state], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no tmpfs can be mounted here: {done.stderr.strip()}")
    daemon.start()
    yield daemon
    daemon.stop()
    subprocess.run(["umount", "-l", daemon.state], check=True)


def fill(daemon):
    path = daemon.state / "fill"
    with open(path, "wb", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError as error:
                assert error.errno == errno.ENOSPC
    return path


def until_logged(daemon, words):
    subprocess.run(["sh", "-c", 'tail -n +1 -F "$1" | grep -q -m1 -- "$2"', "sh", daemon.log_path, words], check=True, timeout=60)


def test_an_answer_waits_for_space(small_state, repo):
    daemon = small_state
    number = daemon.submit(repo.path)
    shim = proc_stat(daemon.play.arrived("g"))[1]
    filling = fill(daemon)
    daemon.play.go("g")
    wait_gone(shim)
    until_logged(daemon, "no space left to keep the answer")
    assert daemon.run(number)["state"] == "running"
    os.unlink(filling)
    row = daemon.ended(number)
    assert row["state"] == "succeeded", row
    assert len(daemon.play.starts()) == 1, "paid once"
    assert daemon.rlctl("rpc", "attempt.output", f"id={row['result']['attempt']}", "stream=answer", check=0).out.count("the paid answer") == 1
