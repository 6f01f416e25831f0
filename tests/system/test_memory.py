# SPDX-License-Identifier: MIT
"""Memory that thousands of queued runs took goes back to the system when the last has ended."""
import pytest
from rld import SANITIZED, rss_kib

BATCHES, BATCH = 20, 60


def batches(rpc, method, params):
    """What many calls return."""
    results = []
    for at in range(0, len(params), BATCH):
        results += [answer["result"] for answer in rpc.batch([rpc.request(method, p) for p in params[at:at + BATCH]])]
    return results


@pytest.mark.skipif(bool(SANITIZED), reason="sanitizers have an allocator of their own")
@pytest.mark.deadline(120)
def test_memory_is_given_back(make_daemon, tmp_path):
    daemon = make_daemon(scripts={"implement": "gate g\n"}, gates=["g"], config={"parallel": 1})
    (tmp_path / "w").mkdir()
    first = daemon.submit(tmp_path / "w")
    daemon.play.arrived("g")
    before = rss_kib(daemon.pid, "RssAnon")
    with daemon.connect() as rpc:
        runs = [run["id"] for run in
                batches(rpc, "run.submit", [{"task": "x", "workdir": str(tmp_path / "w")}] * BATCHES * BATCH)]
        taken = rss_kib(daemon.pid, "RssAnon") - before
        assert taken > 5 * len(runs), "so little that there is nothing to give back"
        batches(rpc, "run.cancel", [{"id": run} for run in runs])
    daemon.play.go("g")
    daemon.ended(first)
    # after the events of the last one; what lies between small pieces that are still used stays
    while rss_kib(daemon.pid, "RssAnon") - before > taken * 0.8:
        daemon.call("daemon.status")
