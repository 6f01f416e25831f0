/* SPDX-License-Identifier: MIT */
/* rlctl backup: copy the database to a file, while work continues. */
#include <stdlib.h>
#include <unistd.h>

#include "client/cell.h"
#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/host.h"
#include "client/message.h"
#include "proto/memory.h"

/* The daemon has another working directory. Returns NULL after a message. */
static char *absolute(const struct client *c, const char *path)
{
	char *here, *whole;

	if (*path == '/')
		return xstrdup(path);
	if (c->host != NULL) {
		message_error("%s is relative, but the copy is made on %s: give an absolute path", path,
		    c->host->target);
		return NULL;
	}
	here = getcwd(NULL, 0);
	if (here == NULL) {
		message_errno("%s", path);
		return NULL;
	}
	whole = xasprintf("%s/%s", here, path);
	free(here);
	return whole;
}

int backup_command(struct client *c)
{
	char *path = absolute(c, c->options.arguments[0]), *size;
	json_t *result;
	int status;

	if (path == NULL)
		return EXIT_REFUSED;
	result = client_call_json(c, "daemon.backup", json_pack("{s:s}", "path", path), &status);
	free(path);
	if (result == NULL)
		return status;
	if (!c->json) {
		size = cell_size(result, "bytes");
		printf("%s: %s, a copy of the database\n", field_text(result, "path"), size);
		free(size);
	}
	json_decref(result);
	return EXIT_DONE;
}
