// SPDX-License-Identifier: MIT
// decide.ts SOCKET WORKDIR TASK: a program on the generated client: submits, follows the run, reads its findings,
// approves the hold, and prints what it saw as JSON.
import { randomUUID } from "node:crypto";
import { createConnection, Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { Event, Rld, RunState } from "./rld_client.js";

const [path, workdir, task] = process.argv.slice(2) as [string, string, string];
const events: Event[] = [];
let socket: Socket | null = null;
let followed: Socket | null = null;
let number = 0;
let wake = () => {};
const answers = new Map<number, (message: any) => void>();

function take(line: string) {
  const message = JSON.parse(line);
  if (message.method === "event") events.push(message.params);
  answers.get(message.id)?.(message);
  wake();
}

/** A socket whose lines are taken; an end answers all calls with nothing. */
function connect() {
  const made = createConnection(path).on("error", () => {});
  let rest = "";
  made.setEncoding("utf8");
  made.on("data", (data: string) => {
    const lines = (rest + data).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(take);
  });
  made.on("close", () => {
    socket = null;
    answers.forEach((answer) => answer(null));
    wake();
  });
  return made;
}

/** Repeated over a broken connection; what it does here may be repeated. */
async function call(method: string, params: object): Promise<unknown> {
  for (;;) {
    socket ??= connect();
    const id = ++number;
    socket.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    const message: any = await new Promise((resolve) => answers.set(id, resolve));
    answers.delete(id);
    if (message?.error) throw new Error(message.error.message);
    if (message) return message.result;
    await setTimeout(50);
  }
}

const rld = new Rld(call);

/** Events after since, until the run is in one of the states. One subscription a connection. */
async function follow(run: number, since: number, states: RunState[]): Promise<RunState> {
  for (;;) {
    if (!socket || followed !== socket) {
      await rld.eventSubscribe({ run, since: events.at(-1)?.seq ?? since });
      followed = socket;
    }
    while (socket) {
      for (const event of events) {
        if (event.type === "run.state" && states.includes(event.state)) return event.state;
      }
      await new Promise<void>((resolve) => (wake = resolve));
    }
  }
}

const { PATH, HOME } = process.env as { PATH: string; HOME: string };
const made = await rld.runSubmit({
  task, workdir, key: randomUUID(), environment: { PATH, HOME },
  review: { enabled: true, max_fixes: 0, on_exhausted: "hold" },
});
const id = made.id as number;
await follow(id, made.seq, ["held"]);
const findings = (await rld.findingList({ run: id })).open.map((finding) => finding.text);
for (const hold of (await rld.holdList({ run: id, state: "open" })).holds) {
  await rld.holdApprove({ id: hold.id, message: "as agreed" });
}
const state = await follow(id, made.seq, ["succeeded", "failed", "cancelled"]);
console.log(JSON.stringify({ state, findings, events: events.map((event) => event.seq) }));
process.exit(0);
