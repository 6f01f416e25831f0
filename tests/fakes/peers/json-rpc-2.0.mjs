// SPDX-License-Identifier: MIT
// json-rpc-2.0.mjs NODE_MODULES SOCKET, see test_peers.py
import { createConnection } from "node:net";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
const [modules, path] = process.argv.slice(2);
const { JSONRPCClient } = createRequire(`${modules}/`)("json-rpc-2.0");
const socket = createConnection(path);
const peer = new JSONRPCClient((request) => void socket.write(`${JSON.stringify(request)}\n`));
createInterface({ input: socket }).on("line", (line) => peer.receive(JSON.parse(line)));
console.log((await peer.request("daemon.status")).state);
console.log((await peer.request("run.get", { id: 1 })).id);
console.log((await peer.request("run.wait", [[1]])).timed_out);
console.log(await peer.request("run.get", { id: 99 }).then(null, (error) => error.code));
socket.end();
