# SPDX-License-Identifier: MIT
"""JSON-RPC 2.0 on the socket: framings, batches, errors, limits, and clients that behave badly."""
import json
import os
import random
import re
import select
import socket
import subprocess

import pytest
from rld import BUILD, SANITIZED, Closed, RpcError, cpu_seconds, rss_kib

BOTH = pytest.mark.parametrize("framing", ["line", "header"])


def raw(daemon, data, half_close=True):
    """Send bytes, shut the writing side, read all that comes."""
    with daemon.connect() as rpc:
        rpc.send_raw(data)
        if half_close:
            rpc.half_close()
        return rpc.receive_to_end()


def answers(daemon, data):
    return [json.loads(line) for line in raw(daemon, data).splitlines()]


@BOTH
def test_call_and_ids(daemon, framing):
    with daemon.connect(framing) as rpc:
        for ident in (1, 0, -5, "a", "", "ü", None, 12345678901234, 1.5):
            rpc.send({"jsonrpc": "2.0", "id": ident, "method": "daemon.status"})
            reply = rpc.reply()
            assert reply["id"] == ident and type(reply["id"]) is type(ident) and "result" in reply


@BOTH
def test_parse_error(daemon, framing):
    with daemon.connect(framing) as rpc:
        for bad in (b'{"jsonrpc": "2.0", "method": "x", "params": "bar", "baz]', b"nonsense", b"[",
                    b"{}}", b'{"a":1}{"b":2}', b"\xff\xfe",
                    b'{"jsonrpc":"2.0","id":1,"method":"daemon.status"} x', b'"\xed\xa0\x80"',
                    b'{"a":1,}', b"'x'", b"NaN", b"01", b"[1e999]"):
            rpc.send(bad)
            reply = rpc.reply()
            assert reply["error"]["code"] == -32700 and reply["id"] is None, (bad, reply)
        assert rpc.call("daemon.status")


@pytest.mark.parametrize("request_line", ["POST / HTTP/1.1", "PUT /rpc HTTP/1.1", "GET / HTTP/1.0",
                                          "OPTIONS * HTTP/1.1", "CONNECT localhost:80 HTTP/1.1",
                                          "COPY / HTTP/1.1", "\r\nPATCH / HTTP/1.1", "PRI * HTTP/2.0"])
@pytest.mark.parametrize("half_close", [True, False])
def test_http_is_refused_in_http(daemon, repo, request_line, half_close):
    """A relay or a browser that posts to the socket has its body read by nobody, and
    its user is told."""
    body = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "run.submit",
                       "params": {"task": "x", "workdir": str(repo.path)}}).encode() + b"\n"
    head = (f"{request_line}\r\nHost: localhost\r\nOrigin: http://example.org\r\n"
            f"Content-Length: {len(body)}\r\n\r\n".encode())
    said = raw(daemon, head + body, half_close)
    first, _, rest = said.partition(b"\r\n")
    headers, _, text = rest.partition(b"\r\n\r\n")
    assert (first == b"HTTP/1.1 400 Bad Request" and b"Connection: close" in headers
            and b"Content-Length: %d" % len(text) in headers), said
    assert b"JSON-RPC" in text and text.count(b"\n") == 1 and b"jsonrpc" not in said
    assert daemon.call("run.list")["runs"] == []


def test_byte_order_mark(daemon):
    """At the start of a connection it is passed over, in both framings; later it is no JSON."""
    request = b'{"jsonrpc":"2.0","id":1,"method":"event.unsubscribe"}'
    first, second = answers(daemon, b"\xef\xbb\xbf" + request + b"\n\xef\xbb\xbf" + request + b"\n")
    assert first["result"] and second["error"]["code"] == -32700
    assert b'"result"' in raw(daemon, b"\xef\xbb\xbfContent-Length: %d\r\n\r\n" % len(request) + request)


