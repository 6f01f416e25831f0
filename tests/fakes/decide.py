# SPDX-License-Identifier: MIT
"""decide.py SOCKET WORKDIR TASK: a program on the generated client: submits, follows the run, reads
its findings, approves the hold, and prints what it saw as JSON."""
import json
import os
import socket
import sys
import time
import uuid
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "docs/clients"))
from rld_client import Rld  # noqa: E402

path, workdir, task = sys.argv[1:]
lines, connection, followed, events, number = None, None, None, [], 0


def receive():
    line = lines.readline()
    if not line.endswith(b"\n"):
        raise ConnectionError
    message = json.loads(line)
    if message.get("method") == "event":
        events.append(message["params"])
    return message


def call(method, params):
    """Repeated over a broken connection; what it does here may be repeated."""
    global lines, connection, number
    while True:
        try:
            if lines is None:
                connection = socket.socket(socket.AF_UNIX)
                connection.connect(path)
                lines = connection.makefile("rb")
            number += 1
            request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            connection.sendall(json.dumps(request).encode() + b"\n")
            while (message := receive()).get("id") != number:
                pass
            if "error" in message:
                raise SystemExit(message["error"]["message"])
            return message["result"]
        except OSError:
            lines = None
            time.sleep(0.05)


rld = Rld(call)


def follow(run, since, states):
    """Events after since, until the run is in one of the states. One subscription a connection."""
    global lines, followed
    while True:
        if lines is None or followed is not lines:
            rld.event_subscribe(run=run, since=events[-1]["seq"] if events else since)
            followed = lines
        try:
            while True:
                for event in events:
                    if event["type"] == "run.state" and event["state"] in states:
                        return event["state"]
                receive()
        except OSError:
            lines = None


made = rld.run_submit(task=task, workdir=workdir, key=str(uuid.uuid4()),
                      environment={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]},
                      review={"enabled": True, "max_fixes": 0, "on_exhausted": "hold"})
follow(made["id"], made["seq"], ["held"])
findings = [f["text"] for f in rld.finding_list(run=made["id"])["open"]]
for hold in rld.hold_list(run=made["id"], state="open")["holds"]:
    rld.hold_approve(id=hold["id"], message="as agreed")
state = follow(made["id"], made["seq"], ["succeeded", "failed", "cancelled"])
print(json.dumps({"state": state, "findings": findings, "events": [e["seq"] for e in events]}))
