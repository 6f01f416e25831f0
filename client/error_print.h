/* SPDX-License-Identifier: MIT */
/* Error replies of the daemon as messages. */
#ifndef CLIENT_ERROR_PRINT_H
#define CLIENT_ERROR_PRINT_H

#include "client/command_options.h"
#include "proto/call.h"

/* Print to stderr. rows: options that filled the request, to name the one at fault; or NULL. */
void error_print(const struct call_error *error, const struct option_row *rows);

#endif
