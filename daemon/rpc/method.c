/* SPDX-License-Identifier: MIT */
#include "rpc/method.h"

#include <stdio.h>
#include <string.h>


const struct method *method_find(method_tables tables, const char *name)
{
	for (; *tables != NULL; tables++) {
		for (const struct method *m = *tables; m->name != NULL; m++) {
			if (strcmp(m->name, name) == 0)
				return m;
		}
	}
	return NULL;
}

json_t *method_bind(const struct method *method, json_t *params, struct schema_error *error)
{
	const struct schema *param = method->params;
	char text[sizeof(error->text)];
	json_t *object, *value;
	size_t i;

	*error = (struct schema_error){ .unknown = "is not a parameter of this method" };
	if (params == NULL || json_is_null(params)) {
		object = json_object();
	} else if (json_is_object(params)) {
		object = json_deep_copy(params);
	} else {
		object = json_object();
		json_array_foreach(params, i, value) {
			if (param == NULL || param->name == NULL) {
				snprintf(error->field, sizeof(error->field), "%zu", i);
				snprintf(error->text, sizeof(error->text),
				    "too many parameters for this method");
				json_decref(object);
				return NULL;
			}
			json_object_set_new(object, param->name, json_deep_copy(value));
			param++;
		}
	}
	if (schema_check_members(method->params, object, error))
		return object;
	memcpy(text, error->text, sizeof(text));
	schema_refuse(error, "'%s' %.380s", error->field, text);
	json_decref(object);
	return NULL;
}
