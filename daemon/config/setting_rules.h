/* SPDX-License-Identifier: MIT */
/* Rules for the texts of settings, besides their length. */
#ifndef CONFIG_SETTING_RULES_H
#define CONFIG_SETTING_RULES_H

#include "proto/schema.h"

extern const struct schema_rule
    rule_revision,	/* name of a commit for git; "" means none */
    rule_profile,	/* name of a review profile */
    rule_agent,		/* name of a preset or an [agent.NAME] */
    rule_account,	/* name of a provider account, with or without an [account.NAME] */
    rule_host,		/* a machine, as a program such as ssh is given it */
    rule_launcher,	/* "local", a preset or a [launcher.NAME] */
    rule_file,		/* absolute path */
    rule_file_or_none,	/* absolute path or "none" */
    rule_directory,	/* absolute path, or one below the workdir; "" means none */
    rule_file_name,	/* plain name of a file in the workdir */
    rule_program,	/* absolute path, or a name without "/" to look up on PATH */
    rule_not_blank,
    rule_line,		/* not blank, and one line */
    rule_below,		/* path below the workdir */
    rule_pattern,	/* of paths from the top of a repository */
    rule_path,		/* absolute, or starting with "~/" */
    rule_variable,	/* name of an environment variable that a user may set */
    rule_user,		/* name of a user, or "@" and that of a group */
    rule_label,		/* name of a label of runs */
    rule_quorum;	/* how many of a panel must pass */

/* "[A-Za-z0-9][A-Za-z0-9_-]*", at most 64: allowed names in [agent.NAME], [profile.NAME],
 * [group.NAME], [account.NAME] and [launcher.NAME]. */
bool setting_table_name(const char *name);

#endif
