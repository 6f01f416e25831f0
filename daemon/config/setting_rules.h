/* SPDX-License-Identifier: MIT */
/* What the texts of settings must be beside their length. */
#ifndef CONFIG_SETTING_RULES_H
#define CONFIG_SETTING_RULES_H

#include "proto/schema.h"

extern const struct schema_rule
    rule_revision,	/* what git is given as the name of a commit; "" says: none */
    rule_profile,	/* name of a review profile */
    rule_agent,		/* name of a preset or of an [agent.NAME] */
    rule_account,	/* name of a provider account, with or without an [account.NAME] */
    rule_file,		/* absolute path */
    rule_file_or_none,	/* absolute path or "none" */
    rule_directory,	/* absolute path, or one below the workdir; "" says: none */
    rule_file_name,	/* plain name of a file in the workdir */
    rule_program,	/* absolute path, or a name without "/" to be found on PATH */
    rule_not_blank,
    rule_line,		/* not blank, and one line */
    rule_below,		/* path below the workdir */
    rule_path,		/* absolute, or begins with "~/" */
    rule_variable;	/* name of an environment variable that a user may set */

/* "[A-Za-z0-9][A-Za-z0-9_-]*", at most 64: what [agent.NAME], [profile.NAME], [group.NAME] and
 * [account.NAME] may be called. */
bool setting_table_name(const char *name);

#endif
