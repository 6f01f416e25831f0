/* SPDX-License-Identifier: MIT */
/* Checks of the host as text: {name, state, text, remedy}. */
#ifndef CLIENT_CHECK_LIST_H
#define CLIENT_CHECK_LIST_H

#include <jansson.h>

#include "client/print.h"

/* The greater one of width and the width of the widest name. */
size_t check_widest(const json_t *checks, size_t width);

/* A title and the checks below it; nothing if there are none. */
void check_print_section(const struct print *p, const char *title, const json_t *checks, size_t width);

/* The checks of agents, as program_check_agents() returns them, and which are not installed. */
void check_print_agents(const struct print *p, const json_t *agents, size_t width);

#endif
