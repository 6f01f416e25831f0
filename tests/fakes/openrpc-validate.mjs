// SPDX-License-Identifier: MIT
// openrpc-validate.mjs NODE_MODULES FILE: validates the document with the official library, by its meta-schema, and resolves its
// references. Prints the number of its methods.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [modules, file] = process.argv.slice(2);
const utils = createRequire(`${modules}/`)("@open-rpc/schema-utils-js");
const openrpc = JSON.parse(readFileSync(file));
const valid = utils.validateOpenRPCDocument(openrpc);
if (valid !== true) throw valid;
console.log((await utils.parseOpenRPCDocument(openrpc)).methods.length);
