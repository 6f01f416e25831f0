# SPDX-License-Identifier: MIT
"""rlctl web: who may come in, what is refused, what a slow or vanished browser does to others, a
daemon that stops and returns. test_web_pages.py has the pages in a browser."""
import os
import re
import signal
import socket
import subprocess
import sys

import pytest
from rld import ANOTHER_UID, Repo, user_name
from terminal import open_terminal
from web import Stream, Web

ASKS = {"implement.1": "echo one > work.txt\nanswer 'QUESTION: A or B?'\n",
        "implement": "cp /dev/stdin asked.txt\nanswer done\n", "review": "pass\n"}
EXHAUSTED = {"implement": "echo one > work.txt\nanswer done\n", "review": "drift 'the second line is missing'\n",
             "fix": "echo more >> work.txt\nanswer fixed\n"}
HELD = {"max_fixes": 1, "on_exhausted": "hold"}


@pytest.fixture
def web(make_daemon, repo):
    """A daemon with a held run, and a browser's session."""
    daemon = make_daemon(scripts=EXHAUSTED)
    run = daemon.review(repo.path, review=HELD)
    assert daemon.ended(run)["state"] == "held"
    with Web(daemon) as made:
        made.daemon, made.run = daemon, run
        assert made.open()[0] == 200
        yield made


def hold_state(web, number=1):
    return web.daemon.call("hold.get", id=number)["state"]


# ---- who may come in ----

def test_the_address_opens_one_session(web):
    status, headers, text = web.ask("GET", web.address.split(str(web.port), 1)[1])
    assert status == 403 and "This address was used" in text and headers["Set-Cookie"] is None
    assert web.place not in text
    assert web.page("/").count("<h1") == 1


def test_the_cookie_is_for_its_place_only(web):
    with Web(web.daemon) as other:
        head = other.ask("HEAD", other.address.split(str(other.port), 1)[1])
        assert head[0] == 403 and head[2] == ""         # what looks at a link does not spend it
        status, headers, _ = other.open()
        assert status == 200
        name, path, *flags = headers["Set-Cookie"].split("; ")
        assert (path, flags) == (f"Path={other.place}", ["HttpOnly", "SameSite=Strict"])
        # neither the cookie nor the place of another server opens anything
        mine = web.cookie
        web.cookie = other.cookie
        assert web.get("/")[0] == 403
        web.cookie = mine
        assert web.ask("GET", other.place + "/")[0] == 404


@pytest.mark.parametrize("cookie", [None, "rlctl=", "rlctl=" + "0" * 32, "other=1", "rlctl=x; rlctl=y"])
def test_without_a_session_nothing_is_shown(web, cookie):
    web.cookie = cookie
    for path in ("/", "/holds", "/hold/1", "/run/1", "/events", "/live.js", "/nothing"):
        status, headers, text = web.get(path)
        assert status == 403 and web.place not in text and "work.txt" not in text, path
    status, _, text = web.ask("POST", web.place + "/hold/1", {"decision": "approve"})
    assert status == 403 and hold_state(web) == "open"


@pytest.mark.parametrize("host", ["rebound.example:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.2:{port}",
                                  "[::1]:{port}", "127.0.0.1:{port}.example", "", None])
def test_only_our_name(web, host):
    given = host.format(port=web.port) if host is not None else None
    status, _, text = web.get("/", headers={"Host": given})
    assert status in (400, 421) and "needs" not in text and web.place not in text
    assert web.get("/", headers={"Host": f"LOCALHOST:{web.port}"})[0] == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:1", "https://127.0.0.1:{port}", "null", "",
                                    "http://localhost:{port}", "http://127.0.0.1:{port}.example", None])
def test_only_our_forms(web, origin):
    given = origin.format(port=web.port) if origin is not None else None
    status, _, text = web.decide(1, "approve", Origin=given)
    assert status == 403 and "page of another server" in text
    assert hold_state(web) == "open"


