# SPDX-License-Identifier: MIT
"""Other users of this host, as clients of a daemon: programs that root starts as them."""
import json
import os
import pwd
import subprocess
import sys

import pytest
from rld import METHODS_CALLED

# ask SOCKET: a request a line from stdin, on one connection; what comes back, a line
# each.
ASK = """
import json, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
lines = s.makefile("rb")
for line in sys.stdin:
    wanted = json.loads(line)["id"]
    try:
        s.sendall(line.encode())
    except BrokenPipeError:
        pass
    while True:
        try:
            said = lines.readline()
        except ConnectionResetError:
            said = b""
        document = json.loads(said) if said else {"closed": True}
        if "method" not in document:
            break
    print(json.dumps(document), flush=True)
"""

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become other users")


class User:
    """groups: names of groups beside the user's own."""

    def __init__(self, daemon, name, groups=()):
        entry = pwd.getpwnam(name)
        self.daemon, self.name, self.uid, self.gid = daemon, name, entry.pw_uid, entry.pw_gid
        self.how = {"user": self.uid, "group": self.gid, "extra_groups": list(groups), "cwd": "/"}

    def connect(self):
        return Connection(self)

    def ask(self, *requests):
        """Each (method, params) on one connection: the answers."""
        with self.connect() as link:
            return [link.ask(method, params) for method, params in requests]

    def call(self, method, **params):
        """The result; an error of the daemon is an AssertionError."""
        answer, = self.ask((method, params))
        assert "result" in answer, (self.name, method, answer)
        return answer["result"]

    def refusal(self, method, **params):
        answer, = self.ask((method, params))
        assert answer["error"]["code"] == 3, (self.name, method, answer)
        return answer["error"]

    def rlctl(self, *args, check=None, **kwargs):
        return self.daemon.rlctl("--trust-uid", self.daemon.uid or 0, *args, check=check,
                                 **{**self.how, **kwargs})

    def run(self, *argv, **kwargs):
        return subprocess.run(argv, capture_output=True, text=True, **{**self.how, **kwargs})


class Connection:
    def __init__(self, user):
        self.process = subprocess.Popen([sys.executable, "-c", ASK, str(user.daemon.socket)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, **user.how)
        self.next_id = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def ask(self, method, params=None):
        METHODS_CALLED.add(method)
        self.next_id += 1
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": self.next_id, "method": method,
                                             "params": params or {}}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())
