#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// follow.mjs SOCKET WORKDIR TASK: submit a task and print each event of its run once, in order, also over restarts and
// crashes of the daemon. Exits with 0 when the run has succeeded.
import { randomUUID } from "node:crypto";
import { createConnection } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";

const [path, workdir, text] = process.argv.slice(2);
const { PATH, HOME } = process.env;
const task = { task: text, workdir, key: randomUUID(), environment: { PATH, HOME } };
const final = ["succeeded", "failed", "cancelled"];
let since = null;

/** Until the run has ended, or the connection breaks. */
async function follow() {
  const daemon = createConnection(path).on("error", () => {});
  const call = (method, params) => daemon.write(`${JSON.stringify({ jsonrpc: "2.0", id: method, method, params })}\n`);
  call("run.submit", task);
  for await (const line of createInterface({ input: daemon })) {
    if (!line.endsWith("}")) return;
    const { id, method, params, result, error } = JSON.parse(line);
    if (error && !error.data.retryable) throw new Error(error.message);
    if (id === "run.submit" && result) {
      since ??= result.seq;
      call("event.subscribe", { run: result.id, since });
    }
    if (method === "event") {
      since = params.seq;
      console.log(params.seq, params.type, params.state ?? "");
      if (params.type === "run.state" && final.includes(params.state)) process.exit(+(params.state !== "succeeded"));
    }
  }
}

for (;;) {
  // a broken connection is no failure of the task
  await follow().catch((error) => { if (!error.syscall) throw error; });
  await setTimeout(200);
}