@BOTH
def test_invalid_request(daemon, framing):
    with daemon.connect(framing) as rpc:
        for bad in ({}, 1, "x", None, True, {"jsonrpc": "2.0", "method": 1, "params": "bar"},
                    {"jsonrpc": "1.0", "id": 1, "method": "daemon.status"},
                    {"id": 1, "method": "daemon.status"}, {"jsonrpc": "2.0", "id": 1},
                    {"jsonrpc": "2.0", "id": {}, "method": "daemon.status"},
                    {"jsonrpc": "2.0", "id": [1], "method": "daemon.status"},
                    {"jsonrpc": "2.0", "id": True, "method": "daemon.status"},
                    {"jsonrpc": "2.0", "id": 1, "method": "daemon.status", "params": 3}, []):
            rpc.send(bad)
            reply = rpc.reply()
            assert reply["error"]["code"] == -32600, (bad, reply)
        assert rpc.call("daemon.status")


def test_method_not_found(daemon):
    with daemon.connect() as rpc:
        for name in ("foobar", "", "daemon", "daemon.statu", "daemon.status ", "Daemon.Status",
                     "rpc.nothing", "a" * 10000, "\u0000", "🦊"):
            rpc.send({"jsonrpc": "2.0", "id": "1", "method": name})
            reply = rpc.reply()
            assert reply["error"]["code"] == -32601 and reply["id"] == "1", reply


def test_params_by_name_and_by_position(daemon, repo):
    number = daemon.submit(repo.path)
    with daemon.connect() as rpc:
        assert rpc.call("run.get", id=number)["id"] == number
        assert rpc.call("run.get", number)["id"] == number
        for positions in ([number, 1], ["x"], [], [None], [[number]], [1.5], [True]):
            rpc.send(rpc.request("run.get", positions=positions))
            reply = rpc.reply()
            assert reply["error"]["code"] == -32602, (positions, reply)
            assert reply["error"]["data"]["field"] if positions != [number, 1] else True
        for params, field in (({"id": "x"}, "id"), ({}, "id"), ({"id": number, "idd": 2}, "idd"), ({"id": None}, "id")):
            rpc.send({"jsonrpc": "2.0", "id": 1, "method": "run.get", "params": params})
            reply = rpc.reply()
            assert reply["error"]["code"] == -32602 and reply["error"]["data"]["field"] == field, (params, reply)


def test_null_params_count_as_none(daemon):
    """Several client libraries send null for a call without parameters; a missing
    one is still told."""
    with daemon.connect() as rpc:
        for method, code in (("daemon.status", None), ("event.unsubscribe", None),
                             ("daemon.hello", None), ("run.get", -32602)):
            rpc.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": None})
            reply = rpc.reply(1)
            assert ("result" in reply) if code is None else reply["error"]["code"] == code, reply
        assert rpc.batch([{"jsonrpc": "2.0", "id": 2, "method": "daemon.status", "params": None}])[0]["result"]


def test_an_integer_beyond_the_range(daemon):
    """It is JSON, so the reply is about the request, and says what to send; the largest
    that fits is served."""
    with daemon.connect() as rpc:
        for number in (2**63, 2**64 - 1, -2**63 - 1, 10**400):
            for document in ('{"jsonrpc":"2.0","id":%d,"method":"daemon.status"}',
                             '[{"jsonrpc":"2.0","id":%d,"method":"daemon.status"}]',
                             '{"jsonrpc":"2.0","id":1,"method":"run.get","params":[%d]}'):
                rpc.send((document % number).encode())
                error = rpc.reply(None)["error"]
                assert error["code"] == -32600 and "2^63-1" in error["message"] and "string" in error["message"], error
        for number in (2**63 - 1, -2**63):
            rpc.send(b'{"jsonrpc":"2.0","id":%d,"method":"daemon.status"}' % number)
            assert "result" in rpc.reply(number)
        rpc.send(b'{"jsonrpc":"2.0","id":1e999,"method":"daemon.status"}')
        assert rpc.reply(None)["error"]["code"] == -32700


@pytest.mark.parametrize("method", ["event.subscribe", "hold.list"])
def test_what_is_asked_of_a_run_that_is_not_there(daemon, repo, method):
    with daemon.connect() as rpc:
        with pytest.raises(RpcError) as error:
            rpc.call(method, run=99999)
        assert error.value.code == 1 and error.value.data["field"] == "run" and "99999" in error.value.message
        number = daemon.submit(repo.path)
        assert rpc.call(method, run=number) is not None
        daemon.ended(number)
        assert rpc.call(method, run=number) is not None, "a run that has ended, too"


