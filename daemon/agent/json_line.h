/* SPDX-License-Identifier: MIT */
/* One line of an agent's JSON stream, read as leniently as agents write: the answer in
 * it was paid for. */
#ifndef AGENT_JSON_LINE_H
#define AGENT_JSON_LINE_H

#include <jansson.h>

/* NULL when it is no JSON even so, or too large for the parser's memory. What JSON.stringify() lets
 * through and RFC 8259 calls unpredictable (lone surrogates, NUL, bytes that are no UTF-8) becomes
 * U+FFFD, a whole number beyond 64 bits a real. */
json_t *json_line_parse(const char *data, size_t size);

#endif
