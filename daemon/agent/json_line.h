/* SPDX-License-Identifier: MIT */
/* A line of an agent's JSON stream, read leniently, because the answer in it was paid for. */
#ifndef AGENT_JSON_LINE_H
#define AGENT_JSON_LINE_H

#include <jansson.h>

/* NULL if it is not JSON even so, or too large for the parser. What JSON.stringify() permits and
 * RFC 8259 calls unpredictable (lone surrogates, NUL, invalid UTF-8) becomes U+FFFD, an integer
 * beyond 64 bits a real. */
json_t *json_line_parse(const char *data, size_t size);

#endif
