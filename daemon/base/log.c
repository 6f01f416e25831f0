/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/journal.h"
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

/* The only process-wide settings: set once by main.c before threads exist. */
static enum log_level threshold = LOG_LEVEL_INFO;
static int journal = -1;

struct subject {
	int64_t run, attempt;
};

static const struct subject nothing;

void log_set_level(enum log_level level)
{
	threshold = level;
}

void log_set_journal(int socket)
{
	journal = socket;
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
static void log_write(int priority, const char *prefix, const char *text)
{
	struct buf line = { 0 };

	buf_addf(&line, "<%d>%s%s\n", priority, prefix, text);
	if (write(STDERR_FILENO, line.data, line.size) == -1) {
		/* no way to report it */
	}
	buf_release(&line);
}

static bool log_send(int priority, const char *prefix, const char *text, const struct subject *about)
{
	char *message = journal != -1 ? xasprintf("%s%s", prefix, text) : NULL;
	bool sent = message != NULL && journal_send(journal, priority, message, about->run, about->attempt) == 0;

	free(message);
	return sent;
}

static void log_emit(enum log_level level, const struct subject *about, const char *prefix, const char *fmt, va_list ap)
    __attribute__((format(printf, 4, 0)));

static void log_emit(enum log_level level, const struct subject *about, const char *prefix, const char *fmt, va_list ap)
{
	int saved = errno;
	char *text = NULL, *safe;

	if (level > threshold)
		return;
	if (vasprintf(&text, fmt, ap) == -1)
		abort();
	/* texts from outside were redacted when they were read; this is the second line of
	 * defence */
	redact_string(NULL, &text);
	safe = text_escape(text, strlen(text), false);
	if (!log_send(levels[level].priority, prefix, safe, about))
		log_write(levels[level].priority, prefix, safe);
	free(safe);
	free(text);
	errno = saved;
}

#define EMIT_ABOUT(level, about, prefix)	\
	do {					\
		va_list ap;			\
		va_start(ap, fmt);		\
		log_emit(level, about, prefix, fmt, ap);	\
		va_end(ap);			\
	} while (0)
#define EMIT(level, prefix) EMIT_ABOUT(level, &nothing, prefix)

void log_about(enum log_level level, int64_t run, int64_t attempt, const char *fmt, ...)
{
	EMIT_ABOUT(level, (&(struct subject){ run, attempt }), "");
}

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
