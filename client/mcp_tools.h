/* SPDX-License-Identifier: MIT */
/* The tools of the MCP server: each is a call of a method of the daemon. */
#ifndef CLIENT_MCP_TOOLS_H
#define CLIENT_MCP_TOOLS_H

#include <jansson.h>
#include <stdbool.h>

#include "client/mcp_link.h"
#include "proto/schema.h"

struct mcp_tool {
	const char *name, *help;
	const struct schema *params;	/* arguments of the tool; ends with name NULL */
	const char *method;		/* that is called; NULL: prepare names it */
	/* Turn the arguments, which are valid, into the parameters of the method, and return the
	 * method, or NULL with error. prepare NULL: they are the same. */
	const char *(*prepare)(struct mcp_link *l, json_t *arguments, struct call_error *error);
	const char *text;		/* member of the result that is shown as text; NULL: none */
	bool reads;			/* changes nothing */
	bool repeats;			/* may be called again after a broken connection */
	bool waits;			/* may take long by request */
};

extern const struct mcp_tool mcp_tools[];	/* ends with name NULL */

/* NULL: there is no such tool. */
const struct mcp_tool *mcp_tool_find(const char *name);

/* What a client is told about the tool. New reference. */
json_t *mcp_tool_json(const struct mcp_tool *tool);

/* Call the tool; arguments may be changed. Errors are results, too. New reference. */
json_t *mcp_tool_call(const struct mcp_tool *tool, struct mcp_link *l, json_t *arguments);

#endif
