/* SPDX-License-Identifier: MIT */
/* A row of a schema as JSON Schema: for the OpenRPC document of the daemon (rpc/discover.c) and the
 * tools of "rlctl mcp" (client/mcp_tools.c). */
#ifndef PROTO_SCHEMA_JSON_H
#define PROTO_SCHEMA_JSON_H

#include <jansson.h>

#include "proto/schema.h"

/* The schema of the setting that a row of kind ANY stands for. */
typedef const struct schema *schema_of_setting(const char *path);

/* of may be NULL if no row is of kind ANY. New reference. */
json_t *schema_json(const struct schema *schema, schema_of_setting *of);

/* Set "deprecated" of a method, parameter or member if its help says so. */
void schema_mark(json_t *json, const char *help);

/* The help of the row, or of its setting; NULL: none. */
const char *schema_help(const struct schema *schema, schema_of_setting *of);

#endif