def test_a_refused_subscription_leaves_the_earlier_one(daemon, repo):
    with daemon.events(types=["run.state"]) as events:
        with pytest.raises(RpcError):
            events.rpc.call("event.subscribe", run=99999)
        daemon.submit(repo.path)
        assert events.next()["state"] == "queued"


def test_errors_name_the_field(daemon, repo):
    number = daemon.review(repo.path)
    daemon.ended(number)
    daemon.call("blob.put", blob="b", offset=0, data="12")
    for code, field, method, params in (
        (2, "id", "run.retry", {"id": number}), (2, "id", "run.pause", {"id": number}),
        (2, "id", "run.resume", {"id": number}), (1, "id", "run.retry", {"id": 99}),
        (1, "id", "hold.approve", {"id": 99}), (1, "id", "run.diff", {"id": 99}),
        (1, "blob", "blob.put", {"blob": "none", "offset": 2, "data": "x"}),
        (4, "offset", "blob.put", {"blob": "b", "offset": 1, "data": "x"})):
        with pytest.raises(RpcError) as error:
            daemon.call(method, **params)
        assert (error.value.code, error.value.data.get("field")) == (code, field), (method, error.value)


def test_hints_say_something(daemon, repo):
    """A hint that fits, or null: the sentence about rpc.discover only where the form of the
    parameters is wrong."""
    def hint(method, **params):
        with pytest.raises(RpcError) as error:
            daemon.call(method, **params)
        assert error.value.code == -32602
        return error.value.data["hint"]
    for params in ({}, {"id": "x"}, {"id": 1, "more": 2}):
        assert "rpc.discover" in hint("run.get", **params)
    assert hint("run.submit", task="x", workdir=str(repo.path), group="no name!") is None
    assert hint("blob.put", blob="no/name", offset=0, data="x") is None
    assert hint("event.subscribe", since=10**9).startswith("begin at 0")


def test_error_data(daemon):
    with daemon.connect() as rpc:
        with pytest.raises(RpcError) as error:
            rpc.call("run.get", id=12345)
    assert error.value.code == 1
    assert (error.value.data["kind"] == "not-found" and error.value.data["retryable"] is False
            and "hint" in error.value.data)
    assert "12345" in error.value.message


@BOTH
def test_notifications_are_not_answered(daemon, repo, framing):
    with daemon.connect(framing) as rpc:
        rpc.send({"jsonrpc": "2.0", "method": "daemon.status"})
        rpc.send({"jsonrpc": "2.0", "method": "foobar"})
        rpc.send({"jsonrpc": "2.0", "method": "run.get", "params": {"id": "no"}})
        rpc.send([{"jsonrpc": "2.0", "method": "daemon.status"}, {"jsonrpc": "2.0", "method": "daemon.status"}])
        rpc.send({"jsonrpc": "2.0", "method": "run.submit",
                  "params": {"task": "by notification", "workdir": str(repo.path)}})
        rpc.send({"jsonrpc": "2.0", "id": "last", "method": "daemon.status"})
        assert rpc.receive()["id"] == "last"
    with daemon.events() as events:
        events.until("run.state", lambda e: e["state"] == "succeeded")


@BOTH
def test_batches(daemon, framing):
    status = {"jsonrpc": "2.0", "method": "daemon.status"}
    with daemon.connect(framing) as rpc:
        replies = rpc.batch([{**status, "id": 1}, status, {**status, "id": "2"}, {"foo": "boo"},
                             {**status, "id": 5, "method": "no.such"}, 1])
        assert isinstance(replies, list) and len(replies) == 5
        by_id = {json.dumps(r["id"]): r for r in replies}
        assert "result" in by_id["1"] and "result" in by_id['"2"'] and by_id["5"]["error"]["code"] == -32601
        assert [r["error"]["code"] for r in replies if r["id"] is None] == [-32600, -32600]
        replies = rpc.batch([1, 2, 3])
        assert [r["error"]["code"] for r in replies] == [-32600] * 3
        reply = rpc.batch([])
        assert isinstance(reply, dict) and reply["error"]["code"] == -32600 and reply["id"] is None


def test_batch_limit(daemon):
    status = {"jsonrpc": "2.0", "method": "daemon.status"}
    with daemon.connect() as rpc:
        assert len(rpc.batch([{**status, "id": i} for i in range(64)])) == 64
        reply = rpc.batch([{**status, "id": i} for i in range(65)])
        assert isinstance(reply, dict) and reply["error"]["code"] == -32700, reply
        assert rpc.call("daemon.status")


