# SPDX-License-Identifier: MIT
"""pylsp.py SOCKET, see test_peers.py"""
import json
import socket
import sys
import threading

from pylsp_jsonrpc.endpoint import Endpoint
from pylsp_jsonrpc.exceptions import JsonRpcException
from pylsp_jsonrpc.streams import JsonRpcStreamReader, JsonRpcStreamWriter

connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])
peer = Endpoint({}, JsonRpcStreamWriter(connection.makefile("wb")).write)
reader = JsonRpcStreamReader(connection.makefile("rb"))
threading.Thread(target=reader.listen, args=(peer.consume,), daemon=True).start()
print(peer.request("daemon.status").result()["state"])
print(peer.request("run.get", {"id": 1}).result()["id"])
print(json.dumps(peer.request("run.wait", [[1]]).result()["timed_out"]))
try:
    peer.request("run.get", {"id": 99}).result()
except JsonRpcException as error:
    print(error.code)
