/* SPDX-License-Identifier: MIT */
#include "client/group_check.h"

#include <string.h>

#include "client/client.h"
#include "client/field.h"
#include "proto/call.h"
#include "proto/memory.h"
#include "proto/near.h"

bool group_is_known(struct client *c, const char *name, char **near)
{
	struct near best = { .word = name };
	struct call_error error;
	json_t *result = call_method(c->conn, "group.list", NULL, &error);
	const json_t *groups = field_array(result, "groups");
	bool known = result == NULL;

	for (size_t i = 0; i < json_array_size(groups); i++) {
		const char *one = field_text(json_array_get(groups, i), "name");

		known = known || strcmp(one, name) == 0;
		near_offer(&best, one);
	}
	*near = known ? NULL : xstrdup(best.best);
	json_decref(result);
	return known;
}