def test_batch_of_writes_is_answered_as_one(daemon, repo):
    with daemon.connect() as rpc:
        replies = rpc.batch([rpc.request("run.submit", {"task": str(i), "workdir": str(repo.path)}) for i in range(10)])
        assert sorted(r["result"]["id"] for r in replies) == list(range(1, 11))
    daemon.ended(*range(1, 11))


def test_depth_and_values(daemon):
    def nested(depth):
        return b'{"jsonrpc":"2.0","id":1,"method":"run.get","params":' + b'{"a":' * (depth - 1) + b"1" + b"}" * depth
    with daemon.connect() as rpc:
        rpc.send(nested(32))
        assert rpc.reply()["error"]["code"] == -32602
        rpc.send(nested(33))
        assert rpc.reply()["error"]["code"] == -32700
        rpc.send(b"[" * 100000 + b"]" * 100000)
        assert rpc.reply()["error"]["code"] == -32700
        many = {"jsonrpc": "2.0", "id": 1, "method": "run.get", "params": {"id": [0] * 20001}}
        rpc.send(many)
        assert rpc.reply()["error"]["code"] == -32700
        assert rpc.call("daemon.status")


def test_nul_is_refused(daemon):
    with daemon.connect() as rpc:
        rpc.send(b'{"jsonrpc":"2.0","id":1\0,"method":"daemon.status"}')
        assert rpc.reply()["error"]["code"] == -32700
        rpc.send(b'{"jsonrpc":"2.0","id":1,"method":"daemon.status"}\0')
        assert rpc.reply()["error"]["code"] == -32700


@BOTH
def test_too_long_is_refused_and_closed(daemon, framing):
    with daemon.connect(framing) as rpc:
        filler = b" " * (1 << 20)
        try:
            rpc.send(b'{"jsonrpc":"2.0","id":1,"method":"daemon.status"' + filler + b"}")
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert rpc.reply()["error"]["code"] == -32700
        with pytest.raises((Closed, ConnectionResetError)):
            rpc.receive()
    with daemon.connect(framing) as rpc:
        body = b'{"jsonrpc":"2.0","id":1,"method":"daemon.status"}'
        rpc.send(body + b" " * ((1 << 20) - len(body)))
        assert "result" in rpc.reply(), "a whole MiB is allowed"


HEADERS = [b"Content-Length: x\r\n\r\n{}", b"Content-Length: -1\r\n\r\n{}",
           b"Content-Length: 99999999999999999999\r\n\r\n{}", b"Content-Type: a\r\n\r\n{}",
           b"Content-Length\r\n\r\n{}", b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
           b"C" * 100_000, b"Content-Length: 0x10\r\n\r\n{}",
           b"Content-Length: +2\r\n\r\n{}", b"Content-Length: 2 2\r\n\r\n{}"]


@pytest.mark.parametrize("data", HEADERS, ids=range(len(HEADERS)))
def test_broken_headers(daemon, data):
    with daemon.connect("header") as rpc:
        rpc.send_raw(data)
        rpc.half_close()
        everything = rpc.receive_to_end()
    assert b"-32700" in everything or b"-32600" in everything, everything


def test_headers_as_in_lsp(daemon):
    body = b'{"jsonrpc":"2.0","id":1,"method":"daemon.status"}'
    for head in (b"Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n",
                 b"content-length: %d\r\n\r\n", b"CONTENT-LENGTH:%d\r\n\r\n",
                 b"Content-Type: x\r\nContent-Length:   %d\r\n\r\n"):
        with daemon.connect("header") as rpc:
            for byte in head % len(body) + body:
                rpc.send_raw(bytes([byte]))
            assert "result" in rpc.reply(), head


def test_blank_lines_and_crlf(daemon):
    got = answers(daemon, b'\n\r\n  \n{"jsonrpc":"2.0","id":1,"method":"daemon.status"}\r\n\n')
    assert [r["id"] for r in got] == [1]


