/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/redact.h"
#include "proto/escape.h"
#include "proto/memory.h"

static const struct {
	const char *name;
	int priority;	/* sd-daemon(3) */
} levels[] = {
	[LOG_LEVEL_ERROR] = { "error", 3 },
	[LOG_LEVEL_WARN] = { "warn", 4 },
	[LOG_LEVEL_INFO] = { "info", 6 },
	[LOG_LEVEL_DEBUG] = { "debug", 7 },
};

/* The only process-wide setting: set once by main.c before threads exist. */
static enum log_level threshold = LOG_LEVEL_INFO;

void log_set_level(enum log_level level)
{
	threshold = level;
}

int log_level_parse(const char *name, enum log_level *level)
{
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		if (strcmp(levels[i].name, name) == 0) {
			*level = (enum log_level)i;
			return 0;
		}
	}
	return -1;
}

/* One write(2) per line, so that lines of threads do not mix. */
static void log_emit(enum log_level level, const char *prefix, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));

static void log_emit(enum log_level level, const char *prefix, const char *fmt, va_list ap)
{
	int saved = errno;
	char *text = NULL, *safe;
	struct buf line = { 0 };

	if (level > threshold)
		return;
	if (vasprintf(&text, fmt, ap) == -1)
		abort();
	/* texts from outside were redacted when they were read; this is the second line of
	 * defence */
	redact_string(NULL, &text);
	safe = text_escape(text, strlen(text), false);
	buf_addf(&line, "<%d>%s%s\n", levels[level].priority, prefix, safe);
	if (write(STDERR_FILENO, line.data, line.size) == -1) {
		/* no way to report it */
	}
	buf_release(&line);
	free(safe);
	free(text);
	errno = saved;
}

#define EMIT(level, prefix)			\
	do {					\
		va_list ap;			\
		va_start(ap, fmt);		\
		log_emit(level, prefix, fmt, ap);	\
		va_end(ap);			\
	} while (0)

void log_error(const char *fmt, ...) { EMIT(LOG_LEVEL_ERROR, ""); }
void log_warn(const char *fmt, ...) { EMIT(LOG_LEVEL_WARN, ""); }
void log_info(const char *fmt, ...) { EMIT(LOG_LEVEL_INFO, ""); }
void log_debug(const char *fmt, ...) { EMIT(LOG_LEVEL_DEBUG, ""); }
void log_bug(const char *fmt, ...) { EMIT(LOG_LEVEL_ERROR, "bug: "); }

void log_fatal(const char *fmt, ...)
{
	EMIT(LOG_LEVEL_ERROR, "fatal: ");
	_exit(1);
}
