#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""follow.py SOCKET WORKDIR TASK: submit a task and print each event of its run once, in order, also
over restarts and crashes of the daemon. Exits with 0 when the run has succeeded."""
import json
import os
import socket
import sys
import time
import uuid

path, workdir, text = sys.argv[1:]
task = {"task": text, "workdir": workdir, "key": str(uuid.uuid4()),     # the same run, however often it is sent
        "environment": {name: os.environ[name] for name in ("PATH", "HOME")}}
since = None


def follow(daemon):
    """Until the run has ended, or the connection breaks."""
    global since

    def call(method, params):
        request = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
        daemon.sendall(json.dumps(request).encode() + b"\n")

    call("run.submit", task)
    for line in daemon.makefile("rb"):
        message = json.loads(line) if line.endswith(b"\n") else {}
        if "error" in message and not message["error"]["data"]["retryable"]:
            sys.exit(message["error"]["message"])
        if message.get("id") == "run.submit" and "result" in message:
            since = message["result"]["seq"] if since is None else since
            call("event.subscribe", {"run": message["result"]["id"], "since": since})
        if message.get("method") == "event":
            event = message["params"]
            since = event["seq"]
            print(since, event["type"], event.get("state", ""), flush=True)
            if event["type"] == "run.state" and event["state"] in ("succeeded", "failed", "cancelled"):
                sys.exit(event["state"] != "succeeded")


while True:
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(path)
            follow(connection)
    except OSError:
        pass
    time.sleep(0.2)