def test_half_closed_clients_are_answered(daemon, repo):
    got = answers(daemon, b'{"jsonrpc":"2.0","id":1,"method":"daemon.status"}\n')
    assert got[0]["id"] == 1
    got = answers(daemon, b'{"jsonrpc":"2.0","id":1,"method":"daemon.status"}')
    assert got[0]["id"] == 1, "a last line without LF counts"
    submit = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "run.submit",
                         "params": {"task": "x", "workdir": str(repo.path)}}).encode()
    got = answers(daemon, submit)
    assert got[0]["result"]["state"] == "queued"
    wait = json.dumps({"jsonrpc": "2.0", "id": 8, "method": "run.wait",
                       "params": {"ids": [got[0]["result"]["id"]]}}).encode()
    assert answers(daemon, wait)[0]["id"] == 8, "also one that is answered late"


def test_socat(daemon):
    done = subprocess.run(["socat", "-t", "30", "-", f"UNIX-CONNECT:{daemon.socket}"],
                          input=b'{"jsonrpc":"2.0","id":1,"method":"daemon.status"}\n',
                          capture_output=True, check=True)
    assert json.loads(done.stdout)["id"] == 1


def test_half_closed_subscribers_go_on_listening(make_daemon, repo):
    daemon = make_daemon()
    with daemon.connect() as rpc:
        rpc.call("event.subscribe", since=0)
        rpc.half_close()
        daemon.ended(daemon.submit(repo.path))
        while True:
            event = rpc.notification()["params"]
            if event["type"] == "run.state" and event["state"] == "succeeded":
                break


def test_pipelining_keeps_order(daemon):
    with daemon.connect() as rpc:
        rpc.send_raw(b"".join(b'{"jsonrpc":"2.0","id":%d,"method":"daemon.status"}\n' % i for i in range(500)))
        assert [rpc.reply()["id"] for _ in range(500)] == list(range(500))


def test_byte_by_byte(daemon):
    with daemon.connect() as rpc:
        for byte in b'{"jsonrpc":"2.0","id":1,"method":"daemon.status"}\n':
            rpc.send_raw(bytes([byte]))
        assert rpc.reply()["id"] == 1


@pytest.mark.deadline(90)
def test_a_started_frame_must_end_within_10_s(daemon):
    slow, idle = daemon.connect(), daemon.connect()
    slow.send_raw(b'{"jsonrpc":"2.0",')
    everything = slow.receive_to_end()
    assert everything == b"" or json.loads(everything)["error"]["code"] in (-32700, -32600)
    assert idle.call("daemon.status"), "a connection without a started frame may be silent for ever"
    slow.close()
    idle.close()


def test_garbage(daemon):
    chance = random.Random(1)
    for size in (1, 10, 1000, 100_000):
        for _ in range(5):
            data = chance.randbytes(size)
            with daemon.connect() as rpc:
                try:
                    rpc.send_raw(data)
                    rpc.half_close()
                    rpc.receive_to_end()
                except (BrokenPipeError, ConnectionResetError):
                    pass
    assert daemon.call("daemon.status")


def test_a_client_that_never_reads_is_bounded(daemon):
    """It floods and never reads: the daemon stops reading it, keeps little, and
    serves the others."""
    before = rss_kib(daemon.pid)
    clients = []
    request = b'{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}\n' * 100
    for _ in range(10):
        rpc = daemon.connect()
        rpc.socket.setblocking(False)
        sent = 0
        try:
            while sent < 8 << 20:
                sent += rpc.socket.send(request)
        except BlockingIOError:
            pass
        clients.append(rpc)
    with daemon.connect() as rpc:
        for _ in range(50):
            assert rpc.call("daemon.status")
    grown = rss_kib(daemon.pid) - before
    print(f"10 clients that never read: {grown} KiB")
    if not SANITIZED:
        assert grown < 10 * 3 * 1024
    # one of them reads after all: every request it got through is answered
    first = clients[0]
    first.socket.setblocking(True)
    for _ in range(20):
        assert first.reply()["result"]["openrpc"].startswith("1.3")
    # and when all are gone, what they had sent does not keep the others waiting
    for rpc in clients:
        rpc.close()
    used = cpu_seconds(daemon.pid)
    with daemon.connect() as rpc:
        for _ in range(5):
            assert rpc.call("daemon.status")
    used = cpu_seconds(daemon.pid) - used
    print(f"5 calls after that: {used} s of the daemon's time")
    assert used < (20 if SANITIZED else 2)


