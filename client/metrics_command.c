/* SPDX-License-Identifier: MIT */
/* rlctl metrics: what the daemon counts, in the text format of Prometheus. */
#include <math.h>
#include <stdlib.h>

#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "proto/memory.h"

/* A text in quotes, as the format wants it. */
static void add_quoted(struct buf *out, const char *text)
{
	buf_adds(out, "\"");
	for (; *text != '\0'; text++)
		if (*text == '\n')
			buf_adds(out, "\\n");
		else
			buf_addf(out, "%s%c", *text == '"' || *text == '\\' ? "\\" : "", *text);
	buf_adds(out, "\"");
}

static void add_number(struct buf *out, double number)
{
	if (number == floor(number) && fabs(number) < 1e15)
		buf_addf(out, " %.0f\n", number);
	else
		buf_addf(out, " %.17g\n", number);
}

static void add_sample(struct buf *out, const char *name, json_t *sample)
{
	json_t *labels = json_object_get(sample, "labels"), *value;
	const char *key, *sign = "{";

	buf_adds(out, name);
	json_object_foreach(labels, key, value) {
		buf_addf(out, "%s%s=", sign, key);
		add_quoted(out, json_string_value(value));
		sign = ",";
	}
	buf_adds(out, json_object_size(labels) > 0 ? "}" : "");
	add_number(out, json_number_value(json_object_get(sample, "value")));
}

int metrics_command(struct client *c)
{
	struct buf out = { 0 };
	int status;
	json_t *result = client_call_json(c, "daemon.metrics", NULL, &status), *metric, *sample;
	size_t i, k;

	if (result == NULL || c->json) {
		json_decref(result);
		return status;
	}
	json_array_foreach(field_array(result, "metrics"), i, metric) {
		const char *name = field_text(metric, "name");

		buf_addf(&out, "# HELP %s %s\n# TYPE %s %s\n", name, field_text(metric, "help"), name,
		    field_text(metric, "type"));
		json_array_foreach(field_array(metric, "samples"), k, sample)
			add_sample(&out, name, sample);
	}
	fputs(out.data, c->out.file);
	buf_release(&out);
	json_decref(result);
	return status;
}
