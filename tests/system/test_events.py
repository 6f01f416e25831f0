# SPDX-License-Identifier: MIT
"""The event feed: a number for each event, no hole, no copy, from any number, across restarts."""
import pytest
from rld import RpcError


def test_live_and_listed_are_the_same(daemon, repo):
    with daemon.events() as events:
        number = daemon.review(repo.path)
        events.until("run.state", lambda e: e["state"] == "succeeded")
    listed = daemon.call("event.list", since=0, limit=256)["events"]
    assert listed[:len(events.seen)] == events.seen
    assert all(e["time"].endswith("Z") and len(e["time"]) == 24 for e in listed)
    assert {e.get("run") for e in listed} <= {number, None}


def test_from_any_number(daemon, repo):
    daemon.ended(daemon.review(repo.path))
    whole = daemon.call("event.list", since=0, limit=256)["events"]
    for since in (0, 1, 5, len(whole) - 1):
        with daemon.events(since=since) as events:
            got = [events.next() for _ in range(len(whole) - since)]
            assert got == whole[since:]
            assert events.first["seq"] >= since


def test_since_the_end_and_beyond(daemon, repo):
    last = daemon.ended(daemon.submit(repo.path)) and daemon.call("event.list", since=0, limit=256)["events"][-1]["seq"]
    with daemon.events(since=last) as events:
        daemon.submit(repo.path)
        assert events.next()["seq"] == last + 1
    with pytest.raises(RpcError) as error:
        daemon.events(since=10 ** 9)
    assert error.value.code == -32602
    with pytest.raises(RpcError):
        daemon.events(since=-1)


def test_filters(daemon, repo, tmp_path):
    from rld import Repo
    other = Repo(tmp_path / "other")
    one, two = daemon.submit(repo.path), daemon.submit(other.path)
    daemon.ended(one, two)
    with daemon.events(run=two) as events:
        events.until("run.state", lambda e: e["state"] == "succeeded")
        assert {e["run"] for e in events.seen} == {two}
    with daemon.events(types=["run.state"]) as events:
        while len(events.seen) < 6:
            events.next()
        assert {e["type"] for e in events.seen} == {"run.state"}
    with pytest.raises(RpcError) as error:
        daemon.events(types=["no.such"])
    assert error.value.code == -32602


def test_unsubscribe(daemon, repo):
    with daemon.connect() as rpc:
        rpc.call("event.subscribe", since=0)
        rpc.call("event.unsubscribe")
        daemon.ended(daemon.submit(repo.path))
        rpc.notifications.clear()
        rpc.call("daemon.status")
        assert rpc.notifications == []


def test_numbers_go_on_after_a_restart(daemon, repo):
    daemon.ended(daemon.submit(repo.path))
    daemon.restart()
    daemon.ended(daemon.submit(repo.path))
    daemon.kill()
    daemon.start()
    daemon.ended(daemon.submit(repo.path))
    with daemon.events() as events:
        while [e["state"] for e in events.seen if e["type"] == "run.state"].count("succeeded") < 3:
            events.next()
    sequence = [e["seq"] for e in events.seen]
    assert sequence == list(range(1, len(sequence) + 1))


def fill(daemon, count):
    """Events as an earlier daemon would have left them: the next free numbers, for no run."""
    database = daemon.database()
    columns = {row["name"] for row in database.execute("PRAGMA table_info(event)")}
    assert {"seq", "time", "type", "run", "body"} <= columns
    (last,) = database.execute("SELECT coalesce(max(seq), 0) FROM event").fetchone()
    database.execute("BEGIN")
    database.executemany("INSERT INTO event (seq, time, type, run, body) VALUES (?, ?, 'daemon', NULL, ?)",
                         ((last + i, 1_700_000_000_000 + i, '{"what":"started","version":"0"}')
                          for i in range(1, count + 1)))
    database.execute("COMMIT")
    database.close()
    return last + count


@pytest.mark.broad
@pytest.mark.deadline(120)
def test_50000_events_without_a_hole(daemon, repo):
    daemon.ended(daemon.submit(repo.path))
    daemon.stop()
    last = fill(daemon, 50_000)
    daemon.start()
    with daemon.events() as events:
        for seq in range(1, last + 1):
            assert events.next()["seq"] == seq
        number = daemon.submit(repo.path)
        seq = last
        while True:
            event = events.next()
            seq += 1
            assert event["seq"] == seq
            if event.get("run") == number and event["type"] == "run.state" and event["state"] == "succeeded":
                break