def test_many_connections(daemon):
    """There is a cap for each user, it is told, and it is over when they are gone."""
    clients = [daemon.connect() for _ in range(256)]
    for rpc in clients:
        rpc.call("event.subscribe")
    with daemon.connect() as rpc:
        last = rpc.receive()
    assert last["error"]["code"] == 5 and last["id"] is None and "none of them idle" in last["error"]["message"]
    assert clients[0].call("daemon.status")
    for rpc in clients:
        rpc.close()
    while True:
        with daemon.connect() as rpc:
            try:
                rpc.send({"jsonrpc": "2.0", "id": 1, "method": "daemon.status"})
            except BrokenPipeError:	# refused, and closed, already
                continue
            if "result" in rpc.receive():
                break


def test_idle_connections_make_room(daemon):
    """A program that leaks connections does not lock its user out: the idlest one is closed."""
    busy = daemon.connect()
    busy.call("event.subscribe")
    idle = [daemon.connect() for _ in range(255)]
    for _ in range(3):
        while True:	# as long as none of them is idle yet, it is the new one that is refused
            rpc = daemon.connect()
            try:
                rpc.send({"jsonrpc": "2.0", "id": 1, "method": "daemon.status"})
            except BrokenPipeError:
                rpc.close()
                continue
            if "result" in rpc.receive():
                idle.append(rpc)
                break
            rpc.close()
    gone = idle[0].receive()
    assert gone["error"]["code"] == 5 and gone["id"] is None and gone["error"]["data"]["retryable"], gone
    assert "was idle longest" in gone["error"]["message"] and idle[0].socket.recv(1) == b""
    assert busy.call("daemon.status") and idle[-1].call("daemon.status") and idle[200].call("daemon.status")
    for rpc in [busy, *idle]:
        rpc.close()


def test_a_client_that_goes_away_mid_call(daemon, repo):
    for method, params in (("run.wait", {"ids": [1]}), ("event.subscribe", {"since": 0}),
                           ("run.list", {}), ("run.diff", {"id": 1})):
        daemon.submit(repo.path)
        rpc = daemon.connect()
        rpc.send(rpc.request(method, params))
        rpc.close()
    assert daemon.call("daemon.status")


def test_other_users_are_refused(daemon, another_user):
    daemon.socket.chmod(0o777)
    # The refusal may be there, and the connection closed, before the request is sent.
    code = ("import socket,sys\ns=socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\n"
            "try: s.sendall(b'{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.status\"}\\n')\n"
            "except BrokenPipeError: pass\n"
            "print(s.recv(65536).decode())\n")
    done = subprocess.run(["/usr/bin/python3", "-c", code, str(daemon.socket)], user=another_user,
                          group=another_user, extra_groups=[], capture_output=True, text=True, cwd="/")
    assert ('"error"' in done.stdout and f"uid {another_user}" in done.stdout
            and '"result"' not in done.stdout), done.stdout + done.stderr


def test_hello(daemon):
    said = daemon.call("daemon.hello", client="test", min=1, max=1)
    assert said["version"] == "0.1.0" and said["protocol"] == 1 and said["instance"]
    document = daemon.call("rpc.discover")
    events = next(n for n in document["x-notifications"] if n["name"] == "event")["params"]["oneOf"]
    assert said["capabilities"] == [m["name"] for m in document["methods"]] + [
        f"event:{e['properties']['type']['const']}" for e in events]
    with pytest.raises(RpcError):
        daemon.call("daemon.hello", client="test", min=1000, max=1001)


def test_the_instance_is_that_of_the_state_directory(daemon, make_daemon):
    said = [daemon.call(method)["instance"] for method in ("daemon.hello", "daemon.status")]
    daemon.restart()
    said.append(daemon.call("daemon.hello")["instance"])
    assert len(set(said)) == 1 and re.fullmatch("[0-9a-f]{8}", said[0]), said
    assert make_daemon(name="other").call("daemon.hello")["instance"] != said[0]


