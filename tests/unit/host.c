/* SPDX-License-Identifier: MIT */
#include "client/host.h"

#include <stdlib.h>

#include "core.h"

static const struct {
	const char *url, *target, *port;	/* target NULL: refused */
} urls[] = {
	{ "ssh://build", "build", NULL }, { "ssh://me@build/", "me@build", NULL },
	{ "ssh://me@corp@build:22", "me@corp@build", "22" }, { "ssh://[fe80::1%eth0]:2222", "fe80::1%eth0", "2222" },
	{ "ssh://me@[::1]", "me@::1", NULL }, { "ssh://10.0.0.1:65535", "10.0.0.1", "65535" },
	{ "build", NULL, NULL }, { "ssh://", NULL, NULL }, { "ssh:///", NULL, NULL }, { "ssh://@build", NULL, NULL },
	{ "ssh://-oProxyCommand=x", NULL, NULL }, { "ssh://-l@build", NULL, NULL }, { "ssh://me@-x", NULL, NULL },
	{ "ssh://[-x]", NULL, NULL }, { "ssh://[::1", NULL, NULL }, { "ssh://[::1]x", NULL, NULL },
	{ "ssh://a`b`", NULL, NULL }, { "ssh://a b", NULL, NULL }, { "ssh://build:", NULL, NULL },
	{ "ssh://build:0", NULL, NULL }, { "ssh://build:65536", NULL, NULL }, { "ssh://build:2x", NULL, NULL },
	{ "ssh://build/path", NULL, NULL }, { "SSH://build", NULL, NULL },
};

START_TEST(url)
{
	for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
		const char *why = NULL;
		struct host *host = host_new(urls[i].url, &why);

		ck_assert_msg((host != NULL) == (urls[i].target != NULL), "%s", urls[i].url);
		ck_assert_ptr_nonnull(why);
		if (host == NULL)
			continue;
		ck_assert_str_eq(host->target, urls[i].target);
		ck_assert_pstr_eq(host->port, urls[i].port);
		host_free(host);
	}
}
END_TEST

START_TEST(command)
{
	char *line = host_command((const char *const[]){ "--socket", "/a b/c'd", "--no-start", "", "relay", NULL });

	ck_assert_str_eq(line, "rlctl --socket '/a b/c'\\''d' --no-start '' relay");
	free(line);
}
END_TEST

START_TEST(words)
{
	const char *why;
	struct host *host = host_new("ssh://me@build:22", &why);
	const char **argv = host_argv(host, "rlctl relay", true);
	size_t n = 0;

	while (argv[n] != NULL)
		n++;
	ck_assert_str_eq(argv[0], "ssh");
	ck_assert_str_eq(argv[n - 3], "--");
	ck_assert_str_eq(argv[n - 2], "me@build");
	ck_assert_str_eq(argv[n - 1], "rlctl relay");
	ck_assert_str_eq(argv[n - 4], "22");
	free(argv);
	host_free(host);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { url, command, words };

	return RUN_SUITE("host", tests);
}
