// SPDX-License-Identifier: MIT
// mcp-sdk.mjs NODE_MODULES COMMAND...: the client of the official SDK, on a server that it starts. Each line of
// standard input is [METHOD, PARAMETERS...] of the client; each line of output is {result} or {error, code}.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [modules, command, ...args] = process.argv.slice(2);
const sdk = (name) => import(pathToFileURL(`${modules}/@modelcontextprotocol/sdk/dist/esm/${name}.js`));
const { Client } = await sdk("client/index");
const { StdioClientTransport } = await sdk("client/stdio");

const client = new Client({ name: "test", version: "1" });
client.onerror = (error) => console.error(`onerror: ${error}`);
await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: "inherit" }));
for await (const line of createInterface({ input: process.stdin })) {
  const [method, ...params] = JSON.parse(line);
  try {
    console.log(JSON.stringify({ result: (await client[method](...params)) ?? null }));
  } catch (error) {
    console.log(JSON.stringify({ error: error.message, code: error.code }));
  }
}
await client.close();