def test_a_form_has_its_token(web):
    for token in ({}, {"form": ""}, {"form": "0" * 32}, {"form": web.cookie.split("=")[1]}):
        status, _, text = web.ask("POST", web.place + "/hold/1", {**token, "decision": "approve"})
        assert status == 403 and "not one of this session" in text
    # nor does that of another session do
    with Web(web.daemon) as other:
        other.open()
        body = {"form": other.form("/hold/1"), "decision": "approve"}
        assert web.ask("POST", web.place + "/hold/1", body)[0] == 403
    assert hold_state(web) == "open"


def test_sessions_are_few(make_daemon):
    """Enter prints another address; the ninth session ends the one that was used least recently."""
    daemon = make_daemon()
    master, slave = open_terminal()
    with Web(daemon, terminal=slave) as web:
        cookies = []
        for number in range(9):
            assert web.open()[0] == 200
            cookies.append(web.cookie)
            if number == 7:
                web.cookie = cookies[0]         # used again
                assert web.get("/")[0] == 200
            old = web.address
            os.write(master, b"\n")
            web.read_address()
            assert web.open(old)[0] == 403
        for cookie in cookies:
            web.cookie = cookie
            assert web.get("/")[0] == (403 if cookie == cookies[1] else 200)
    os.close(master)
    os.close(slave)


def test_another_user_of_the_host(web):
    if os.getuid() != 0:
        pytest.skip("needs root")
    script = (f"import os, socket\nos.setuid({ANOTHER_UID})\ns = socket.create_connection(('127.0.0.1', {web.port}))\n"
              f"s.sendall(b'GET {web.place}/ HTTP/1.1\\r\\nHost: 127.0.0.1:{web.port}\\r\\n'\n"
              f"          b'Cookie: {web.cookie}\\r\\n\\r\\n')\n"
              "try:\n    print(len(s.recv(100)))\nexcept ConnectionError:\n    print(0)\n")
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert said.stdout == "0\n", said
    assert web.get("/")[0] == 200
    assert "a connection of uid 65534 was refused" in web.end(signal.SIGTERM)[1]


# ---- what is refused ----

@pytest.mark.parametrize("path", ["/../etc/passwd", "/run/../../etc/passwd", "/run/1/../2", "/run/%2e%2e/x",
                                  "/run/01x", "/run/", "/run/0", "/run/-1", "/run/99999999999999999999", "/holds/",
                                  "//", "/hold/1/", "/live.js.map", "/favicon.ico"])
def test_unknown_pages(web, path):
    status, _, text = web.get(path)
    assert status == 404 and "root:" not in text


def test_outside_of_the_place(web):
    for path in ("/", "/etc/passwd", "/favicon.ico", "/" + "0" * 32 + "/", web.place[:-1] + "/", web.place + "x/"):
        status, _, text = web.ask("GET", path)
        assert status in (403, 404) and web.place not in text, path
    assert web.ask("GET", web.place)[0] == 200


def test_methods(web):
    for path in ("/", "/holds", "/hold/1", "/run/1", "/live.js"):
        status, headers, text = web.get(path)
        got = web.ask("HEAD", web.place + path)
        assert (got[0], got[2]) == (200, "") and got[1]["Content-Type"] == headers["Content-Type"]
    status, headers, _ = web.ask("POST", web.place + "/", {"a": "b"})
    assert (status, headers["Allow"]) == (405, "GET, HEAD")
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "POST"):
        status = web.ask(method, web.place + "/run/1", headers={
            "Content-Length": "0", "Origin": f"http://127.0.0.1:{web.port}",
            "Content-Type": "application/x-www-form-urlencoded"})[0]
        assert status == 405, (method, status)
    assert web.get("/run/2")[0] == 404 and web.get("/hold/7")[0] == 404


def test_headers_of_every_answer(web):
    for status, headers, _ in (web.get("/"), web.get("/run/1"), web.get("/nothing"), web.get("/live.js"),
                               web.get("/", headers={"Host": "x"}), web.decide(1, "nothing")):
        assert headers["Cache-Control"] == "no-store", status
        policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
        assert policy == {"default-src": "'none'", "script-src": "'self'", "style-src": "'unsafe-inline'",
                          "connect-src": "'self'", "form-action": "'self'", "base-uri": "'none'",
                          "frame-ancestors": "'none'"}
        assert (headers["X-Content-Type-Options"], headers["X-Frame-Options"], headers["Referrer-Policy"],
                headers["Cross-Origin-Opener-Policy"], headers["Cross-Origin-Resource-Policy"]) == (
            "nosniff", "DENY", "same-origin", "same-origin", "same-origin")


