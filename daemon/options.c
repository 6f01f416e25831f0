/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"

static void usage(FILE *out)
{
	fputs("usage: rld [--config FILE] [--state-dir DIR] [--socket PATH] [--system]\n           "
	      "[--log-level error|warn|info|debug] [--check-config] [--print-agents]\n           "
	      "[--print-openrpc] [--version] [--help]\n\nRuns coding agents in parallel slots, has their results "
	      "reviewed and fixed, and records\neverything in a database. Stays in the foreground. "
	      "See rlctl(1) for the client, rld(8)\nand rld.toml(5) for details.\n", out);
}

void options_parse(int argc, char *argv[], struct options *o)
{
	enum { CONFIG = 256, STATE_DIR, SOCKET, SYSTEM, LOG_LEVEL, CHECK_CONFIG, PRINT_AGENTS, PRINT_OPENRPC,
	       VERSION, HELP };
	static const struct option table[] = {
		{ "config", required_argument, NULL, CONFIG },
		{ "state-dir", required_argument, NULL, STATE_DIR },
		{ "socket", required_argument, NULL, SOCKET },
		{ "system", no_argument, NULL, SYSTEM },
		{ "log-level", required_argument, NULL, LOG_LEVEL },
		{ "check-config", no_argument, NULL, CHECK_CONFIG },
		{ "print-agents", no_argument, NULL, PRINT_AGENTS },
		{ "print-openrpc", no_argument, NULL, PRINT_OPENRPC },
		{ "version", no_argument, NULL, VERSION },
		{ "help", no_argument, NULL, HELP },
		{ NULL, 0, NULL, 0 },
	};
	enum log_level level;
	int c;

	while ((c = getopt_long(argc, argv, "", table, NULL)) != -1) {
		switch (c) {
		case CONFIG:
			o->given.config = optarg;
			break;
		case STATE_DIR:
			o->given.state_dir = optarg;
			break;
		case SOCKET:
			o->given.socket = optarg;
			break;
		case SYSTEM:
			o->given.system = true;
			break;
		case LOG_LEVEL:
			if (log_level_parse(optarg, &level) == -1) {
				fprintf(stderr,
				    "rld: --log-level: '%s' is not one of error, warn, info, "
				    "debug\n", optarg);
				exit(2);
			}
			log_set_level(level);
			break;
		case CHECK_CONFIG:
			o->check_config = true;
			break;
		case PRINT_AGENTS:
			o->print_agents = true;
			break;
		case PRINT_OPENRPC:
			o->print_openrpc = true;
			break;
		case VERSION:
			puts("rld " RLD_VERSION);
			exit(0);
		case HELP:
			usage(stdout);
			exit(0);
		default:
			usage(stderr);
			exit(2);
		}
	}
	if (optind < argc) {
		fprintf(stderr, "rld: unexpected argument '%s'\n", argv[optind]);
		usage(stderr);
		exit(2);
	}
}
