/* SPDX-License-Identifier: MIT */
#include "job/placed_scripts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/memory.h"
#include "record/far_claim.h"
#include "record/far_status.h"
#include "record/layout.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
#define DIGITS "0123456789"

/* Of what is started there, and of nothing here: RL_ATTEMPT_UUID also marks the launcher. */
#define MARK "RLD_PLACED_UUID"

#define LOOKS_PER_SECOND 5
#define GRACE_MAX_S 15		/* rld gives a cancel command half a minute */
#define KILLING_S 5
#define WALL_LATER_MS 60000

/* Signals are for what has the mark: the script that started it, or the rl-shim there, waits, and
 * tells its end; SIGTERM is for rl-shim, too, but it is not killed. In an
 * earlier boot of the same machine nothing is left of it; of another machine nothing is known. */
static const char end_script[] =
    "ln -s revoked \"$d/claim\" 2> /dev/null && exit 0\n"
    "c=$(readlink \"$d/claim\") || exit 1\n"
    "[ \"$c\" != revoked ] || exit 0\n"
    "b=$(cat /proc/sys/kernel/random/boot_id) m=$(cat /etc/machine-id 2> /dev/null)\n"
    "marked() { grep -lsxzF \"" MARK "=$u\" /proc/[0-9]*/environ | tr -dc '0-9\\n'; }\n"
    "q=${c%%.*}; q=${q#" FAR_SHIM "}\n"
    "left() { marked; grep -qsxzF -e \"$d/start\" -e \"$f\" \"/proc/$q/cmdline\" && echo \"$q\"; }\n"
    "case $c in\n"
    "*.\"$b\".*)\n"
    "\tp=$(marked); [ -z \"$p\" ] || kill $p 2> /dev/null\n"
    "\tn=0\n"
    "\twhile [ -n \"$(left)\" ]; do\n"
    "\t\tn=$((n + 1)); [ $n -le $end ] || { echo \"some of its processes do not end\" >&2; exit 1; }\n"
    "\t\tp=; [ $n -le $grace ] || p=$(marked | grep -vx \"$q\"); [ -z \"$p\" ] || kill -9 $p 2> /dev/null\n"
    "\t\tsleep 0.2\n"
    "\tdone ;;\n"
    "*) [ -n \"$m\" ] && [ \"${c##*.}\" = \"$m\" ] || { echo \"it was started on another machine\" >&2; exit 1; } ;;\n"
    "esac\n"
    "[ ! -s \"$f\" ] || grep -q '^ended ' \"$f\" || echo \"ended $u 137 signalled\" >> \"$f\"\n";

char *shell_word(const char *text)
{
	struct buf out = { 0 };

	if (text[0] != '\0' && text[strspn(text, LETTERS DIGITS "/.,:=@%+-")] == '\0')
		return xstrdup(text);
	buf_adds(&out, "'");
	for (; *text != '\0'; text++)
		if (*text == '\'')
			buf_adds(&out, "'\\''");
		else
			buf_add(&out, text, 1);
	buf_adds(&out, "'");
	return buf_take(&out, NULL);
}

static void add_word(struct buf *out, const char *before, const char *text, const char *after)
{
	char *word = shell_word(text);

	buf_adds(out, before);
	buf_adds(out, word);
	buf_adds(out, after);
	free(word);
}

/* A shell cannot set others; and a socket of this machine is none of that one. */
static bool is_exported(const char *variable)
{
	size_t n = strspn(variable, LETTERS DIGITS);

	return n > 0 && variable[n] == '=' && strchr(DIGITS, variable[0]) == NULL &&
	    strncmp(variable, "SSH_", strlen("SSH_")) != 0;
}

/* A limit of the attempt is watched here; there it is for an agent that nobody can reach. */
static int64_t far_wall_ms(const struct shim_job *job)
{
	return job->wall_ms == 0 ? 0 : job->wall_ms + WALL_LATER_MS;
}

char *placed_start_script(const struct shim_job *job, char *const *envp, const char *dir, const char *shim)
{
	struct buf out = { 0 };
	char *far = xasprintf("%s/" RECORD_FAR, dir);

	add_word(&out, "cd ", job->cwd, " || exit 75\n");
	for (; envp != NULL && *envp != NULL; envp++) {
		if (!is_exported(*envp))
			continue;
		buf_adds(&out, "export ");
		buf_add(&out, *envp, (size_t)(strchr(*envp, '=') - *envp));
		add_word(&out, "=", strchr(*envp, '=') + 1, "\n");
	}
	add_word(&out, "export RL_ATTEMPT_UUID=", job->uuid, "\n");
	add_word(&out, "export " MARK "=", job->uuid, "\n");
	add_word(&out, "set -- ", far, " ");
	add_word(&out, "", job->uuid, "");
	for (char *const *word = job->argv; *word != NULL; word++)
		add_word(&out, " ", *word, "");
	add_word(&out, "\ns=", shim, "\n");
	buf_adds(&out, "if [ \"$(\"$s\" --version 2> /dev/null)\" = \"rl-shim " RLD_VERSION "\" ]; then\n"
	    "\tf=$1 u=$2; shift 2\n");
	add_word(&out, "\texec \"$s\" --far \"$f\" \"$u\" ", job->input != NULL ? job->input : "-", "");
	buf_addf(&out, " %lld %lld %lld \"$@\"\nfi\n", (long long)job->grace_ms, (long long)far_wall_ms(job),
	    (long long)job->output_bytes);
	buf_adds(&out, far_script);
	free(far);
	return buf_take(&out, NULL);
}

char *placed_again_script(const struct shim_job *job, const char *dir, const char *shim)
{
	struct buf out = { 0 };

	add_word(&out, "exec ", shim, " --far ");
	add_word(&out, "", dir, "/" RECORD_FAR " ");
	add_word(&out, "", job->uuid, " - 0 0 0 false\n");
	return buf_take(&out, NULL);
}

char *placed_end_script(const struct shim_job *job, const char *dir)
{
	int64_t grace = (job->grace_ms + 999) / 1000;
	struct buf out = { 0 };

	grace = (grace < GRACE_MAX_S ? grace : GRACE_MAX_S) * LOOKS_PER_SECOND;
	add_word(&out, "d=", dir, "/" RECORD_PLACE "\n");
	add_word(&out, "f=", dir, "/" RECORD_FAR "\n");
	add_word(&out, "u=", job->uuid, "\n");
	buf_addf(&out, "grace=%lld end=%lld\n", (long long)grace, (long long)grace + KILLING_S * LOOKS_PER_SECOND);
	buf_adds(&out, end_script);
	return buf_take(&out, NULL);
}