def test_bodies(web):
    form = web.form("/hold/1")
    size = 64 * 1024
    fits = f"form={form}&decision=nothing&message="
    assert web.ask("POST", web.place + "/hold/1", fits + "x" * (size - len(fits)))[0] == 400
    assert web.ask("POST", web.place + "/hold/1", fits + "x" * (size + 1 - len(fits)))[0] == 413
    for length in ("-1", "1e3", "0x10", "99999999999999999999", "1 2"):
        assert web.ask("POST", web.place + "/hold/1", headers={"Content-Length": length})[0] in (400, 413), length
    for headers in ({"Content-Type": "text/plain"}, {"Content-Type": "application/x-www-form-urlencodedx"},
                    {"Content-Type": "multipart/form-data; boundary=x"}, {"Content-Type": None}):
        assert web.ask("POST", web.place + "/hold/1", "", headers)[0] == 415, headers
    assert web.ask("POST", web.place + "/hold/1", headers={"Transfer-Encoding": "chunked"})[0] == 411
    assert web.ask("GET", web.place + "/", "body")[0] == 400
    for body in (f"form={form}&decision=approve&message=%00", f"form={form}&decision=approve&message=%ff",
                 f"form={form}&decision=approve&message=%4", f"form={form}&form={form}&decision=approve",
                 "&".join(f"a{i}=b" for i in range(40))):
        status, _, text = web.ask("POST", web.place + "/hold/1", body)
        assert status == 400 and "cannot be read" in text, body
    assert web.ask("GET", web.place + "/" + "x" * 100_000)[0] in (414, 431)
    assert hold_state(web) == "open"


def test_what_the_daemon_refuses_is_shown(web):
    status, _, text = web.decide(1, "rework", "")
    assert status == 422 and "Refused: rework needs a message for the fixer." in text
    assert web.decide(1, "answer", "B")[0] == 409
    hostile = "</textarea><script>alert(1)</script>\r\n\"second\" line"
    status, _, text = web.decide(1, "answer", hostile)
    assert status == 409 and "Refused: " in text and "<script>alert" not in text
    assert "&lt;/textarea&gt;&lt;script&gt;alert(1)&lt;/script&gt;\n&quot;second&quot; line</textarea>" in text
    form = web.form("/hold/1")
    assert web.decide(1, "reject", " \r\n")[0] == 303
    status, _, text = web.ask("POST", web.place + "/hold/1", {"form": form, "decision": "approve"})
    assert status == 409 and "Refused: " in text and "Decided" in text
    hold = web.daemon.call("hold.get", id=1)
    assert (hold["state"], hold["message"], hold["decided_by"]) == ("rejected", None, f"human:{user_name()}")
    assert hold["by_uid"] == os.getuid() and hold["by_pid"] == web.process.pid


def test_each_decision(make_daemon, tmp_path):
    daemon = make_daemon(scripts=EXHAUSTED)
    runs = [daemon.review(Repo(tmp_path / f"r{i}").path, review=HELD) for i in range(3)]
    daemon.ended(*runs)
    holds = {hold["run"]: hold["id"] for hold in daemon.call("hold.list", state="open")["holds"]}
    with Web(daemon) as web:
        web.open()
        for run, decision, message, state in zip(runs, ("approve", "reject", "rework"),
                                                 ("", "No.\r\nReally.", "Do\r\nmore"),
                                                 ("succeeded", "failed", "held")):
            status, headers, _ = web.decide(holds[run], decision, message)
            assert (status, headers["Location"]) == (303, f"{web.place}/hold/{holds[run]}")
            if decision == "rework":
                daemon.call("run.wait", ids=[run])
            assert daemon.ended(run)["state"] == state
            hold = daemon.call("hold.get", id=holds[run])
            assert (hold["message"] or "") == message.replace("\r", "")
        text = web.page(f"/hold/{holds[runs[1]]}")
        assert "rejected by human:" in text and "No.\nReally." in text


