/* SPDX-License-Identifier: MIT */
#include "client/host.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SCHEME "ssh://"

/* Whether a shell takes each letter as it is; marks: those besides letters and digits. */
static bool is_plain(const char *text, size_t length, const char *marks)
{
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && strchr(marks, text[i]) == NULL)
			return false;
	return length > 0;
}

/* A name of a user or host: ssh hands both to the shell of a ProxyCommand, and takes what begins
 * with - for an option. */
static bool is_name(const char *text, size_t length, const char *marks)
{
	return text[0] != '-' && is_plain(text, length, marks);
}

static bool is_port(const char *text, size_t length)
{
	char digits[6] = "";
	const char *fault;

	if (length == 0 || length >= sizeof(digits) || strspn(text, "0123456789") < length)
		return false;
	memcpy(digits, text, length);
	strtonum(digits, 1, 65535, &fault);
	return fault == NULL;
}

struct host *host_new(const char *url, const char **why)
{
	const char *at, *name, *end, *after;
	struct host *host;
	size_t length;

	*why = "it must be ssh://[USER@]HOST[:PORT]";
	if (strncmp(url, SCHEME, strlen(SCHEME)) != 0)
		return NULL;
	url += strlen(SCHEME);
	length = strlen(url);
	length -= length > 0 && url[length - 1] == '/';
	at = memrchr(url, '@', length);
	name = at != NULL ? at + 1 : url;
	if (at != NULL && !is_name(url, (size_t)(at - url), "._-+@")) {
		*why = "the name of the user must consist of letters, digits and . _ - + @, and not begin with -";
		return NULL;
	}
	if (*name == '[') {	/* an IPv6 address */
		end = memchr(name, ']', (size_t)(url + length - name));
		name++;
		if (end == NULL || !is_name(name, (size_t)(end - name), ".:%"))
			return NULL;
		after = end + 1;
	} else {
		end = name + strcspn(name, ":/");
		if (!is_name(name, (size_t)(end - name), "._-")) {
			*why = "the name of the host must consist of letters, digits and . _ -, and not begin with -";
			return NULL;
		}
		after = end;
	}
	if (after != url + length && (*after != ':' || !is_port(after + 1, (size_t)(url + length - after - 1)))) {
		*why = "after the host there may only be a port, from 1 to 65535";
		return NULL;
	}
	host = xcalloc(1, sizeof(*host));
	host->url = xasprintf(SCHEME "%.*s", (int)length, url);
	host->target = xasprintf("%.*s%.*s", at != NULL ? (int)(at + 1 - url) : 0, url, (int)(end - name), name);
	if (after != url + length)
		host->port = xmemdup0(after + 1, (size_t)(url + length - after - 1));
	return host;
}

void host_free(struct host *host)
{
	if (host == NULL)
		return;
	free(host->url);
	free(host->target);
	free(host->port);
	free(host->command);
	free(host->again);
	free(host);
}

void host_add_word(struct buf *line, const char *word)
{
	if (is_plain(word, strlen(word), "._-/")) {
		buf_adds(line, word);
		return;
	}
	buf_adds(line, "'");
	for (; *word != '\0'; word++) {
		if (*word == '\'')
			buf_adds(line, "'\\''");
		else
			buf_add(line, word, 1);
	}
	buf_adds(line, "'");
}

char *host_command(const char *const *words)
{
	struct buf line = { 0 };

	buf_adds(&line, "rlctl");
	for (size_t i = 0; words[i] != NULL; i++) {
		buf_adds(&line, " ");
		host_add_word(&line, words[i]);
	}
	return buf_take(&line, NULL);
}

const char **host_argv(const struct host *host, const char *command, bool batch)
{
	/* settings of the user that are for a shell, not for a relay */
	static const char *const fixed[] = { "ssh", "-T", "-o", "ClearAllForwardings=yes", "-o", "ForwardAgent=no",
		"-o", "ForwardX11=no", "-o", "RemoteCommand=none" };
	const char **argv = xcalloc(ARRAY_SIZE(fixed) + 8, sizeof(*argv));
	size_t n = 0;

	for (; n < ARRAY_SIZE(fixed); n++)
		argv[n] = fixed[n];
	if (batch) {
		argv[n++] = "-o";
		argv[n++] = "BatchMode=yes";
	}
	if (host->port != NULL) {
		argv[n++] = "-p";
		argv[n++] = host->port;
	}
	argv[n++] = "--";
	argv[n++] = host->target;
	argv[n] = command;
	return argv;
}
