/* SPDX-License-Identifier: MIT */
#include "agent/launcher.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "proto/memory.h"

#define LIST(...) (const char *const[]){ __VA_ARGS__, NULL }

/* An answer without the job is not enough: while slurmctld does not answer, nothing is known. */
#define SLURM_CANCEL \
	"scancel --name=rl-{uuid} || exit 1\n" \
	"while left=$(squeue -h --name=rl-{uuid} --format=%i) || exit 1; [ -n \"$left\" ]; do sleep 0.2; done"

/* A scope that is gone is unknown to systemd. */
#define SYSTEMD_CANCEL \
	"systemctl --user stop rl-{uuid}.scope 2> /dev/null; ! systemctl --user --quiet is-active rl-{uuid}.scope"

/* It asks for nothing, and a host that is gone does not keep it. */
#define SSH "ssh", "-T", "-oBatchMode=yes", "-oConnectTimeout=10", "-oServerAliveInterval=15", \
	"-oServerAliveCountMax=3"

const struct launcher_preset launcher_presets[] = {
	{
		.name = "slurm",
		.command = LIST("srun", "--job-name=rl-{uuid}", "--ntasks=1", "--nodes=1", "--kill-on-bad-exit=1",
		    "--chdir={workdir}", "--quiet"),
		.cancel = LIST("sh", "-c", SLURM_CANCEL),
		.help = "a job of a Slurm cluster, by srun",
	},
	{
		/* A scope: the agent stays below its shim. */
		.name = "systemd",
		.command = LIST("systemd-run", "--user", "--scope", "--quiet", "--collect", "--unit=rl-{uuid}"),
		.cancel = LIST("sh", "-c", SYSTEMD_CANCEL),
		.help = "a transient scope of the user's systemd",
	},
	{
		.name = "ssh",
		.command = LIST(SSH, LAUNCHER_OPTIONS, "{node}", "sh {start}"),
		.cancel = LIST(SSH, LAUNCHER_OPTIONS, "{node}", "sh {end}"),
		.help = "a host of a list, by ssh",
	},
	{ .name = NULL },
};

static const char *const preset_names[] = { "slurm", "systemd", "ssh" };

const struct state_names launcher_preset_names = { "launcher that rld knows", preset_names,
    sizeof(preset_names) / sizeof(preset_names[0]), NULL };

static const char *const files_names[] = { [LAUNCHER_SHARED] = "shared", [LAUNCHER_COPIED] = "copied" };

const struct state_names launcher_files_names = { "way of files to a launcher", files_names,
    sizeof(files_names) / sizeof(files_names[0]), NULL };

const struct launcher_preset *launcher_preset_find(const char *name)
{
	for (const struct launcher_preset *p = launcher_presets; p->name != NULL; p++) {
		if (strcmp(p->name, name) == 0)
			return p;
	}
	return NULL;
}

/* The word with its placeholders replaced; malloc'd. */
static char *fill_word(const char *word, const struct launcher_fill *fill)
{
	const struct { const char *name, *value; } rows[] = {
		{ "{run}", fill->run }, { "{attempt}", fill->attempt }, { "{uuid}", fill->uuid },
		{ "{workdir}", fill->workdir }, { "{node}", fill->node != NULL ? fill->node : "" },
		{ "{start}", fill->start }, { "{end}", fill->end },
	};
	struct buf out = { 0 };

	while (*word != '\0') {
		size_t i = 0;

		while (i < sizeof(rows) / sizeof(rows[0]) && strncmp(word, rows[i].name, strlen(rows[i].name)) != 0)
			i++;
		if (i == sizeof(rows) / sizeof(rows[0])) {
			buf_add(&out, word++, 1);
			continue;
		}
		buf_adds(&out, rows[i].value);
		word += strlen(rows[i].name);
	}
	return out.data != NULL ? buf_take(&out, NULL) : xstrdup("");
}

bool launcher_names(char *const *words, const char *placeholder)
{
	for (; words != NULL && *words != NULL; words++)
		if (strstr(*words, placeholder) != NULL)
			return true;
	return false;
}

bool launcher_starts_script(char *const *words)
{
	return launcher_names(words, "{start}");
}

bool launcher_is_shell(char *const *words)
{
	size_t count = strings_count(words);

	return count > 1 && strcmp(words[count - 1], "sh {start}") == 0;
}

char **launcher_argv(char *const *words, const struct launcher_fill *fill)
{
	char **argv = NULL;

	for (; *words != NULL; words++) {
		char *word = fill_word(*words, fill);

		strings_append(&argv, word);
		free(word);
	}
	return argv;
}