def test_an_answer(make_daemon, repo):
    daemon = make_daemon(scripts=ASKS)
    run = daemon.review(repo.path, review={"on_question": "hold"})
    assert daemon.ended(run)["state"] == "held"
    with Web(daemon) as web:
        web.open()
        assert "A or B?" in web.page("/") and "A or B?" in web.page("/holds") and "A or B?" in web.page("/hold/1")
        assert web.decide(1, "answer", "B, please")[0] == 303
        assert daemon.ended(run)["state"] == "succeeded"
    assert "B, please" in repo.read("asked.txt")


# ---- the overview ----

def test_runs_in_pages_and_by_state(make_daemon, repo, tmp_path):
    daemon = make_daemon(scripts={"implement": "[ \"$RL_RUN\" != 3 ] || exit 1\nanswer done\n"})
    runs = [daemon.submit(tmp_path, f"Task & number {i + 1}", skip_review=True) for i in range(27)]
    daemon.ended(*runs)
    with Web(daemon) as web:
        web.open()

        def shown(path):
            text = web.page(path)
            return [int(n) for n in re.findall(rf'href="{web.place}/run/(\d+)"', text)], text
        first, text = shown("/")
        older = re.search(rf'href="{web.place}(/\?before=\d+)"', text)[1]
        rest, text = shown(older)
        assert first + rest == runs[::-1] and len(first) == 25 and "Older runs" not in text
        assert shown("/?state=failed")[0] == [3]
        assert shown("/?text=%26+number+2")[0] == [27, 26, 25, 24, 23, 22, 21, 20, 2]
        found, text = shown("/?state=succeeded&text=number")
        assert len(found) == 25 and "state=succeeded&amp;text=number&amp;before=" in text
        assert 'value="number"' in text and "Task &amp; number 27" in text
        assert shown("/?state=held")[0] == [] and "No such runs." in web.page("/?state=held")
        status, _, text = web.get("/?state=nonsense")
        assert status == 422 and "nonsense" not in text.split("<main>")[0]


# ---- slow, vanished and many ----

def test_a_slow_client_holds_up_no_other(web):
    request = f"GET {web.place}/ HTTP/1.1\r\nHost: 127.0.0.1:{web.port}\r\nCookie: {web.cookie}\r\n\r\n".encode()
    with socket.create_connection(("127.0.0.1", web.port)) as slow:
        for byte in request[:-1]:
            slow.sendall(bytes([byte]))
            if byte in b"\r\n/":
                assert web.get("/hold/1")[0] == 200     # meanwhile
        slow.sendall(request[-1:])
        assert slow.recv(12) == b"HTTP/1.1 200"
    # one that never reads its answers
    with socket.create_connection(("127.0.0.1", web.port)) as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        deaf.sendall(request * 200)
        assert web.get("/hold/1")[0] == 200
    assert web.get("/hold/1")[0] == 200


def test_a_hundred_connections(web):
    connections = [socket.create_connection(("127.0.0.1", web.port)) for _ in range(100)]
    request = f"GET {web.place}/ HTTP/1.1\r\nHost: 127.0.0.1:{web.port}\r\nCookie: {web.cookie}\r\n\r\n".encode()
    for connection in connections:
        connection.sendall(request[:20])
    assert web.get("/")[0] == 200
    for connection in connections:
        connection.sendall(request[20:])
    assert all(connection.recv(12) == b"HTTP/1.1 200" for connection in connections)
    for connection in connections:
        connection.close()
    assert web.get("/")[0] == 200


def test_streams(web):
    """Each page hears of its run only; the fifth ends the first; those whose browser is gone do not
    count."""
    with Stream(web, "/events?run=1&since=0") as one, Stream(web, "/events?run=2&since=0") as other:
        for stream in (one, other):
            assert stream.until(b"event: there") and stream.until(b"event: change")
        web.daemon.call("run.change", id=1, priority=1)
        assert one.until(b"event: change")
        streams = [Stream(web) for _ in range(3)]
        assert all(stream.until(b"event: there") for stream in streams)
        assert one.until(b"event: full") and not one.until(b"more")
        assert b"change" not in other.bytes
        for stream in streams:
            stream.socket.close()
    for _ in range(12):
        with Stream(web) as stream:
            assert stream.until(b"event: there")
    web.daemon.call("run.change", id=1, priority=2)
    assert web.get("/")[0] == 200


