// SPDX-License-Identifier: MIT
// jayson.mjs NODE_MODULES SOCKET, see test_peers.py
import { createRequire } from "node:module";
const [modules, path] = process.argv.slice(2);
const peer = createRequire(`${modules}/`)("jayson/promise").Client.tcp({ path });
console.log((await peer.request("daemon.status", [])).result.state);
console.log((await peer.request("run.get", { id: 1 })).result.id);
console.log((await peer.request("run.wait", [[1]])).result.timed_out);
console.log((await peer.request("run.get", { id: 99 })).error.code);
