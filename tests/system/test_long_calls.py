# SPDX-License-Identifier: MIT
"""Calls that wait, and how they are ended: output as it comes, several subscriptions on one
connection, a call that is cancelled, and where to begin following a run."""
import pytest

from rld import RpcError

GATED = {"implement": "gate a\nprintf one\ngate b\nprintf two\ngate c\nanswer done\n"}


@pytest.fixture
def gated(make_daemon, repo):
    daemon = make_daemon(scripts=GATED, gates=["a", "b", "c"])
    run = daemon.submit(repo.path)
    daemon.play.arrived("a")
    return daemon, run, daemon.call("attempt.list", run=run)["attempts"][0]["id"]


def asked(rpc, method, **params):
    message = rpc.request(method, params)
    rpc.send(message)
    return message["id"]


def result(rpc, number):
    answer = rpc.reply(number)
    assert "error" not in answer, answer
    return answer["result"]


def test_output_is_awaited(gated):
    """The answer comes with the output, again at the end, and the connection works meanwhile."""
    daemon, run, attempt = gated
    with daemon.connect() as rpc:
        first = asked(rpc, "attempt.output", id=attempt, wait_ms=600_000)
        assert rpc.call("attempt.output", id=attempt)["data"] == ""
        daemon.play.go("a")
        answer = result(rpc, first)
        assert (answer["data"], answer["eof"]) == ("one", False)
        daemon.play.arrived("b")
        second = asked(rpc, "attempt.output", id=attempt, offset=3, wait_ms=600_000)
        rpc.call("daemon.status")
        daemon.play.go("b")
        assert result(rpc, second)["data"] == "two"
        daemon.play.arrived("c")
        third = asked(rpc, "attempt.output", id=attempt, offset=6, wait_ms=600_000, stream="stderr")
        rpc.call("daemon.status")
        daemon.play.go("c")
        assert result(rpc, third)["eof"] is True
        daemon.ended(run)
        assert rpc.call("attempt.output", id=attempt, offset=6, wait_ms=600_000)["eof"] is True


def test_time_passes_without_output(gated):
    daemon, run, attempt = gated
    answer = daemon.call("attempt.output", id=attempt, wait_ms=50)
    assert (answer["data"], answer["eof"], answer["next"]) == ("", False, 0)
    with daemon.connect() as rpc:       # a client that leaves
        asked(rpc, "attempt.output", id=attempt, wait_ms=600_000)
        rpc.call("daemon.status")
    for gate in "abc":
        if gate != "a":
            daemon.play.arrived(gate)
        daemon.play.go(gate)
    daemon.ended(run)


def test_waits_of_a_connection_are_limited(gated):
    daemon, run, attempt = gated
    with daemon.connect() as rpc:
        for _ in range(16):
            asked(rpc, "attempt.output", id=attempt, wait_ms=600_000)
        with pytest.raises(RpcError) as error:
            rpc.call("attempt.output", id=attempt, wait_ms=1)
        assert error.value.code == 5
        assert rpc.call("attempt.output", id=attempt)["data"] == ""
    daemon.cancelled(run)


@pytest.mark.parametrize("number", [7, "seven", 1.5])
def test_a_waiting_call_is_cancelled(gated, number):
    daemon, run, attempt = gated
    with daemon.connect() as rpc:
        for method, params in (("run.wait", {"ids": [run]}), ("attempt.output", {"id": attempt, "wait_ms": 600_000})):
            rpc.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            rpc.call("daemon.status")
            rpc.send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": "another"}})
            rpc.call("daemon.status")
            rpc.send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": number}})
            answer = rpc.reply(number)
            assert (answer["error"]["code"], answer["error"]["data"]["kind"]) == (-32800, "call-cancelled")
        rpc.send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": number}})
        rpc.send({"jsonrpc": "2.0", "method": "$/cancelRequest"})
        assert rpc.call("run.get", id=run)["state"] == "running"
    daemon.cancelled(run)


def test_seq_of_a_submit(daemon, repo):
    """From there on, a subscriber sees the run from its first event."""
    daemon.ended(daemon.submit(repo.path))
    made = daemon.call("run.submit", task="again", workdir=str(repo.path), key="k")
    daemon.ended(made["id"])
    everything = [e for e in daemon.call("event.list", limit=256)["events"] if e["run"] == made["id"]]
    assert 0 < made["seq"] < everything[0]["seq"]
    with daemon.events(since=made["seq"], run=made["id"]) as events:
        events.until_end()
        assert events.seen == everything
    assert daemon.call("run.submit", task="again", workdir=str(repo.path), key="k")["seq"] == 0


def test_several_subscriptions(daemon, repo):
    first, second = daemon.submit(repo.path), daemon.submit(repo.path)
    daemon.ended(first, second)
    with daemon.connect() as rpc:
        rpc.call("event.subscribe", since=0, run=first, types=["run.state"], subscription="a")
        rpc.call("event.subscribe", since=0, run=second, types=["run.state"], subscription="b\"")
        rpc.call("event.subscribe", since=0, types=["iteration.started"])
        seen = {"a": [], "b\"": [], None: []}
        while not all(seen[name] and seen[name][-1].get("state") == "succeeded" for name in ("a", "b\"")) or \
                len(seen[None]) < 2:
            event = rpc.notification()["params"]
            seen[event.pop("subscription", None)].append(event)
        assert {e["run"] for e in seen["a"]} == {first} and {e["run"] for e in seen["b\""]} == {second}
        assert [e["run"] for e in seen[None]] == [first, second]
        assert daemon.call("daemon.status")["followers"] == 3

        rpc.call("event.unsubscribe", subscription="a")
        rpc.call("event.unsubscribe", subscription="never")
        rpc.call("event.subscribe", subscription="b\"", types=["run.state"])
        assert daemon.call("daemon.status")["followers"] == 2
        third = daemon.submit(repo.path)
        daemon.ended(third)
        event = rpc.notification()["params"]
        while event["type"] != "run.state" or event["state"] != "succeeded":
            assert event.get("subscription") == (None if event["type"] == "iteration.started" else "b\"")
            event = rpc.notification()["params"]
        rpc.call("event.unsubscribe")
        assert daemon.call("daemon.status")["followers"] == 0
        for number in range(16):
            rpc.call("event.subscribe", subscription=str(number))
        rpc.call("event.subscribe", subscription="3")
        with pytest.raises(RpcError) as error:
            rpc.call("event.subscribe", subscription="16")
        assert error.value.code == 5
    with daemon.connect() as rpc:
        rpc.call("event.unsubscribe")
