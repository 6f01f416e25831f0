# SPDX-License-Identifier: MIT
"""rlctl web as a browser sees it, without a browser."""
import fcntl
import http.client
import json
import re
import socket
import subprocess
import termios
import urllib.parse

from rld import RLCTL, Daemon


class Web:
    """A started "rlctl web"; its session, once it is open."""

    def __init__(self, daemon, *more, terminal=None):
        if terminal is None:
            self.process = daemon.rlctl_start("--json", "web", *more)
        else:
            self.process = subprocess.Popen([str(RLCTL), "--json", "web", *more], stdin=terminal,
                                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
                                            env={**daemon.environment, "RLD_SOCKET": str(daemon.socket)},
                                            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
            Daemon.processes.append(self.process)
        self.cookie = self.place = None
        self.read_address()

    def read_address(self):
        self.address = json.loads(self.process.stdout.readline())["address"]
        self.port = int(re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=[0-9a-f]{32}", self.address)[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def end(self, signal):
        """Its exit status and what it said."""
        self.process.send_signal(signal)
        said = self.process.communicate()[1].decode()
        return self.process.returncode, said

    def ask(self, method, path, body=None, headers=None, **given):
        """Status, headers, text. Headers that are None are left out."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        wanted = {"Host": f"127.0.0.1:{self.port}", "Cookie": self.cookie, **(headers or {})}
        if method == "POST":
            wanted = {"Origin": f"http://127.0.0.1:{self.port}",
                      "Content-Type": "application/x-www-form-urlencoded", **wanted}
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        if isinstance(body, dict):
            body = urllib.parse.urlencode(body)
        if body is not None and "Content-Length" not in wanted:
            wanted["Content-Length"] = str(len(body))
        for name, value in wanted.items():
            if value is not None:
                connection.putheader(name, value)
        try:
            connection.endheaders((body or "").encode("latin-1"))
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            connection.close()

    def open(self, address=None):
        """Open the session of an address: status and headers."""
        status, headers, text = self.ask("GET", (address or self.address).split(str(self.port), 1)[1])
        if status == 200:
            self.cookie = headers["Set-Cookie"].split(";")[0]
            self.place = re.fullmatch(r"0; url=(/[0-9a-f]{32})/", headers["Refresh"])[1]
        return status, headers, text

    def get(self, path, **given):
        return self.ask("GET", self.place + path, **given)

    def page(self, path):
        status, _, text = self.get(path)
        assert status == 200, (status, text)
        return text

    def form(self, path):
        """The token of the form of a page."""
        return re.search(r'name="form" value="([0-9a-f]{32})"', self.page(path))[1]

    def decide(self, hold, decision, message="", **headers):
        body = {"form": self.form(f"/hold/{hold}"), "decision": decision, "message": message}
        return self.ask("POST", f"{self.place}/hold/{hold}", body, headers)


class Stream:
    """The events of a page, one by one."""

    def __init__(self, web, path="/events?since=0"):
        self.socket = socket.create_connection(("127.0.0.1", web.port))
        self.socket.sendall(f"GET {web.place}{path} HTTP/1.1\r\nHost: 127.0.0.1:{web.port}\r\n"
                            f"Cookie: {web.cookie}\r\n\r\n".encode())
        self.bytes = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def until(self, what):
        """Read until this is there; what came before it is forgotten. False: the end came first."""
        while what not in self.bytes:
            more = self.socket.recv(4096)
            if not more:
                return False
            self.bytes += more
        self.bytes = self.bytes.split(what, 1)[1]
        return True
