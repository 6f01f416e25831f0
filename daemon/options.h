/* SPDX-License-Identifier: MIT */
/* The command line of rld. */
#ifndef DAEMON_OPTIONS_H
#define DAEMON_OPTIONS_H

#include <stdbool.h>

#include "base/path.h"

struct options {
	struct places_given given;
	bool check_config, print_agents, print_openrpc;
};

/* Sets the log level immediately. Exits for --help, --version and wrong options. */
void options_parse(int argc, char *argv[], struct options *o);

#endif