def test_discover(daemon):
    document = daemon.call("rpc.discover")
    assert document["openrpc"].startswith("1.3") and document["info"]["version"]
    names = [m["name"] for m in document["methods"]]
    assert len(names) == len(set(names))
    assert {"rpc.discover", "daemon.hello", "daemon.status", "daemon.stop", "daemon.reload",
            "blob.put", "run.submit", "run.get", "run.list", "run.wait",
            "run.cancel", "run.retry", "run.diff", "attempt.list", "attempt.get", "attempt.output",
            "attempt.preview", "review.list", "review.verify",
            "event.subscribe", "event.unsubscribe", "event.list"} <= set(names)
    for method in document["methods"]:
        assert {"name", "params", "result"} <= method.keys(), method
        for param in method["params"]:
            assert param["name"] and "schema" in param
    printed = subprocess.run([daemon.argv()[0], "--print-openrpc"], capture_output=True,
                             env=daemon.environment, check=True)
    assert json.loads(printed.stdout)["methods"] == document["methods"]


def test_every_method_answers_nonsense_with_an_error(daemon):
    """Wrong types for every parameter of every method: -32602 with the field, never a crash,
    never a success."""
    document = daemon.call("rpc.discover")
    with daemon.connect() as rpc:
        for method in document["methods"]:
            if method["name"] == "daemon.stop":
                continue
            for param in method["params"]:
                rpc.send({"jsonrpc": "2.0", "id": 1, "method": method["name"],
                          "params": {param["name"]: {"no": [None]}}})
                reply = rpc.reply()
                assert reply.get("error", {}).get("code") == -32602, (method["name"], param["name"], reply)
            rpc.send({"jsonrpc": "2.0", "id": 1, "method": method["name"], "params": {"no such parameter": 1}})
            reply = rpc.reply()
            assert (reply["error"]["code"] == -32602
                    and reply["error"]["data"]["field"] == "no such parameter"), (method["name"], reply)


def test_blobs(daemon, repo):
    text = ("0123456789abcdef" * 4096 + "\n") * 40
    with daemon.connect() as rpc:
        document = rpc.call("rpc.discover")
        put = next(m for m in document["methods"] if m["name"] == "blob.put")
        assert [p["name"] for p in put["params"]][:3] == ["blob", "offset", "data"]
        offset, step = 0, 500_000
        while offset < len(text):
            said = rpc.call("blob.put", blob="b1", offset=offset, data=text[offset:offset + step])
            offset = min(offset + step, len(text))
            assert said["size"] == offset
        with pytest.raises(RpcError):
            rpc.call("blob.put", blob="b1", offset=offset + 5, data="hole")
        assert rpc.call("blob.put", blob="b1", offset=0, data="x", check=True)["size"] == 1
        with pytest.raises(RpcError):
            rpc.call("blob.put", blob="b2", offset=4, data="x", check=True)
        for name in ("../x", "a/b", "", ".", "..", "a" * 1000, "x\ny"):
            with pytest.raises(RpcError) as error:
                rpc.call("blob.put", blob=name, offset=0, data="x")
            assert error.value.code == -32602, name
        number = rpc.call("run.submit", task_blob="b1", workdir=str(repo.path))["id"]
    assert daemon.ended(number)["state"] == "succeeded"
    assert text.strip() in daemon.play.prompt(number, "implement").decode()
    with pytest.raises(RpcError) as error:
        daemon.call("run.submit", task_blob="nothing", workdir=str(repo.path))
    assert error.value.code in (1, -32602)


def test_limits_are_clamped(daemon, repo):
    numbers = [daemon.submit(repo.path, str(i)) for i in range(5)]
    daemon.ended(*numbers)
    assert len(daemon.call("run.list", limit=1_000_000_000)["runs"]) == 5
    page = daemon.call("run.list", limit=2)
    assert [r["id"] for r in page["runs"]] == [5, 4] and page["next"] is not None
    page = daemon.call("run.list", limit=2, cursor=page["next"])
    assert [r["id"] for r in page["runs"]] == [3, 2]
    page = daemon.call("run.list", limit=2, cursor=page["next"])
    assert [r["id"] for r in page["runs"]] == [1] and page["next"] is None
    assert [r["id"] for r in daemon.call("run.list", state="failed")["runs"]] == []
    assert len(daemon.call("run.list", state="succeeded", owner=os.getuid())["runs"]) == 5
    for bad in ({"limit": 0}, {"limit": -1}, {"state": "nonsense"}):
        with pytest.raises(RpcError) as error:
            daemon.call("run.list", **bad)
        assert error.value.code == -32602