@pytest.mark.broad
@pytest.mark.deadline(120)
def test_history_and_live_meet_without_a_seam(daemon, repo):
    """Events happen while a subscriber is still reading old pages."""
    daemon.stop()
    fill(daemon, 20_000)
    daemon.start()
    with daemon.events() as events:
        numbers = []
        for seq in range(1, 20_001):
            assert events.next()["seq"] == seq
            if seq % 1000 == 0:
                numbers.append(daemon.submit(repo.path))
        seq, ended = 20_000, 0
        while ended < len(numbers):
            event = events.next()
            seq += 1
            assert event["seq"] == seq
            ended += event["type"] == "run.state" and event["state"] == "succeeded"


def test_gap(daemon, repo):
    daemon.stop()
    last = fill(daemon, 1000)
    database = daemon.database()
    database.execute("DELETE FROM event WHERE seq <= 600")
    database.close()
    daemon.start()
    with daemon.connect() as rpc:
        rpc.call("event.subscribe", since=10)
        message = rpc.notification()
        assert message["method"] == "gap" and message["params"] == {"from": 11, "to": 600}, message
        for seq in range(601, last + 1):
            assert rpc.notification()["params"]["seq"] == seq
    with daemon.events(since=600) as events:
        assert events.next()["seq"] == 601, "exactly behind the gap there is none"


def test_all_events_gone_is_a_gap_too(daemon, repo):
    daemon.ended(daemon.submit(repo.path))
    daemon.stop()
    last = fill(daemon, 10)
    database = daemon.database()
    database.execute("DELETE FROM event WHERE seq < ?", (last,))
    database.close()
    daemon.start()
    with daemon.connect() as rpc:
        rpc.call("event.subscribe", since=0)
        assert rpc.notification() == {"jsonrpc": "2.0", "method": "gap", "params": {"from": 1, "to": last - 1}}


def test_many_subscribers(daemon, repo):
    feeds = [daemon.events() for _ in range(50)]
    number = daemon.submit(repo.path)
    for feed in feeds:
        feed.until("run.state", lambda e: e["run"] == number and e["state"] == "succeeded")
        assert [e["seq"] for e in feed.seen] == list(range(1, len(feed.seen) + 1))
        feed.rpc.close()


def test_pages(daemon, repo):
    daemon.stop()
    last = fill(daemon, 700)
    daemon.start()
    sequence, since = [], 0
    while True:
        page = daemon.call("event.list", since=since, limit=256)
        assert len(page["events"]) <= 256
        if not page["events"]:
            break
        sequence += [e["seq"] for e in page["events"]]
        since = page["next"]
    assert sequence[:last] == list(range(1, last + 1))


def test_rlctl_follows(daemon, repo):
    import json
    follow = daemon.rlctl_start("events", "-f", "--json", "--since", "0")
    number = daemon.submit(repo.path)
    seen = []
    for line in follow.stdout:
        seen.append(json.loads(line))
        if seen[-1].get("run") == number and seen[-1]["type"] == "run.state" and seen[-1]["state"] == "succeeded":
            break
    follow.terminate()
    follow.communicate()
    assert [e["seq"] for e in seen] == list(range(1, len(seen) + 1))


def test_rlctl_follows_a_daemon_that_comes_back(daemon, repo):
    """No event is missing and none is told twice, whatever happened meanwhile."""
    import json
    follow = daemon.rlctl_start("events", "-f", "--json", "--since", "0")
    seen = []

    def until(number):
        for line in follow.stdout:
            seen.append(json.loads(line))
            if (seen[-1].get("run"), seen[-1]["type"], seen[-1].get("state")) == (number, "run.state", "succeeded"):
                return

    until(daemon.submit(repo.path))
    daemon.kill()
    assert follow.stderr.readline() == b"rlctl: the daemon disappeared; waiting for it to return\n"
    daemon.start()
    until(daemon.submit(repo.path))
    daemon.restart()
    until(daemon.submit(repo.path))
    follow.terminate()
    follow.communicate()
    assert [e["seq"] for e in seen] == list(range(1, len(seen) + 1))


def test_told_only_after_it_is_durable(daemon, repo):
    """What a subscriber has seen is on disk, even if the daemon dies at once."""
    with daemon.events() as events:
        daemon.submit(repo.path)
        events.until("run.state", lambda e: e["state"] == "running")
        daemon.kill()
    stored = daemon.query("SELECT seq, type FROM event ORDER BY seq")
    assert [(e["seq"], e["type"]) for e in events.seen] == [(r["seq"], r["type"]) for r in stored][:len(events.seen)]
    daemon.start()
    daemon.ended(1)