# ---- the daemon, and the end ----

def test_the_daemon_stops_and_returns(web):
    with Stream(web) as stream:
        assert stream.until(b"event: there")
        web.daemon.stop()
        assert stream.until(b"event: gone")
        for path in ("/", "/run/1", "/hold/1", "/holds"):
            status, _, text = web.get(path)
            assert status == 503 and "The daemon is gone" in text, path
        body = {"form": "0" * 32, "decision": "approve"}
        assert web.ask("POST", web.place + "/hold/1", body)[0] == 403
        web.daemon.start()
        assert stream.until(b"event: there") and stream.until(b"event: change")
        assert web.get("/hold/1")[0] == 200
        web.daemon.kill()
        assert stream.until(b"event: gone")
        web.daemon.start()
        assert stream.until(b"event: there")
    assert web.decide(1, "approve")[0] == 303
    assert web.daemon.ended(1)["state"] == "succeeded"
    status, said = web.end(signal.SIGINT)
    assert status == 0
    assert said.count("the daemon is gone") == 2 and said.count("the daemon is back") == 2


def test_another_database_is_not_ours(web):
    """A form would decide the hold that has the same number there."""
    body = {"form": web.form("/hold/1"), "decision": "approve"}
    ours = web.daemon.state.with_name("ours")
    web.daemon.stop()
    web.daemon.state.rename(ours)
    web.daemon.state.mkdir(mode=0o700)
    web.daemon.start()
    assert b"is gone" in web.process.stderr.readline()
    assert b"another daemon" in web.process.stderr.readline()
    assert web.ask("POST", web.place + "/hold/1", body)[0] == web.get("/")[0] == 503
    web.daemon.stop()
    web.daemon.state.rename(web.daemon.state.with_name("other"))
    ours.rename(web.daemon.state)
    web.daemon.start()
    assert b"the daemon is back" in web.process.stderr.readline()
    assert hold_state(web) == "open" and web.ask("POST", web.place + "/hold/1", body)[0] == 303


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_ends_in_good_order(web, sign):
    with Stream(web) as stream, socket.create_connection(("127.0.0.1", web.port)) as half:
        assert stream.until(b"event: there")
        half.sendall(b"GET / HT")
        assert web.end(sign) == (0, "")
        assert not stream.until(b"more")


def test_a_daemon_that_does_not_answer(web):
    """A stopped daemon holds up its pages, not the end of the server."""
    os.kill(web.daemon.pid, signal.SIGSTOP)
    try:
        with socket.create_connection(("127.0.0.1", web.port)) as asks:
            asks.sendall(f"GET {web.place}/ HTTP/1.1\r\nHost: 127.0.0.1:{web.port}\r\n"
                         f"Cookie: {web.cookie}\r\n\r\n".encode())
            assert web.end(signal.SIGTERM)[0] == 0
    finally:
        os.kill(web.daemon.pid, signal.SIGCONT)


def test_a_daemon_that_comes_back_and_does_not_answer(web):
    web.daemon.kill()
    web.daemon.socket.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(web.daemon.socket))
        listener.listen()
        peer, _ = listener.accept()
        assert b"daemon.hello" in peer.recv(4096)
        assert web.end(signal.SIGTERM)[0] == 0
        peer.close()
    web.daemon.socket.unlink()
    web.daemon.start()


def test_ports(web):
    rlctl = web.daemon.rlctl
    assert "Address already in use" in rlctl("web", "--port", web.port, check=1).err
    for port in ("65536", "-1", "x"):
        rlctl("web", "--port", port, check=2)
    rlctl("web", "extra", check=2)
    # it listens nowhere else
    for address in ("127.0.0.2", "::1"):
        with pytest.raises(OSError):
            socket.create_connection((address, web.port)).close()