def test_wait_with_timeout(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "gate x\n"}, gates=["x"])
    number = daemon.submit(repo.path)
    daemon.play.arrived("x")
    daemon.call("run.wait", ids=[number], timeout_ms=50)
    assert daemon.run(number)["state"] == "running"
    with pytest.raises(RpcError) as error:
        daemon.call("run.wait", ids=[number, 999])
    assert error.value.code == 1
    daemon.play.go("x")
    daemon.ended(number)


def test_attempt_get_and_output_pages(daemon, repo):
    daemon.play.set({"implement": "seq 1 1000\n"})
    number = daemon.submit(repo.path)
    daemon.ended(number)
    attempt = daemon.attempts(number)[0]
    assert daemon.call("attempt.get", id=attempt["id"])["id"] == attempt["id"]
    text, offset = "", 0
    while True:
        page = daemon.call("attempt.output", id=attempt["id"], stream="stdout", offset=offset, limit=100)
        assert page["offset"] == offset and len(page["data"].encode()) <= 100
        text += page["data"]
        offset = page["next"]
        if page["eof"]:
            break
    assert text == "".join(f"{i}\n" for i in range(1, 1001))
    for stream in ("stdout", "answer"):
        page = daemon.call("attempt.output", id=attempt["id"], stream=stream, offset=2**63 - 1)
        assert (page["data"], page["offset"], page["eof"]) == ("", 2**63 - 1, True), page
    for bad in ({"stream": "stdlog"}, {"offset": -1}, {"limit": -5}):
        with pytest.raises(RpcError) as error:
            daemon.call("attempt.output", **{"id": attempt["id"], "stream": "stdout", "offset": 0, **bad})
        assert error.value.code == -32602
    with pytest.raises(RpcError) as error:
        daemon.call("attempt.get", id=99999)
    assert error.value.code == 1


def test_reload_and_stop_by_rpc(make_daemon):
    daemon = make_daemon()
    assert isinstance(daemon.call("daemon.reload"), dict)
    with daemon.connect() as rpc:
        rpc.call("daemon.stop")
    assert daemon.exited() == 0


def test_submit_refuses_what_is_not_there_yet(daemon, repo):
    """A key or option of later releases is refused as unknown, never ignored."""
    for key in ("parallel_x", "beads", "stories", "workflow", "group", "max_cost", "launcher"):
        with pytest.raises(RpcError) as error:
            daemon.submit(repo.path, **{key: 1})
        assert error.value.code == -32602 and error.value.data["field"] == key
    with pytest.raises(RpcError) as error:
        daemon.review(repo.path, review={"chequers": ["make"]})
    assert error.value.code == -32602 and "chequers" in error.value.data["field"]


@pytest.mark.skipif(BUILD.name.endswith("tsan"), reason="the thread sanitizer has a thread that wakes")
def test_idle_daemon_does_not_wake(daemon):
    """Without work there is nothing to wake up for."""
    with daemon.connect() as rpc:
        rpc.call("daemon.status")

        def switches():
            total = 0
            for task in os.listdir(f"/proc/{daemon.pid}/task"):
                for line in open(f"/proc/{daemon.pid}/task/{task}/status"):
                    if line.startswith("voluntary_ctxt_switches"):
                        total += int(line.split()[1])
            return total
        pidfd = os.pidfd_open(daemon.pid)
        counts = []
        for _ in range(3):	# the first may still see the end of the start
            before = switches()
            assert select.select([pidfd], [], [], 0.7)[0] == []
            counts.append(switches() - before)
        os.close(pidfd)
        assert counts[1:] == [0, 0], counts


@pytest.mark.broad
def test_slow_reader_gets_everything(daemon, repo):
    """A subscriber that reads late gets every event, in order, once."""
    with daemon.connect() as rpc:
        rpc.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        rpc.call("event.subscribe", since=0)
        numbers = [daemon.submit(repo.path, str(i)) for i in range(20)]
        daemon.ended(*numbers)
        last = daemon.call("event.list", since=0, limit=256)
        sequence = []
        while not sequence or sequence[-1] < last["events"][-1]["seq"]:
            sequence.append(rpc.notification()["params"]["seq"])
        assert sequence == list(range(1, len(sequence) + 1))
