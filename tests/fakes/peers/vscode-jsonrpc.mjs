// SPDX-License-Identifier: MIT
// vscode-jsonrpc.mjs NODE_MODULES SOCKET, see test_peers.py
import { createConnection } from "node:net";
import { createRequire } from "node:module";
const [modules, path] = process.argv.slice(2);
const rpc = createRequire(`${modules}/`)("vscode-jsonrpc/node");
const socket = createConnection(path);
const peer = rpc.createMessageConnection(new rpc.SocketMessageReader(socket), new rpc.SocketMessageWriter(socket));
peer.listen();
console.log((await peer.sendRequest("daemon.status")).state);
console.log((await peer.sendRequest("run.get", { id: 1 })).id);
console.log((await peer.sendRequest("run.wait", rpc.ParameterStructures.byPosition, [1])).timed_out);
console.log((await peer.sendRequest("run.get", { id: 99 }).catch((error) => error)).code);
socket.end();
