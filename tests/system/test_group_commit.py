# SPDX-License-Identifier: MIT
"""One commit for all that waits: submits share an fsync."""
import pytest
from rld import SANITIZED, can_trace

# slower than a busy machine
SLOW_DISK = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e",
             "inject=fsync,fdatasync:delay_exit=100000"]


def on_disk(daemon, runs):
    """Every answered submit is: the daemon dies, and the next has them."""
    daemon.kill()
    daemon.prefix = []
    daemon.start()
    assert {r["id"] for r in daemon.call("run.list", limit=100)["runs"]} == runs


@pytest.mark.skipif(not can_trace(), reason="strace is missing or may not trace here")
@pytest.mark.skipif(SANITIZED, reason="a sanitizer slows the daemon, not the disk: the count says nothing")
@pytest.mark.deadline(120)
def test_32_submits_make_at_most_8_commits(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "gate g\n"}, gates=["g"], config={"parallel": 1}, prefix=SLOW_DISK)
    first = daemon.submit(repo.path)
    daemon.play.arrived("g")
    with daemon.connect() as rpc:
        before = rpc.call("daemon.status")["commits"]
        rpc.send_raw(b"".join(rpc.frame(rpc.request("run.submit",
                                                    {"task": f"task {i}", "workdir": str(repo.path)}))
                              for i in range(32)))
        ids = [rpc.reply()["result"]["id"] for _ in range(32)]
        commits = rpc.call("daemon.status")["commits"] - before
    print(f"32 submits in {commits} commits")
    assert len(set(ids)) == 32
    assert 1 <= commits <= 8
    on_disk(daemon, {first, *ids})


@pytest.mark.skipif(not can_trace(), reason="strace is missing or may not trace here")
@pytest.mark.skipif(SANITIZED, reason="a sanitizer slows the daemon, not the disk: the count says nothing")
@pytest.mark.deadline(120)
def test_32_clients_share_commits_too(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "gate g\n"}, gates=["g"], config={"parallel": 1}, prefix=SLOW_DISK)
    first = daemon.submit(repo.path)
    daemon.play.arrived("g")
    clients = [daemon.connect() for _ in range(32)]
    before = daemon.call("daemon.status")["commits"]
    for i, rpc in enumerate(clients):
        rpc.send(rpc.request("run.submit", {"task": f"task {i}", "workdir": str(repo.path)}))
    ids = {rpc.reply()["result"]["id"] for rpc in clients}
    commits = daemon.call("daemon.status")["commits"] - before
    print(f"32 submits of 32 clients in {commits} commits")
    assert len(ids) == 32
    assert 1 <= commits <= 8
    on_disk(daemon, {first, *ids})


# Each write to the database takes a tenth of a second to begin.
LATE_WRITES = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=pwrite64", "-e",
               "inject=pwrite64:delay_enter=100000"]


@pytest.mark.skipif(not can_trace(), reason="strace is missing or may not trace here")
@pytest.mark.parametrize("seen", ["answer", "view", "event"])
def test_nothing_is_seen_before_it_is_recorded(make_daemon, repo, seen):
    """The daemon dies the moment a submit shows: in its answer, to another client, in the events.
    It must be on disk."""
    daemon = make_daemon(scripts={"implement": "answer x\n"})
    daemon.stop()
    daemon.prefix = LATE_WRITES
    daemon.start()
    with daemon.events(types=["run.state"]) as events, daemon.connect() as rpc, daemon.connect() as other:
        rpc.send(rpc.request("run.submit", {"task": "x", "workdir": str(repo.path)}))
        if seen == "answer":
            assert rpc.reply()["result"]["id"] == 1
        elif seen == "event":
            assert events.next()["run"] == 1
        else:
            # from memory: it waits for no disk
            while not sum(other.call("daemon.status")["runs"].values()):
                pass
        daemon.kill()
    assert [r["id"] for r in daemon.query("SELECT id FROM run")] == [1]
    daemon.prefix = []
    daemon.start()
    assert daemon.ended(1)["state"] == "succeeded"
