# SPDX-License-Identifier: MIT
"""Clients that flood, go slow, stop half-way or never read, while each sync of the disk takes two
seconds: who behaves is answered, what was answered is on the disk, and memory is bounded."""
import socket
import threading

import pytest
from rld import SANITIZED, can_trace, rss_kib

SYNC_S = 2
SLOW_DISK = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e",
             f"inject=fsync,fdatasync:delay_exit={SYNC_S * 1000000}"]
EACH = 4                # of each kind of client
ROOM_KIB = 32 << 10     # that all of them may take


def send_what_fits(rpc, data, most):
    """Until the daemon no longer takes it: it has stopped to read this client."""
    rpc.socket.setblocking(False)
    sent = 0
    try:
        while sent < most:
            sent += rpc.socket.send(data)
    except (BlockingIOError, BrokenPipeError, ConnectionResetError):
        pass
    rpc.socket.setblocking(True)


def half_open(rpc):
    """The beginning of a frame, and no more."""
    rpc.send_raw(rpc.frame({"jsonrpc": "2.0", "id": 1, "method": "daemon.status"})[:-3])


def half_closed(rpc):
    """It asks and goes to sleep; the answer is for nobody."""
    rpc.send(rpc.request("run.list"))
    rpc.half_close()


def never_reads(rpc):
    send_what_fits(rpc, rpc.frame({"jsonrpc": "2.0", "id": 1, "method": "rpc.discover"}) * 50, 8 << 20)


def floods(rpc):
    """Writes, which wait for the disk: as many as the daemon takes."""
    rpc.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    send_what_fits(rpc, rpc.frame({"jsonrpc": "2.0", "id": 1, "method": "group.set",
                                   "params": {"group": "flood", "parallel": 3}}) * 20, 1 << 14)


def large(rpc):
    """A text of a megabyte that no method takes."""
    send_what_fits(rpc, rpc.frame({"jsonrpc": "2.0", "id": 1, "method": "daemon.status",
                                   "params": {"x": "y" * (1 << 20)}}), 1 << 20)


def drips(rpc):
    """Byte by byte, all the while."""
    try:
        for byte in rpc.frame({"jsonrpc": "2.0", "id": 1, "method": "daemon.hello", "params": {"client": "d"}}):
            rpc.send_raw(bytes([byte]))
    except OSError:
        pass


@pytest.mark.skipif(not can_trace(), reason="strace is missing or may not trace here")
@pytest.mark.skipif(SANITIZED, reason="a sanitizer's memory says nothing")
@pytest.mark.broad
@pytest.mark.parametrize("framing", ["line", "header"])
@pytest.mark.deadline(180)
def test_floods_while_the_disk_is_slow(make_daemon, repo, framing):
    daemon = make_daemon(scripts={"implement": "gate g\n"}, gates=["g"], config={"parallel": 1}, prefix=SLOW_DISK)
    first = daemon.submit(repo.path)
    daemon.play.arrived("g")
    before = rss_kib(daemon.pid)
    bad, threads = [], []
    for _ in range(EACH):
        for what in (half_open, half_closed, never_reads, floods, large, drips):
            rpc = daemon.connect(framing)
            bad.append(rpc)
            threads.append(threading.Thread(target=what, args=(rpc,)))
    for thread in threads:
        thread.start()
    acked = []
    with daemon.connect(framing) as rpc:
        for i in range(2):
            number = rpc.call("run.submit", task=f"task {i}", workdir=str(repo.path), key=f"k{i}")["id"]
            acked.append(number)
            for _ in range(20):
                assert rpc.call("daemon.status")
            assert rpc.call("run.get", id=number)["state"] == "queued"
    for thread in threads:
        thread.join()
    grown = rss_kib(daemon.pid) - before
    print(f"{len(bad)} clients: {grown} KiB")
    assert grown < ROOM_KIB
    for rpc in bad:
        rpc.close()
    daemon.kill()
    daemon.prefix = []
    daemon.start()
    assert {r["id"] for r in daemon.call("run.list", limit=100)["runs"]} == {first, *acked}
    for i, number in enumerate(acked):
        assert daemon.submit(repo.path, f"task {i}", key=f"k{i}") == number
