/* SPDX-License-Identifier: MIT */
/* rld.toml as text: what is taken, what is refused and where; then layers and origins. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "config/layers.h"
#include "config/setting_rules.h"
#include "core/plan_json.h"
#include "core/profile.h"
#include "plan_at.h"
#include "proto/memory.h"

#define FILE_NAME "f.toml"

static struct config *parsed(const char *text)
{
	struct config *config;
	struct config_error error;

	ck_assert_msg(config_parse(&config, FILE_NAME, text, strlen(text), &error) == 0, "%s", error.text);
	return config;
}

/* Every text is refused with exactly this message. */
#define HERE "\"launcher\":null,\"launch\":[],\"cancel\":[],\"launcher_slots\":0,\"hosts\":[],\"copies\":false"

static const struct {
	const char *text, *message;
} bad[] = {
	/* not TOML */
	{ "parallel = ", "f.toml:1:12: Error while parsing key-value pair: encountered end-of-file" },
	{ "parallel = 1\nparallel = 2\n", "f.toml:2:12: Error while parsing key-value pair: "
	    "cannot redefine existing integer 'parallel'" },
	{ "[run]\n[run]\n", "f.toml:2:1: Error while parsing table header: cannot redefine existing table 'run'" },
	{ "default_agent = \"\xff\"\n", NULL },

	/* keys that are none, or none yet */
	{ "\n  speed = 1\n", "f.toml:2:3: unknown key 'speed'; remove it, or see rld.toml(5) for the keys" },
	{ "paralel = 4\n", "f.toml:1:1: unknown key 'paralel'; did you mean 'parallel'?" },
	{ "[review]\nmax_fix = 4\n", "f.toml:2:1: unknown key 'review.max_fix'; did you mean 'review.max_fixes'?" },
	{ "[agent.claude]\nmodle = \"x\"\n",
	    "f.toml:2:1: unknown key 'agent.claude.modle'; did you mean 'agent.claude.model'?" },
	{ "max_fixes = 4\n", "f.toml:1:1: unknown key 'max_fixes'; did you mean 'review.max_fixes'?" },
	{ "[limits.check]\npost_result = \"30s\"\n",
	    "f.toml:2:1: unknown key 'limits.check.post_result'; did you mean 'limits.post_result'?" },
	{ "[limits.fix]\ntimout = 3\n",
	    "f.toml:2:1: unknown key 'limits.fix.timout'; did you mean 'limits.fix.timeout'?" },
	{ "[limits.fix]\npost_result = \"25h\"\n",
	    "f.toml:2:15: 'limits.fix.post_result' must be a duration of at most 1d 0h" },
	{ "[run]\nmax_cost = -1\n", "f.toml:2:12: 'run.max_cost' must be an amount from 0.01 to 1000000000" },
	{ "[group.night]\npaused = true\n",
	    "f.toml:2:1: unknown key 'group.night.paused'; remove it, or see rld.toml(5) for the keys" },
	{ "[run]\niteration = 3\n", "f.toml:2:1: unknown key 'run.iteration'; did you mean 'run.iterations'?" },
	{ "[launcher.x]\ncommand = [\"x\"]\n", "f.toml:1:11: 'launcher.x' needs a command, and one that ends what it "
	    "has placed: add command = [\"program\"] and cancel = [\"program\"]" },
	{ "[launcher.x]\npreset = \"pbs\"\n", "f.toml:2:10: 'launcher.x.preset' must be one of "
	    "\"slurm\", \"systemd\", \"ssh\"" },
	{ "[launcher.x]\npreset = \"ssh\"\n", "f.toml:1:11: 'launcher.x' names {node} and has no hosts: add hosts = "
	    "[{ name = \"n1\", slots = 4 }]" },
	{ "[launcher.slurm]\noptions = [\"-w\", \"{node}\"]\n", "f.toml:1:11: 'launcher.slurm' names {node} and "
	    "has no hosts: add hosts = [{ name = \"n1\", slots = 4 }]" },
	{ "[launcher.slurm]\nhosts = [{ name = \"n1\", slots = 4 }]\n", "f.toml:2:9: 'launcher.slurm.hosts' is a list "
	    "of machines, and command does not name {node}, which is one of them" },
	{ "[launcher.slurm]\noptions = [\"{node}\"]\nhosts = [{ name = \"n1\", slots = 4 }, { name = \"n1\", "
	    "slots = 1 }]\n", "f.toml:3:9: 'launcher.slurm.hosts' names n1 twice" },
	{ "[launcher.x]\nhosts = [{ name = \"-n1\", slots = 4 }]\n", "f.toml:2:9: 'launcher.x.hosts' (item 1) 'name' "
	    "must be the name of a machine: letters, digits and \"_.-:@%[]\", '-n1' is not" },
	{ "[hooks]\n", "f.toml:1:2: unknown key 'hooks'; remove it, or see rld.toml(5) for the keys" },
	{ "[hook]\non_hole = []\n", "f.toml:2:1: unknown key 'hook.on_hole'; did you mean 'hook.on_hold'?" },
	{ "[run]\nreport = \"/r\"\n",
	    "f.toml:2:1: unknown key 'run.report'; remove it, or see rld.toml(5) for the keys" },
	{ "reviewEnabled = true\n", "f.toml:1:1: unknown key 'reviewEnabled'; did you mean 'review.enabled'?" },
	{ "[run]\nmodel = \"x\"\n", "f.toml:2:1: unknown key 'run.model'; remove it, or see rld.toml(5) for the keys" },
	{ "[run.env]\n", "f.toml:1:6: unknown key 'run.env'; remove it, or see rld.toml(5) for the keys" },
	{ "[review]\nskip = true\n",
	    "f.toml:2:1: unknown key 'review.skip'; remove it, or see rld.toml(5) for the keys" },
	{ "\"review.agent\" = \"claude\"\n",
	    "f.toml:1:1: unknown key '\"review.agent\"'; did you mean 'review.agent'?" },
	{ "\"a\\u0000\\u001b[31m\" = 1\n",
	    "f.toml:1:1: unknown key '\"a\\u0000\\u001b[31m\"'; remove it, or see rld.toml(5) for the keys" },

	/* tables and values in each other's place */
	{ "[parallel]\n", "f.toml:1:2: 'parallel' must be an integer, is a table" },
	{ "review = 1\n", "f.toml:1:1: 'review' must be a table: write [review] on its own line" },
	{ "agent = \"claude\"\n", "f.toml:1:1: 'agent' must be a table: write [agent] on its own line" },
	{ "[agent]\nclaude = \"x\"\n",
	    "f.toml:2:1: 'agent.claude' must be a table: write [agent.claude] on its own line" },
	{ "[[agent]]\n", "f.toml:1:3: 'agent' must be a table: write [agent] on its own line" },
	{ "[agent.claude.command]\n", "f.toml:1:15: 'agent.claude.command' must be an array of strings, is a table" },
	{ "[agent.claude.set.A]\n", "f.toml:1:19: 'agent.claude.set.A' must be a string, is a table" },

	/* types and bounds */
	{ "parallel = \"4\"\n", "f.toml:1:12: 'parallel' must be an integer, is a string" },
	{ "parallel = 4.0\n", "f.toml:1:12: 'parallel' must be an integer, is a fraction" },
	{ "parallel = 0\n", "f.toml:1:12: 'parallel' must be from 1 to 1000, is 0" },
	{ "parallel = 1001\n", "f.toml:1:12: 'parallel' must be from 1 to 1000, is 1001" },
	{ "parallel = 1979-05-27\n",
	    "f.toml:1:12: dates, times, inf and nan are not allowed as settings; put a string in quotes" },
	{ "parallel = inf\n",
	    "f.toml:1:12: dates, times, inf and nan are not allowed as settings; put a string in quotes" },
	{ "[review]\nenabled = \"yes\"\n", "f.toml:2:11: 'review.enabled' must be true or false, is a string" },
	{ "[review]\nprofile = \"Verdict\"\n", NULL },
	{ "[review]\nmax_fixes = -1\n", "f.toml:2:13: 'review.max_fixes' must be from 0 to 100, is -1" },
	{ "[review]\nmax_fixes = 101\n", "f.toml:2:13: 'review.max_fixes' must be from 0 to 100, is 101" },
	{ "[review]\ntimeout = 0\n", NULL },
	{ "[review]\nmodel = 4\n", "f.toml:2:9: 'review.model' must be a string, is an integer" },
	{ "[review]\nmodel = \"a\\u0000b\"\n", "f.toml:2:9: 'review.model' must not contain a NUL character" },
	{ "[run]\non_lost = \"Hold\"\n", "f.toml:2:11: 'run.on_lost' must be one of \"hold\", \"retry\", \"fail\"" },
	{ "[limits]\ntimeout = \"2 hours\"\n",
	    "f.toml:2:11: 'limits.timeout' must be a duration like 90, \"90s\", \"2h\" or \"30d\"" },
	{ "[limits]\ntimeout = -5\n",
	    "f.toml:2:11: 'limits.timeout' must be a duration like 90, \"90s\", \"2h\" or \"30d\"" },
	{ "[limits]\ntimeout = 1.5\n", "f.toml:2:11: 'limits.timeout' must be a duration like 90, "
	    "\"90s\", \"2h\" or \"30d\", is a fraction" },
	{ "[limits]\ntimeout = 9223372036854775807\n",
	    "f.toml:2:11: 'limits.timeout' must be a duration from 1s to 30d 0h" },
	{ "[limits]\ngrace = \"2h\"\n", NULL },
	{ "[limits]\noutput = 1\n", "f.toml:2:10: 'limits.output' must be a size from 64 KiB to 1 TiB" },
	{ "[limits]\noutput = \"64X\"\n",
	    "f.toml:2:10: 'limits.output' must be a size like 4096, \"64K\", \"64M\" or \"1G\"" },
	{ "[review]\ndeveloper_prompt = \"prompts/dev.md\"\n",
	    "f.toml:2:20: 'review.developer_prompt' must be an absolute path starting with \"/\"" },
	{ "[review]\ndeveloper_prompt = \"none\"\n",
	    "f.toml:2:20: 'review.developer_prompt' must be an absolute path starting with \"/\"" },
	{ "[review]\nreviewer_prompt = \"\"\n", "f.toml:2:19: 'review.reviewer_prompt' must be "
	    "an absolute path starting with \"/\", or \"none\"" },

	/* the keys of a review */
	{ "[review]\non_malformed = \"ignore\"\n", "f.toml:2:16: 'review.on_malformed' must be one "
	    "of \"fail\", \"hold\", \"accept\", \"known_issues\", \"ask\"" },
	{ "[review]\non_reviewer_error = \"ask\"\n", "f.toml:2:21: 'review.on_reviewer_error' must be "
	    "one of \"fail\", \"hold\", \"accept\", \"known_issues\"" },
	{ "[review]\non_reviewer_error = true\n", "f.toml:2:21: 'review.on_reviewer_error' must be "
	    "one of \"fail\", \"hold\", \"accept\", \"known_issues\"" },
	{ "[review]\non_exhausted = \"Hold\"\n", "f.toml:2:16: 'review.on_exhausted' must be one "
	    "of \"fail\", \"hold\", \"accept\", \"known_issues\"" },
	{ "[review]\nfixer = \"same\"\n", "f.toml:2:9: 'review.fixer' must be one of \"fresh\", "
	    "\"implementer\", \"corrector\", \"resume\", \"per_finding\"" },
	{ "[review]\nscope = \"slot\"\n", "f.toml:2:9: 'review.scope' must be one of \"task\", \"run\"" },
	{ "[review]\nstrictness = 1\n", "f.toml:2:14: 'review.strictness' must be one of \"same\", \"by_round\"" },
	{ "[review]\nsandbox = true\n", "f.toml:2:11: 'review.sandbox' must be one of \"off\", \"try\", \"require\"" },
	{ "[review]\nworkspace = \"worktree\"\n",
	    "f.toml:2:13: 'review.workspace' must be one of \"same\", \"room\"" },
	{ "[review]\nread_only = 1\n", "f.toml:2:13: 'review.read_only' must be true or false, is an integer" },
	{ "[run]\ncommit = \"agents\"\n", "f.toml:2:10: 'run.commit' must be one of \"none\", \"auto\", \"agent\"" },

	/* accounts */
	{ "[agent.claude]\naccount = \"\"\n", "f.toml:2:11: 'agent.claude.account' must be the "
	    "name of an account: letters, digits, \"-\" and \"_\", at most 64" },
	{ "[agent.claude]\naccount = 1\n",
	    "f.toml:2:11: 'agent.claude.account' must be the name of an account, is an integer" },
	{ "[agent.claude]\nfallback = \"codex\"\n",
	    "f.toml:2:12: 'agent.claude.fallback' must be an array of names of agents, is a string" },
	{ "[agent.claude]\nfallback = [\"codex\", \"a b\"]\n", "f.toml:2:12: 'agent.claude.fallback' "
	    "(item 2) must be the name of an agent: letters, digits, \"-\" and \"_\", at most 64" },
	{ "[agent.claude]\nfallback = [\"codex\", \"cdoex\"]\n",
	    "f.toml:2:12: 'agent.claude.fallback': unknown agent 'cdoex'; did you mean 'codex'? Choose one of claude, "
	    "codex, gemini, opencode, copilot, qwen, pi, or add [agent.cdoex] with a command to "
	    "rld.toml" },
	{ "[run]\nretries = -1\n", "f.toml:2:11: 'run.retries' must be from 0 to 100, is -1" },
	{ "[account.a]\ncooldown_max = 0\n",
	    "f.toml:2:16: 'account.a.cooldown_max' must be a duration from 1s to 30d 0h" },
	{ "[account.a]\nbudget_day_usd = -0.01\n",
	    "f.toml:2:18: 'account.a.budget_day_usd' must be an amount from 0 to 1000000000" },
	{ "[account.a]\nbudget_day_usd = \"5\"\n",
	    "f.toml:2:18: 'account.a.budget_day_usd' must be an amount like 5 or 2.50, is a string" },
	{ "[account.a]\nbudget_day_tokens = 0\n",
	    "f.toml:2:21: 'account.a.budget_day_tokens' must be from 1 to 1000000000000000, is 0" },
	{ "[account.a]\nbudget_day_wall = 0\n",
	    "f.toml:2:19: 'account.a.budget_day_wall' must be a duration from 1s to 1000d 0h" },
	{ "[account.\"a b\"]\n", "f.toml:1:10: 'account.\"a b\"' is not a valid name for an account: "
	    "use letters, digits, \"-\" and \"_\", at most 64" },
	{ "[account]\na = 4\n", "f.toml:2:1: 'account.a' must be a table: write [account.a] on its own line" },

	/* the outer loop */
	{ "[run]\niterations = 0\n", "f.toml:2:14: 'run.iterations' must be from 1 to 1000000, is 0" },
	{ "[run]\niterations = \"all\"\n", "f.toml:2:14: 'run.iterations' must be an integer, is a string" },
	{ "[run]\nparallel = 0\n", "f.toml:2:12: 'run.parallel' must be from 1 to 64, is 0" },
	{ "[run]\nparallel = 65\n", "f.toml:2:12: 'run.parallel' must be from 1 to 64, is 65" },
	{ "[run]\npause_ms = -1\n", "f.toml:2:12: 'run.pause_ms' must be from 0 to 2592000000, is -1" },
	{ "[run]\nisolation = \"tree\"\n",
	    "f.toml:2:13: 'run.isolation' must be one of \"auto\", \"shared\", \"worktree\"" },
	{ "[run]\nintegrate = \"rebase\"\n",
	    "f.toml:2:13: 'run.integrate' must be one of \"auto\", \"none\", \"merge\"" },
	{ "[run]\non_failure = \"fail\"\n", "f.toml:2:14: 'run.on_failure' must be one of \"stop\", \"continue\"" },
	{ "[run]\nassign = \"auto\"\n", "f.toml:2:10: 'run.assign' must be one of \"daemon\", \"agent\"" },
	{ "[run]\nbase = 1\n", "f.toml:2:8: 'run.base' must be a string, is an integer" },
	{ "[run]\nbase = \"--all\"\n",
	    "f.toml:2:8: 'run.base' must be the name of a branch or commit, '--all' is not" },
	{ "[run]\nbase = \"a b\"\n",
	    "f.toml:2:8: 'run.base' must be the name of a branch or commit, 'a b' is not" },
	{ "[run]\nbase = \"a\\u0000\"\n", "f.toml:2:8: 'run.base' must not contain a NUL character" },
	{ "[run]\non_no_change = \"hold\"\n",
	    "f.toml:2:16: 'run.on_no_change' must be one of \"review\", \"fail\", \"pass\"" },
	{ "[run]\nno_change_markers = [\"\"]\n", "f.toml:2:21: 'run.no_change_markers' (item 1) must not be empty" },
	{ "[run]\nstop_markers = \"done\"\n",
	    "f.toml:2:16: 'run.stop_markers' must be an array of strings, is a string" },
	{ "[run]\nstop_markers = [\"done\", \"\"]\n", "f.toml:2:16: 'run.stop_markers' (item 2) must not be empty" },
	{ "[run]\nstop_markers = [\"all\\ndone\"]\n",
	    "f.toml:2:16: 'run.stop_markers' (item 1) must be one line without control characters" },
	{ "[limits]\ndisk_floor = -1\n",
	    "f.toml:2:14: 'limits.disk_floor' must be a size like 4096, \"64K\", \"64M\" or \"1G\"" },
	{ "[group.night]\nslots = 0\n", "f.toml:2:9: 'group.night.slots' must be from 1 to 1000, is 0" },
	{ "[group.night]\n", "f.toml:1:8: 'group.night' has no limit: add slots = 4" },
	{ "[group.\"a b\"]\nslots = 1\n", "f.toml:1:8: 'group.\"a b\"' is not a valid name for a group: "
	    "use letters, digits, \"-\" and \"_\", at most 64" },
	{ "[group]\nnight = 4\n",
	    "f.toml:2:1: 'group.night' must be a table: write [group.night] on its own line" },
	{ "[group]\ndefault = 4\n",
	    "f.toml:2:1: 'group.default' must be a table: write [group.default] on its own line" },
	{ "[review]\nchecks = \"make\"\n", "f.toml:2:10: 'review.checks' must be an array of strings, is a string" },
	{ "[review]\nchecks = [\"make\", 1]\n",
	    "f.toml:2:10: 'review.checks' (item 2) must be a string, is an integer" },
	{ "[review]\nchecks = [\"make\", \" \"]\n", "f.toml:2:10: 'review.checks' (item 2) must not be empty" },
	{ "[review]\nchecks = [\"a\\u0000b\"]\n",
	    "f.toml:2:10: 'review.checks' (item 1) must not contain a NUL character" },
	{ "[review]\nguidelines = [\"a.md\"]\n", "f.toml:2:14: 'review.guidelines' (item 1) must "
	    "be a table { file = \"...\", section = \"...\" }, is a string" },
	{ "[review]\nguidelines = { file = \"a.md\", section = \"S\" }\n", "f.toml:2:1: 'review.guidelines' "
	    "must be an array of tables { file = \"...\", section = \"...\" }, is a table" },
	{ "[review]\nguidelines = [{ file = \"a.md\" }]\n",
	    "f.toml:2:14: 'review.guidelines' (item 1) 'section' is missing" },
	{ "[review]\nguidelines = [{ file = \"a.md\", section = \"\" }]\n",
	    "f.toml:2:14: 'review.guidelines' (item 1) 'section' must not be empty" },
	{ "[review]\nguidelines = [{ file = 1, section = \"S\" }]\n",
	    "f.toml:2:14: 'review.guidelines' (item 1) 'file' must be a path, is an integer" },
	{ "[review]\nguidelines = [{ file = \"a.md\", section = \"S\", level = 2 }]\n",
	    "f.toml:2:14: 'review.guidelines' (item 1) 'level' is unknown" },
	{ "[review]\nguidelines = [{ \"fi\\u0000le\" = \"a.md\", section = \"S\" }]\n",
	    "f.toml:2:14: 'review.guidelines' (item 1) '\"fi\\u0000le\"' is unknown" },
	{ "[review]\nguidelines = [{ file = \"/etc/x\", section = \"S\" }]\n",
	    "f.toml:2:14: 'review.guidelines' (item 1) 'file' must be a path below the working "
	    "directory, but '/etc/x' is an absolute path" },
	{ "[review]\nconventions = [\"A.md\", \"docs/../../B.md\"]\n",
	    "f.toml:2:15: 'review.conventions' (item 2) must be a path below the working "
	    "directory, but 'docs/../../B.md' leaves the working directory" },
	{ "[review]\nconventions = [\"\"]\n", "f.toml:2:15: 'review.conventions' (item 1) must be "
	    "a path below the working directory, but '' is empty" },
	{ "[review]\nconventions = [\".git/config\"]\n", "f.toml:2:15: 'review.conventions' (item "
	    "1) must be a path below the working directory, but '.git/config' is inside .git" },
	{ "[review]\nconventions = [\"sub//.GIT\"]\n", "f.toml:2:15: 'review.conventions' (item 1) "
	    "must be a path below the working directory, but 'sub//.GIT' is inside .git" },
	{ "[review]\nreviewer = \"\"\n", "f.toml:2:12: 'review.reviewer' must be a program: an "
	    "absolute path, or a name on PATH" },
	{ "[review]\nreviewer = \"./review.sh\"\n", "f.toml:2:12: 'review.reviewer' must be an "
	    "absolute path or a name without \"/\", './review.sh' is not" },
	{ "[review]\nreviewer = [\"x\"]\n", "f.toml:2:12: 'review.reviewer' must be a program, is an array" },
	{ "[review]\nreview_file = 1\n",
	    "f.toml:2:15: 'review.review_file' must be the name of a file, is an integer" },
	{ "[review]\nreview_file = \"a\\u0000b\"\n",
	    "f.toml:2:15: 'review.review_file' must not contain a NUL character" },
	{ "[review]\nreview_file = \"a\\nb\"\n",
	    "f.toml:2:15: 'review.review_file' must not contain control characters" },
	{ "[review]\nreview_file = \"a\\u007fb\"\n",
	    "f.toml:2:15: 'review.review_file' must not contain control characters" },
	{ "[review]\nreview_log = 1\n",
	    "f.toml:2:14: 'review.review_log' must be a directory, or \"\" for none, is an integer" },
	{ "[review]\nreview_log = \"../logs\"\n", "f.toml:2:14: 'review.review_log' must be an "
	    "absolute path or one below the working directory, but '../logs' leaves the working "
	    "directory" },
	{ "[review]\nreview_log = \".git/logs\"\n", "f.toml:2:14: 'review.review_log' must be an "
	    "absolute path or one below the working directory, but '.git/logs' is inside .git" },
	{ "[review]\nreview_log = \"a\\tb\"\n",
	    "f.toml:2:14: 'review.review_log' must not contain control characters" },

	/* profiles of one's own */
	{ "[profile.mine]\nmax_fixes = 1\n",
	    "f.toml:1:10: 'profile.mine' does not extend a profile: add extends = \"verdict\"" },
	{ "[profile.verdict]\nextends = \"exit\"\n", "f.toml:1:10: 'profile.verdict' is a "
	    "built-in profile: choose another name and add extends = \"verdict\"" },
	{ "[profile.a]\nextends = \"nobody\"\n", "f.toml:2:11: 'profile.a.extends': unknown "
	    "profile 'nobody'; choose one of verdict, decision, file, exit, comments, a, or add "
	    "[profile.nobody] that extends one to rld.toml" },
	{ "[profile.a]\nextends = \"a\"\n", "f.toml:2:11: 'profile.a.extends' extends itself in "
	    "a cycle: make one of these profiles extend a built-in one" },
	{ "[profile.b]\nextends = \"verdict\"\n[profile.a]\nextends = \"c\"\n[profile.c]\nextends = \"a\"\n",
	    "f.toml:4:11: 'profile.a.extends' extends itself in a cycle: "
	    "make one of these profiles extend a built-in one" },
	{ "[profile.\"a b\"]\nextends = \"exit\"\n", "f.toml:1:10: 'profile.\"a b\"' is not a "
	    "valid name for a profile: use letters, digits, \"-\" and \"_\", at most 64" },
	{ "[profile.a]\nextends = 1\n",
	    "f.toml:2:11: 'profile.a.extends' must be the name of a profile, is an integer" },
	{ "[profile.a]\nextends = \"exit\"\nmax_fixs = 1\n",
	    "f.toml:3:1: unknown key 'profile.a.max_fixs'; did you mean 'profile.a.max_fixes'?" },
	{ "[profile.a]\nextends = \"exit\"\nmax_fixes = -1\n",
	    "f.toml:3:13: 'profile.a.max_fixes' must be from 0 to 100, is -1" },
	{ "[profile.a]\nextends = \"exit\"\nagent = \"claude\"\n",
	    "f.toml:3:1: unknown key 'profile.a.agent'; did you mean 'review.agent'?" },
	{ "[profile.a]\nextends = \"exit\"\nprofile = \"exit\"\n",
	    "f.toml:3:1: unknown key 'profile.a.profile'; did you mean 'review.profile'?" },
	{ "[profile.a]\nextends = \"exit\"\nenabled = true\n",
	    "f.toml:3:1: unknown key 'profile.a.enabled'; did you mean 'review.enabled'?" },
	{ "[profile.a]\nextends = \"exit\"\non_lost = \"fail\"\n",
	    "f.toml:3:1: unknown key 'profile.a.on_lost'; did you mean 'run.on_lost'?" },
	{ "profile = \"exit\"\n", "f.toml:1:1: 'profile' must be a table: write [profile] on its own line" },
	{ "[profile]\nmine = 1\n",
	    "f.toml:2:1: 'profile.mine' must be a table: write [profile.mine] on its own line" },
	{ "[review]\nprofile = \"mine\"\n", "f.toml:2:11: 'review.profile': unknown profile "
	    "'mine'; choose one of verdict, decision, file, exit, comments, or add "
	    "[profile.mine] that extends one to rld.toml" },

	/* hooks */
	{ "[hook]\non_hold = \"mail\"\n", "f.toml:2:11: 'hook.on_hold' must be an array of strings, is a string" },
	{ "[hook]\non_end = [\"\"]\n", "f.toml:2:10: 'hook.on_end' must not begin with an empty word" },

	/* agents */
	{ "[agent.claude]\nresume = \"--resume\"\n",
	    "f.toml:2:10: 'agent.claude.resume' must be an array of strings, is a string" },
	{ "[agent.claude]\nwritable = [\"/x\", \"y\"]\n", "f.toml:2:12: 'agent.claude.writable' "
	    "(item 2) must be an absolute path, or start with \"~/\"" },
	{ "[agent.claude]\nwritable = [\"~\"]\n", "f.toml:2:12: 'agent.claude.writable' (item "
	    "1) must be an absolute path, or start with \"~/\"" },
	{ "[agent.mine]\nmodel = \"x\"\n", "f.toml:1:8: 'agent.mine' has no command and is not "
	    "a preset: add command = [\"program\", \"argument\"]" },
	{ "[agent.claude]\ncommand = []\n",
	    "f.toml:2:11: 'agent.claude.command' must begin with the program to start" },
	{ "[agent.claude]\ncommand = [\"\", \"x\"]\n",
	    "f.toml:2:11: 'agent.claude.command' must begin with the program to start" },
	{ "[agent.claude]\ncommand = \"claude -p\"\n",
	    "f.toml:2:11: 'agent.claude.command' must be an array of strings, is a string" },
	{ "[agent.claude]\ncommand = [\"a\", 1]\n",
	    "f.toml:2:11: 'agent.claude.command' (item 2) must be a string, is an integer" },
	{ "[agent.claude]\ncommand = [\"a\", { b = 1 }]\n",
	    "f.toml:2:11: 'agent.claude.command' (item 2) must be a string, is a table" },
	{ "[agent.claude]\nprompt = \"pipe\"\n",
	    "f.toml:2:10: 'agent.claude.prompt' must be one of \"stdin\", \"arg\", \"file\"" },
	{ "[agent.claude]\nenv = [\"A\", \"B C\"]\n", "f.toml:2:7: 'agent.claude.env' (item 2) "
	    "names a variable 'B C', but names consist of letters, digits and \"_\"" },
	{ "[agent.claude]\nenv = [\"MY_KEY=velvet-noon\"]\n", "f.toml:2:7: 'agent.claude.env' "
	    "(item 1) names a variable 'MY_KEY=...', but names consist of letters, digits and "
	    "\"_\": put only the name in env, or NAME = \"VALUE\" in set" },
	{ "[agent.claude]\nenv = [\"9f3kd02mmq-81zz7ab4\"]\n", "f.toml:2:7: 'agent.claude.env' "
	    "(item 1) looks like a secret; put the name of the variable here, not its value" },
	{ "[agent.claude]\nset = { \"MY_KEY=velvet-noon\" = \"\" }\n", "f.toml:2:32: "
	    "'agent.claude.set.\"MY_KEY=[secret]\"' names a variable '\"MY_KEY=...', but names "
	    "consist of letters, digits and \"_\": put only the name in env, or NAME = "
	    "\"VALUE\" in set" },
	{ "[agent.claude]\nset.MY_KEY = 31415926535897932384626\n",
	    "f.toml:2:37: a number is too large; put a string in quotes" },
	{ "[agent.claude.set]\nA = \"x\"\nRL_RUN = \"1\"\n", "f.toml:3:10: "
	    "'agent.claude.set.RL_RUN' names a variable 'RL_RUN', but rld sets all variables "
	    "that start with RL_" },
	{ "[agent.claude]\nset = { A = 1 }\n",
	    "f.toml:2:13: 'agent.claude.set.A' must contain strings, but 'A' is an integer" },
	{ "[agent.\"my agent\"]\ncommand = [\"x\"]\n", "f.toml:1:8: 'agent.\"my agent\"' is not "
	    "a valid name for an agent: use letters, digits, \"-\" and \"_\", at most 64" },
	{ "[agent.-x]\ncommand = [\"x\"]\n", "f.toml:1:8: 'agent.-x' is not a valid name for an agent: "
	    "use letters, digits, \"-\" and \"_\", at most 64" },
	{ "[agent.\"a.set\".x]\n",
	    "f.toml:1:8: unknown key 'agent.\"a.set\"'; remove it, or see rld.toml(5) for the keys" },
	{ "default_agent = \"cladue\"\n", NULL },
	{ "[review]\nagent = \"nobody\"\n", NULL },
	{ "[review]\nfixer_agent = \"\"\n", "f.toml:2:15: 'review.fixer_agent' must be the name of "
	    "an agent: letters, digits, \"-\" and \"_\", at most 64" },

	/* the first mistake in order of the file is told */
	{ "parallel = 4\n[run]\non_lost = 1\n[review]\nenabled = 1\n",
	    "f.toml:3:11: 'run.on_lost' must be one of \"hold\", \"retry\", \"fail\"" },
	{ "zzz = 1\naaa = 1\n", "f.toml:1:1: unknown key 'zzz'; remove it, or see rld.toml(5) for the keys" },
	{ "a.b.c.d.e.f.g.h.i.j = 1\n", "f.toml:1:17: tables are nested too deeply" },
};

START_TEST(test_bad)
{
	struct config *config = NULL;
	struct config_error error = { 0 };

	ck_assert_msg(config_parse(&config, FILE_NAME, bad[_i].text, strlen(bad[_i].text), &error) == -1,
	    "taken: %s", bad[_i].text);
	if (bad[_i].message != NULL)
		ck_assert_msg(strcmp(error.text, bad[_i].message) == 0, "%s\n  want %s\n   got %s",
		    bad[_i].text, bad[_i].message, error.text);
	ck_assert_str_eq(error.field, "");
	ck_assert_ptr_null(config);
}
END_TEST

/* Messages that list what else is known: only their heads are fixed. */
START_TEST(test_bad_heads)
{
	static const struct { const char *text, *head, *part; } rows[] = {
		{ "default_agent = \"\xff\"\n", "f.toml:1:17: ", "utf-8" },
		{ "[review]\nprofile = \"Verdict\"\n",
		    "f.toml:2:11: 'review.profile': unknown profile 'Verdict'; did you mean 'verdict'? Choose one of ",
		    "verdict" },
		{ "[review]\nprofile = \"a b\"\n",
		    "f.toml:2:11: 'review.profile' must be the name of a profile: ", "letters" },
		{ "[review]\nreview_file = \"\"\n",
		    "f.toml:2:15: 'review.review_file' must be a plain file name", "'' is not" },
		{ "[review]\ntimeout = 0\n", "f.toml:2:11: 'review.timeout' must be a duration from 1s to ", "30d" },
		{ "[limits]\ngrace = \"2h\"\n", "f.toml:2:9: 'limits.grace' must be a duration from 1s to ", "1h" },
		{ "default_agent = \"cladue\"\n",
		    "f.toml:1:17: 'default_agent': unknown agent 'cladue'; did you mean 'claude'? ",
		    "Choose one of claude" },
		{ "[review]\nagent = \"nobody\"\n[agent.mine]\ncommand = [\"x\"]\n",
		    "f.toml:2:9: 'review.agent': unknown agent 'nobody'; ", "mine" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct config *config;
		struct config_error error;

		ck_assert_int_eq(config_parse(&config, FILE_NAME, rows[i].text, strlen(rows[i].text), &error), -1);
		ck_assert_msg(strncmp(error.text, rows[i].head, strlen(rows[i].head)) == 0,
		    "want %s\n got %s", rows[i].head, error.text);
		ck_assert_msg(strstr(error.text, rows[i].part) != NULL, "%s", error.text);
	}
}
END_TEST

START_TEST(test_review_file)
{
	static const char *const wrong[] = { ".", "..", ".git", ".Git", "a/b", "/a", "./a", "*.md",
	    "a?", "[a]", "a\\\\b", "-x", "!x", "#x", ":x", " x", "x " };
	static const char *const right[] = { "review.md", "a b.md", ".review", "...",
	    "r\xc3\xa9vision.md", "a-b_c:d#!" };
	struct config *config;
	struct config_error error;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char *text = xasprintf("[review]\nreview_file = \"%s\"\n", wrong[i]);

		ck_assert_msg(config_parse(&config, FILE_NAME, text, strlen(text), &error) == -1,
		    "taken: %s", wrong[i]);
		ck_assert_msg(strstr(error.text, "must be a plain file name") != NULL, "%s", error.text);
		free(text);
	}
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		char *text = xasprintf("[review]\nreview_file = \"%s\"\n", right[i]);

		config_free(parsed(text));
		free(text);
	}
}
END_TEST

START_TEST(test_long_texts)
{
	static char text[32 * 1024 + 2], path[] = "/tmp/rld-config-XXXXXX";
	struct config *config;
	struct config_error error;
	size_t n;
	int fd;

	/* the deepest nesting that fits into a file: refused, not a crash */
	for (n = 0; n + 6 < 32 * 1024; n += 2)
		memcpy(text + n, "a.", 2);
	memcpy(text + n, "a=1", 4);
	ck_assert_int_eq(config_parse(&config, FILE_NAME, text, strlen(text), &error), -1);
	ck_assert_str_eq(error.text, "f.toml:1:17: tables are nested too deeply");
	/* a message longer than its buffer keeps whole characters */
	memset(text, 'k', 400);
	for (n = 0; n < 300; n++)
		memcpy(text + n * 2, "\xc3\xa9", 2);
	memmove(text + 1, text, 600);
	text[0] = '"';
	memcpy(text + 601, "\" = 1", 6);
	ck_assert_int_eq(config_parse(&config, FILE_NAME, text, strlen(text), &error), -1);
	ck_assert_uint_ge(strlen(error.text), 500);
	ck_assert_uint_eq((unsigned char)error.text[strlen(error.text) - 1], 0xa9);
	/* exactly 32 KiB are taken, one more is not */
	fd = mkstemp(path);
	memset(text, '\n', sizeof(text));
	ck_assert_int_eq(write(fd, text, 32 * 1024), 32 * 1024);
	ck_assert_int_eq(config_load(&config, path, true, &error), 0);
	config_free(config);
	ck_assert_int_eq(write(fd, "\n", 1), 1);
	ck_assert_int_eq(config_load(&config, path, true, &error), -1);
	ck_assert_ptr_nonnull(strstr(error.text, "longer than 32 KiB"));
	close(fd);
	unlink(path);
}
END_TEST

START_TEST(test_files)
{
	char directory[] = "/tmp/rld-config-XXXXXX", file[64], link[64];
	struct config *config;
	struct config_error error;
	FILE *f;

	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(file, sizeof(file), "%s/rld.toml", directory);
	snprintf(link, sizeof(link), "%s/link.toml", directory);
	/* none: defaults, unless it was asked for */
	ck_assert_int_eq(config_load(&config, NULL, false, &error), 0);
	ck_assert_ptr_null(config_path(config));
	ck_assert_int_eq(config_parallel(config), 4);
	config_free(config);
	ck_assert_int_eq(config_load(&config, file, false, &error), 0);
	ck_assert_ptr_null(config_path(config));
	config_free(config);
	ck_assert_int_eq(config_load(&config, file, true, &error), -1);
	ck_assert_ptr_nonnull(strstr(error.text, file));
	ck_assert_ptr_nonnull(strstr(error.text, "No such file"));
	/* a file, and a link to it */
	f = fopen(file, "w");
	fputs("\xef\xbb\xbfparallel = 7\r\n", f);
	fclose(f);
	ck_assert_int_eq(symlink("rld.toml", link), 0);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(config_load(&config, i == 0 ? file : link, true, &error), 0);
		ck_assert_str_eq(config_path(config), i == 0 ? file : link);
		ck_assert_int_eq(config_parallel(config), 7);
		config_free(config);
	}
	/* no file */
	ck_assert_int_eq(config_load(&config, directory, false, &error), -1);
	ck_assert_ptr_nonnull(strstr(error.text, "not a regular file"));
	unlink(link);
	unlink(file);
	rmdir(directory);
}
END_TEST

/* One run's settings: file and submit, then what came out, as JSON of the plan ("agents.fix.model"
 * is a path into it). */
struct given { const char *path, *value; };
static const struct {
	const char *name, *text;
	struct given given[8];
	struct { const char *path, *json; } want[8];
} layers_cases[] = {
	{ "defaults", "", { { 0 } }, {
	    { "review", "false" }, { "skip_reason", "\"review is off\"" },
	    { "profile", "\"verdict\"" }, { "on_lost", "\"hold\"" },
	    { "clocks.implement.wall_ms", "7200000" }, { "clocks.implement.idle_ms", "1200000" },
	    { "grace_ms", "10000" }, { "output_bytes", "67108864" } } },
	{ "the profile's own values", "", { { 0 } }, {
	    { "max_fixes", "5" }, { "stall_limit", "2" }, { "clocks.review.wall_ms", "3600000" }, { "env", "[]" },
	    { "agents.implement.name", "\"claude\"" }, { "agents.review.name", "\"claude\"" },
	    { "agents.fix.reader", "\"claude\"" } } },
	{ "file over profile and default",
	    "[review]\nmax_fixes = 1\ntimeout = \"2m\"\nstall_limit = 0\n[run]\non_lost = \"fail\"\n"
	    "[limits]\ntimeout = 60\ngrace = \"3s\"\noutput = \"1M\"\nidle_timeout = 0\n", { { 0 } }, {
	    { "max_fixes", "1" }, { "clocks.review.wall_ms", "120000" }, { "stall_limit", "0" },
	    { "on_lost", "\"fail\"" }, { "clocks.implement.wall_ms", "60000" }, { "grace_ms", "3000" },
	    { "output_bytes", "1048576" }, { "clocks.implement.idle_ms", "0" } } },
	{ "submit over file", "[review]\nmax_fixes = 1\ntimeout = \"2m\"\nstall_limit = 0\n[run]\n"
	    "on_lost = \"fail\"\n[limits]\ntimeout = 60\nidle_timeout = 0\n", {
	    { "review.max_fixes", "3" }, { "review.timeout", "\"3m\"" },
	    { "review.stall_limit", "4" }, { "run.on_lost", "\"retry\"" },
	    { "limits.timeout", "\"5m\"" }, { "limits.idle_timeout", "7" } }, {
	    { "max_fixes", "3" }, { "clocks.review.wall_ms", "180000" }, { "stall_limit", "4" },
	    { "on_lost", "\"retry\"" },
	    { "clocks.implement.wall_ms", "300000" }, { "clocks.implement.idle_ms", "7000" } } },
	{ "clocks, defaults", "", { { 0 } }, {
	    { "clocks.check.wall_ms", "7200000" }, { "clocks.review.wall_ms", "3600000" },
	    { "clocks.fix.idle_ms", "1200000" },
	    { "clocks.commit.post_result_ms", "30000" }, { "clocks.review.wall_own", "false" },
	    { "clocks.implement.post_result_own", "false" } } },
	{ "clocks of each role", "[limits.implement]\ntimeout = 1\nidle_timeout = 2\n"
	    "post_result = 3\n[limits.check]\ntimeout = 4\nidle_timeout = 5\n"
	    "[limits.fix]\npost_result = \"6s\"\n[limits.commit]\ntimeout = \"7s\"\n"
	    "idle_timeout = 0\npost_result = 0\n", { { 0 } }, {
	    { "clocks.implement", "{\"wall_ms\":1000,\"wall_own\":true,\"idle_ms\":2000,"
	    "\"idle_own\":true,\"post_result_ms\":3000,\"post_result_own\":true}" },
	    { "clocks.check", "{\"wall_ms\":4000,\"wall_own\":true,\"idle_ms\":5000,"
	    "\"idle_own\":true,\"post_result_ms\":30000,\"post_result_own\":false}" },
	    { "clocks.fix", "{\"wall_ms\":7200000,\"wall_own\":false,\"idle_ms\":1200000,"
	    "\"idle_own\":false,\"post_result_ms\":6000,\"post_result_own\":true}" },
	    { "clocks.commit", "{\"wall_ms\":7000,\"wall_own\":true,\"idle_ms\":0,"
	    "\"idle_own\":true,\"post_result_ms\":0,\"post_result_own\":true}" } } },
	{ "a role's clock goes before that of all and the profile's",
	    "[limits]\ntimeout = 9\nidle_timeout = 9\npost_result = 9\n"
	    "[profile.p]\nextends = \"verdict\"\ntimeout = 9\n[limits.review]\ntimeout = 1\n"
	    "idle_timeout = 2\npost_result = 3\n", { { "review.profile", "\"p\"" } }, {
	    { "clocks.review", "{\"wall_ms\":1000,\"wall_own\":true,\"idle_ms\":2000,"
	    "\"idle_own\":true,\"post_result_ms\":3000,\"post_result_own\":true}" },
	    { "clocks.implement.post_result_ms", "9000" }, { "clocks.fix.wall_ms", "9000" } } },
	{ "... and before the [review] of the same file",
	    "[review]\ntimeout = 9\n[limits.review]\ntimeout = 1\n", { { 0 } },
	    { { "clocks.review.wall_ms", "1000" } } },
	{ "what a submit says of all goes before a role's clock", "[limits.implement]\n"
	    "timeout = 1\nidle_timeout = 1\n[limits.review]\ntimeout = 1\nidle_timeout = 1\n", {
	    { "limits.timeout", "\"5m\"" }, { "limits.idle_timeout", "7" }, { "review.timeout", "\"8s\"" } }, {
	    { "clocks.implement.wall_ms", "300000" }, { "clocks.implement.wall_own", "false" },
	    { "clocks.implement.idle_ms", "7000" },
	    { "clocks.review.wall_ms", "8000" }, { "clocks.review.idle_ms", "7000" },
	    { "clocks.review.wall_own", "false" } } },
	{ "a submit's timeout holds for a review, too", "[review]\ntimeout = 1\n[limits.review]\n"
	    "timeout = 2\n[profile.p]\nextends = \"exit\"\ntimeout = 3\n", {
	    { "review.profile", "\"p\"" }, { "limits.timeout", "\"5m\"" } }, {
	    { "clocks.review.wall_ms", "300000" }, { "clocks.review.wall_own", "false" },
	    { "clocks.implement.wall_ms", "300000" }, { "clocks.check.wall_ms", "300000" } } },
	{ "... and not before what it says of reviews alone", "",
	    { { "limits.timeout", "\"5m\"" }, { "review.timeout", "\"8s\"" } }, {
	    { "clocks.review.wall_ms", "8000" }, { "clocks.commit.wall_ms", "300000" } } },
	{ "... but a file's does not", "[limits]\ntimeout = \"5m\"\n", { { 0 } },
	    { { "clocks.review.wall_ms", "3600000" }, { "clocks.fix.wall_ms", "300000" } } },
	{ "the outer loop, defaults", "", { { 0 } }, {
	    { "parallel", "1" }, { "iterations", "null" }, { "pause_ms", "0" },
	    { "isolation", "\"auto\"" }, { "integrate", "\"auto\"" },
	    { "on_failure", "\"stop\"" }, { "assign", "\"daemon\"" },
	    { "stop_markers", "[\"no_beads_available\",\"no beads available\"]" } } },
	{ "the outer loop, file", "[run]\nparallel = 2\niterations = 3\npause_ms = 4\n"
	    "isolation = \"shared\"\nintegrate = \"merge\"\non_failure = \"continue\"\n"
	    "assign = \"agent\"\nstop_markers = [\"done\"]\n", { { 0 } }, {
	    { "parallel", "2" }, { "iterations", "3" }, { "pause_ms", "4" },
	    { "isolation", "\"shared\"" }, { "integrate", "\"merge\"" },
	    { "on_failure", "\"continue\"" }, { "assign", "\"agent\"" }, { "stop_markers", "[\"done\"]" } } },
	{ "the outer loop, submit", "[run]\nparallel = 2\niterations = 3\npause_ms = 4\n"
	    "isolation = \"shared\"\nintegrate = \"merge\"\non_failure = \"continue\"\n"
	    "assign = \"agent\"\nstop_markers = [\"done\"]\n", {
	    { "run.parallel", "5" }, { "run.iterations", "6" }, { "run.pause_ms", "7" },
	    { "run.isolation", "\"worktree\"" }, { "run.integrate", "\"none\"" },
	    { "run.on_failure", "\"stop\"" }, { "run.assign", "\"daemon\"" }, { "run.stop_markers", "[]" } }, {
	    { "parallel", "5" }, { "iterations", "6" }, { "pause_ms", "7" },
	    { "isolation", "\"worktree\"" }, { "integrate", "\"none\"" },
	    { "on_failure", "\"stop\"" }, { "assign", "\"daemon\"" }, { "stop_markers", "[]" } } },
	{ "a base, a floor", "[run]\nbase = \"main\"\n[limits]\ndisk_floor = \"2G\"\n", { { 0 } },
	    { { "base", "\"main\"" }, { "disk_floor_bytes", "2147483648" } } },
	{ "no base, no floor", "[run]\nbase = \"main\"\n[limits]\ndisk_floor = 0\n",
	    { { "run.base", "\"\"" } }, { { "base", "null" }, { "disk_floor_bytes", "0" } } },
	{ "a floor by default", "", { { 0 } }, { { "base", "null" }, { "disk_floor_bytes", "1073741824" } } },
	{ "a commit that nobody wrote", "[review]\nenabled = true\nprofile = \"file\"\n", { { 0 } },
	    { { "commit", "\"auto\"" }, { "commit_said", "false" } } },
	{ "a commit of a profile", "[review]\nenabled = true\nprofile = \"mine\"\n[profile.mine]\n"
	    "extends = \"file\"\ncommit = \"none\"\n", { { 0 } },
	    { { "commit", "\"none\"" }, { "commit_said", "false" } } },
	{ "a commit of the file", "[run]\ncommit = \"none\"\n", { { 0 } },
	    { { "commit", "\"none\"" }, { "commit_said", "true" } } },
	{ "a commit of the submit", "", { { "run.commit", "\"agent\"" } },
	    { { "commit", "\"agent\"" }, { "commit_said", "true" } } },
	{ "the one who commits is the one who implements",
	    "[agent.a]\ncommand = [\"a\"]\n[review]\nfixer_agent = \"claude\"\n",
	    { { "default_agent", "\"a\"" }, { "run.model", "\"m\"" }, { "review.fixer_model", "\"f\"" } },
	    { { "agents.commit.name", "\"a\"" }, { "agents.commit.model", "\"m\"" },
	    { "agents.fix.name", "\"claude\"" } } },
	{ "the last override wins", "", { { "review.max_fixes", "3" }, { "review.max_fixes", "0" } },
	    { { "max_fixes", "0" } } },

	{ "review on by file", "[review]\nenabled = true\n", { { 0 } },
	    { { "review", "true" }, { "skip_reason", "null" } } },
	{ "review on by submit", "", { { "review.enabled", "true" } },
	    { { "review", "true" }, { "skip_reason", "null" } } },
	{ "review off by submit", "[review]\nenabled = true\n", { { "review.enabled", "false" } },
	    { { "review", "false" }, { "skip_reason", "\"review is off\"" } } },
	{ "a template none in the file", "[review]\nenabled = true\nreviewer_prompt = \"none\"\n", { { 0 } },
	    { { "review", "false" }, { "skip_reason", "\"reviewer_prompt = none\"" }, { "reviewer_prompt", "null" } } },
	{ "a template none in the submit", "[review]\nenabled = true\nreviewer_prompt = \"/etc/hosts\"\n",
	    { { "review.reviewer_prompt", "\"none\"" } },
	    { { "review", "false" }, { "skip_reason", "\"reviewer_prompt = none\"" } } },
	{ "a template over none", "[review]\nenabled = true\nreviewer_prompt = \"none\"\n",
	    { { "review.reviewer_prompt", "\"/etc/hosts\"" } },
	    { { "review", "true" }, { "reviewer_prompt", "\"/etc/hosts\"" } } },
	{ "skip beats all", "[review]\nenabled = true\n", { { "review.enabled", "true" },
	    { "review.skip", "true" }, { "review.reviewer_prompt", "\"none\"" } },
	    { { "review", "false" }, { "skip_reason", "\"--skip-review flag set\"" } } },
	{ "no skip", "[review]\nenabled = true\n", { { "review.skip", "false" } }, { { "review", "true" } } },
	{ "templates", "[review]\ndeveloper_prompt = \"/etc/hosts\"\n"
	    "reviewer_prompt = \"/etc/passwd\"\nenabled = true\n", { { 0 } },
	    { { "developer_prompt", "\"/etc/hosts\"" }, { "reviewer_prompt", "\"/etc/passwd\"" } } },

	{ "agents from file", "default_agent = \"a\"\n[review]\nagent = \"b\"\n[agent.a]\n"
	    "command = [\"a\", \"x\"]\nmodel = \"ma\"\nprompt = \"arg\"\n"
	    "[agent.b]\ncommand = [\"b\"]\nresume = [\"-r\"]\nwritable = [\"~/x\", \"/y\"]\n"
	    "env = [\"E\"]\nset = { K = \"V=W\", J = \"\" }\n", { { 0 } }, { { "agents.implement",
	    "{\"name\":\"a\",\"command\":[\"a\",\"x\"],\"resume\":[],\"prompt\":\"arg\",\"reader\":\"text\","
	    "\"model\":\"ma\",\"set\":[],\"env\":[],\"writable\":[],\"account\":\"a\"," HERE ",\"fallbacks\":[]}" },
	    { "agents.review", "{\"name\":\"b\",\"command\":[\"b\"],\"resume\":[\"-r\"],"
	    "\"prompt\":\"stdin\",\"reader\":\"text\",\"model\":null,\"set\":[\"K=V=W\",\"J=\"],"
	    "\"env\":[\"E\"],\"writable\":[\"~/x\",\"/y\"],\"account\":\"b\"," HERE ",\"fallbacks\":[]}" },
	    { "agents.fix.name", "\"a\"" }, { "agents.fix.model", "\"ma\"" } } },
	{ "those that take over",
	    "default_agent = \"a\"\n[agent.a]\ncommand = [\"a\"]\naccount = \"shared\"\n"
	    "fallback = [\"claude\", \"b\"]\n[agent.b]\ncommand = [\"b\"]\nmodel = \"mb\"\n"
	    "fallback = [\"a\"]\n", { { "run.model", "\"big\"" } }, {
	    { "agents.implement.account", "\"shared\"" }, { "agents.implement.model", "\"big\"" },
	    { "agents.implement.fallbacks.1",
	    "{\"name\":\"b\",\"command\":[\"b\"],\"resume\":[],\"prompt\":\"stdin\",\"reader\":\"text\","
	    "\"model\":\"mb\",\"set\":[],\"env\":[],\"writable\":[],\"account\":\"b\"," HERE "}" },
	    { "agents.review.fallbacks.0.account", "\"anthropic\"" }, { "agents.review.fallbacks.0.model",
	    "null" }, { "agents.commit.account", "\"shared\"" }, { "retries", "5" } } },
	{ "retries from the submit", "[run]\nretries = 7\n", { { "run.retries", "0" } }, { { "retries", "0" } } },
	{ "agents from submit", "default_agent = \"a\"\n[review]\nagent = \"b\"\n"
	    "fixer_agent = \"b\"\n[agent.a]\ncommand = [\"a\"]\n[agent.b]\ncommand = [\"b\"]\n", {
	    { "default_agent", "\"claude\"" }, { "review.enabled", "true" }, { "review.agent", "\"a\"" },
	    { "review.fixer_agent", "\"claude\"" } }, {
	    { "agents.implement.name", "\"claude\"" }, { "agents.review.name", "\"a\"" },
	    { "agents.fix.name", "\"claude\"" } } },
	{ "reviewer and fixer follow the submit's agent", "[agent.a]\ncommand = [\"a\"]\n",
	    { { "default_agent", "\"a\"" } }, {
	    { "agents.review.name", "\"a\"" }, { "agents.fix.name", "\"a\"" } } },
	{ "a model goes with its agent", "[agent.b]\ncommand = [\"b\"]\nmodel = \"mb\"\n",
	    { { "run.model", "\"big\"" }, { "review.enabled", "true" }, { "review.agent", "\"b\"" } }, {
	    { "agents.implement.model", "\"big\"" }, { "agents.review.model", "\"mb\"" },
	    { "agents.fix.model", "\"big\"" } } },
	{ "each role its model", "[review]\nmodel = \"r\"\nfixer_model = \"f\"\n",
	    { { "run.model", "\"big\"" }, { "review.fixer_model", "\"g\"" } }, {
	    { "agents.implement.model", "\"big\"" }, { "agents.review.model", "\"r\"" },
	    { "agents.fix.model", "\"g\"" } } },
	{ "an empty model is none", "[agent.claude]\nmodel = \"m\"\n",
	    { { "run.model", "\"\"" }, { "review.model", "\"\"" } }, {
	    { "agents.implement.model", "null" }, { "agents.review.model", "null" },
	    { "agents.fix.model", "null" } } },
	{ "labels", "[run.label]\nteam = \"core\"\nci = \"no\"\n", { { "run.label", "{\"ci\":\"yes\"}" } },
	    { { "labels", "[\"ci=yes\"]" } } },
	{ "environment", "", { { "run.env", "{\"A\":\"1\",\"B\":\"x y\"}" } }, { { "env", "[\"A=1\",\"B=x y\"]" } } },
	{ "dotted keys are tables", "agent.x.command = [\"x\"]\nagent.x.set.A = \"1\"\n"
	    "agent.x.set.B = \"2\"\ndefault_agent = \"x\"\n", { { 0 } },
	    { { "agents.implement.set", "[\"A=1\",\"B=2\"]" } } },
	{ "a table below before the one above", "[agent.x.set]\nA = \"1\"\n[agent.x]\ncommand = [\"x\"]\n",
	    { { "default_agent", "\"x\"" } }, { { "agents.implement.set", "[\"A=1\"]" } } },
};

static size_t given_count(const struct given *given)
{
	size_t n = 0;

	while (n < 8 && given[n].path != NULL)
		n++;
	return n;
}

static int resolved(const char *text, const struct given *given, struct plan *plan, struct config_error *error)
{
	struct config *config = parsed(text);
	struct config_override overrides[8];
	size_t n = given_count(given);
	int rv;

	for (size_t i = 0; i < n; i++)
		overrides[i] = (struct config_override){ given[i].path, given[i].value, "the_field" };
	rv = config_resolve(config, NULL, overrides, n, plan, error);
	config_free(config);
	return rv;
}

START_TEST(test_layers)
{
	struct plan plan;
	struct config_error error;

	ck_assert_msg(resolved(layers_cases[_i].text, layers_cases[_i].given, &plan, &error) == 0,
	    "%s: %s", layers_cases[_i].name, error.text);
	for (size_t i = 0; i < 8 && layers_cases[_i].want[i].path != NULL; i++) {
		char *got = plan_at(&plan, layers_cases[_i].want[i].path);

		ck_assert_msg(strcmp(got, layers_cases[_i].want[i].json) == 0,
		    "%s: %s\n  want %s\n   got %s", layers_cases[_i].name,
		    layers_cases[_i].want[i].path, layers_cases[_i].want[i].json, got);
		free(got);
	}
	plan_release(&plan);
}
END_TEST

static const struct {
	const char *text;
	struct given given;
	const char *head, *field;
} submit_bad[] = {
	{ "", { "review.max_fixes", "\"3\"" }, "the_field: must be an integer, is a string", "the_field" },
	{ "", { "review.max_fixes", "101" }, "the_field: must be from 0 to 100, is 101", "the_field" },
	{ "", { "review.max_fixes", "null" }, "the_field: must be an integer, is null", "the_field" },
	{ "", { "review.max_fixes", "{" }, "the_field: the value is not valid JSON", "the_field" },
	{ "", { "parallel", "3" }, "the_field: 'parallel'", "the_field" },
	{ "", { "limits.grace", "3" }, "the_field: 'limits.grace'", "the_field" },
	{ "", { "agent.claude.command", "[\"sh\"]" },
	    "the_field: 'agent.claude.command'", "the_field" },
	{ "", { "run.env.A", "\"1\"" }, "the_field: 'run.env.A'", "the_field" },
	{ "", { "no.such", "1" }, "the_field: 'no.such'", "the_field" },
	{ "", { "default_agent", "\"nobody\"" }, "the_field: unknown agent 'nobody'; choose one of ", "the_field" },
	{ "", { "review.agent", "\"nobody\"" }, "the_field: unknown agent 'nobody'; choose one of ", "the_field" },
	{ "", { "review.profile", "\"none\"" },
	    "the_field: unknown profile 'none'; choose one of verdict, ", "the_field" },
	{ "", { "review.profile", "\"no ne\"" }, "the_field: must be the name of a profile: ", "the_field" },
	{ "", { "profile.a.max_fixes", "1" }, "the_field: 'profile.a.max_fixes'", "the_field" },
	{ "", { "hook.on_end", "[\"sh\"]" }, "the_field: 'hook.on_end'", "the_field" },
	{ "", { "run.report", "\"r.json\"" }, "the_field: must be an absolute path", "the_field" },
	{ "", { "run.commit", "true" }, "the_field: must be one of \"none\", \"auto\", \"agent\"", "the_field" },
	{ "", { "run.parallel", "65" }, "the_field: must be from 1 to 64, is 65", "the_field" },
	{ "", { "run.stop_markers", "[\" \"]" }, "the_field: (item 1) must not be empty", "the_field" },
	{ "", { "run.base", "\"-x\"" },
	    "the_field: must be the name of a branch or commit, '-x' is not", "the_field" },
	{ "", { "group.default.slots", "9" }, "the_field: 'group.default.slots'", "the_field" },
	{ "", { "review.checks", "[\"\"]" }, "the_field: (item 1) must not be empty", "the_field" },
	{ "", { "review.checks", "\"make\"" }, "the_field: must be an array of strings, is a string", "the_field" },
	{ "", { "review.reviewer", "\"a/b\"" }, "the_field: must be an absolute path or a name", "the_field" },
	{ "", { "review.guidelines", "[{\"file\":\"a\",\"section\":\"\\u0000\"}]" },
	    "the_field: (item 1) 'section' must not contain a NUL character", "the_field" },
	{ "", { "run.label", "{\"a b\":\"1\"}" }, "the_field: has a label 'a b', but names of labels are",
	    "the_field" },
	{ "", { "run.env", "{\"A B\":\"1\"}" }, "the_field: names a variable 'A B'", "the_field" },
	{ "", { "run.env", "{\"A\":\"\\u0000\"}" },
	    "the_field: must not contain a NUL character, but 'A' does", "the_field" },
	{ "", { "run.model", "\"a\\u0000\"" }, "the_field: must not contain a NUL character", "the_field" },
	{ "", { "review.developer_prompt", "\"dev.md\"" }, "the_field: must be an absolute path", "the_field" },
	{ "", { "review.developer_prompt", "\"/nonexistent/dev.md\"" },
	    "the_field: /nonexistent/dev.md: No such file or directory; name a readable file", "the_field" },
	{ "", { "review.developer_prompt", "\"/etc\"" },
	    "the_field: /etc: is not a regular file; name a readable file", "the_field" },
	{ "[review]\nenabled = true\n\nreviewer_prompt = \"/nonexistent/r.md\"\n", { 0 },
	    "f.toml:4: /nonexistent/r.md: No such file or directory; name a readable file", "" },
};

START_TEST(test_submit_bad)
{
	struct given given[8] = { submit_bad[_i].given };
	struct plan plan;
	struct config_error error;

	ck_assert_int_eq(resolved(submit_bad[_i].text, given, &plan, &error), -1);
	ck_assert_msg(strncmp(error.text, submit_bad[_i].head, strlen(submit_bad[_i].head)) == 0,
	    "want %s\n got %s", submit_bad[_i].head, error.text);
	ck_assert_str_eq(error.field, submit_bad[_i].field);
}
END_TEST

static char *resolved_again(struct config *config, const char *model, const char *prompt)
{
	const struct config_override overrides[] = {
		{ "run.model", model, "model" }, { "review.developer_prompt", prompt, "prompt" },
	};
	struct config_error error;
	struct plan plan;
	char *text;

	if (config_resolve(config, NULL, overrides, prompt != NULL ? 2 : 1, &plan, &error) == -1)
		return xstrdup(error.text);
	text = plan_to_json(&plan);
	plan_release(&plan);
	return text;
}

/* What was resolved is kept, for the same values only, and not if a file must be looked at. */
START_TEST(test_resolved_again)
{
	struct config *config = parsed("[run]\nretries = 3\n");
	char path[] = "/tmp/rld-config-XXXXXX", *prompt;
	char *first, *last;
	int fd = mkstemp(path);

	ck_assert_int_ne(fd, -1);
	close(fd);
	prompt = xasprintf("\"%s\"", path);
	first = resolved_again(config, "\"a\"", NULL);
	for (int i = 0; i < 20; i++) {
		char *model = xasprintf("\"m%d\"", i), *named = xasprintf("\"model\":\"m%d\"", i);

		for (int again = 0; again < 2; again++) {
			last = resolved_again(config, model, NULL);
			ck_assert_ptr_nonnull(strstr(last, named));
			free(last);
		}
		free(model);
		free(named);
	}
	last = resolved_again(config, "\"a\"", NULL);
	ck_assert_str_eq(first, last);
	free(last);
	last = resolved_again(config, "\"a\"", prompt);
	ck_assert_ptr_nonnull(strstr(last, path));
	free(last);
	unlink(path);
	last = resolved_again(config, "\"a\"", prompt);
	ck_assert_ptr_nonnull(strstr(last, "name a readable file"));
	free(last);
	free(first);
	free(prompt);
	config_free(config);
}
END_TEST

/* A limit that nobody could keep is refused, with the agent that stands in its way;
 * file: rld.toml. */
#define X "[agent.x]\ncommand = [\"x\"]\n"	/* tells nothing */
static const struct {
	const char *text;
	struct given given[8];
	const char *head, *field;	/* NULL: it is taken */
} budgets[] = {
	{ "", { { "run.max_cost", "2.5" }, { "run.max_tokens", "7" }, { "run.max_wall", "\"2h\"" } }, NULL, NULL },
	{ "", { { "run.max_cost", "2" }, { "default_agent", "\"opencode\"" } }, NULL, NULL },
	{ "", { { "run.max_cost", "2" }, { "default_agent", "\"codex\"" } }, "the_field: "
	    "run.max_cost cannot be enforced, because agent 'codex', which implements, does not "
	    "report its cost; choose another agent, remove the limit, or limit tokens instead if "
	    "the agent reports them",
	    "the_field" },
	{ "", { { "run.max_tokens", "2" }, { "default_agent", "\"codex\"" } }, NULL, NULL },
	{ "", { { "run.max_tokens", "2" }, { "default_agent", "\"copilot\"" } },
	    "the_field: run.max_tokens cannot be enforced, because agent 'copilot', which "
	    "implements, does not report its tokens; choose another agent, remove the limit, or "
	    "limit the time with max_wall instead",
	    "the_field" },
	{ X, { { "run.max_wall", "9" }, { "default_agent", "\"x\"" } }, NULL, NULL },
	{ X "[run]\nmax_cost = 3\n", { { "default_agent", "\"x\"" } },
	    "f.toml:4: run.max_cost cannot be enforced, because agent 'x', which implements, ", "agent" },
	/* each role that is in use, and whoever takes over */
	{ X, { { "run.max_cost", "2" }, { "review.enabled", "true" }, { "review.agent", "\"x\"" } },
	    "the_field: run.max_cost cannot be enforced, because agent 'x', which reviews, ", "the_field" },
	{ X, { { "run.max_cost", "2" }, { "review.enabled", "true" }, { "review.fixer_agent", "\"x\"" } },
	    "the_field: run.max_cost cannot be enforced, because agent 'x', which fixes, ", "the_field" },
	{ X, { { "run.max_cost", "2" }, { "review.enabled", "false" }, { "review.agent", "\"x\"" },
	    { "review.fixer_agent", "\"x\"" } }, NULL, NULL },
	{ X, { { "run.max_cost", "2" }, { "run.commit", "\"auto\"" }, { "review.fixer_agent", "\"x\"" } },
	    "the_field: run.max_cost cannot be enforced, because agent 'x', which fixes, ", "the_field" },
	{ X "[agent.claude]\nfallback = [\"x\"]\n", { { "run.max_cost", "2" } },
	    "the_field: run.max_cost cannot be enforced, because agent 'x', which is a fallback, ", "the_field" },
	/* a skipped review is no reason to refuse, a program that reviews is no agent */
	{ X, { { "run.max_cost", "2" }, { "review.enabled", "true" }, { "review.agent", "\"x\"" },
	    { "review.skip", "true" } }, NULL, NULL },
	{ "", { { "run.max_cost", "2" }, { "review.reviewer", "\"/bin/true\"" } }, NULL, NULL },
	/* of a day */
	{ "[account.openai]\nbudget_day_usd = 5\n", { { "default_agent", "\"codex\"" } },
	    "f.toml:2: account.openai.budget_day_usd cannot be enforced, because agent 'codex', "
	    "which implements, does not report its cost; ", "agent" },
	{ "[account.openai]\nbudget_day_tokens = 5\n", { { "default_agent", "\"codex\"" } }, NULL, NULL },
	{ "[account.openai]\nbudget_day_usd = 5\n", { { 0 } }, NULL, NULL },
	{ X "[account.x]\nbudget_day_wall = 5\n", { { "default_agent", "\"x\"" } }, NULL, NULL },
	/* what is no amount */
	{ "", { { "run.max_cost", "-1" } }, "the_field: must be an amount from 0.01 to 1000000000", "the_field" },
	{ "", { { "run.max_cost", "\"5\"" } },
	    "the_field: must be an amount like 5 or 2.50, is a string", "the_field" },
	{ "", { { "run.max_tokens", "0" } }, "the_field: must be from 1 to ", "the_field" },
	{ "", { { "run.max_wall", "0" } }, "the_field: must be a duration from 1s to ", "the_field" },
};
#undef X

START_TEST(test_budgets)
{
	struct plan plan;
	struct config_error error = { 0 };
	int rv = resolved(budgets[_i].text, budgets[_i].given, &plan, &error);

	ck_assert_msg((rv == 0) == (budgets[_i].head == NULL), "%d: %s", _i, error.text);
	if (rv == 0) {
		plan_release(&plan);
		return;
	}
	ck_assert_msg(strncmp(error.text, budgets[_i].head, strlen(budgets[_i].head)) == 0,
	    "want %s\n got %s", budgets[_i].head, error.text);
	ck_assert_str_eq(error.field, budgets[_i].field);
}
END_TEST

/* Whether a reviewer is started by words of its own: the first of them, or of the command. */
static const struct {
	const char *text, *profile, *word;
} review_words[] = {
	{ "[agent.a]\ncommand = [\"a\"]\n", "verdict", "a" },
	{ "[agent.a]\ncommand = [\"a\"]\nreview = [\"r\", \"--look\"]\n", "verdict", "r" },
	{ "[agent.a]\ncommand = [\"a\"]\nreview = [\"r\"]\n", "decision", "r" },
	/* whose reviewer must write a file */
	{ "[agent.a]\ncommand = [\"a\"]\nreview = [\"r\"]\n", "file", "a" },
	{ "[agent.a]\ncommand = [\"a\"]\nreview = [\"r\"]\n", "comments", "a" },
	{ "[agent.a]\ncommand = [\"a\"]\nreview = []\n", "verdict", "a" },
	/* opencode's preset has words for reviewers that begin otherwise */
	{ "[agent.opencode]\nmodel = \"m\"\n[agent.a]\ncommand = [\"a\"]\n[review]\n"
	    "agent = \"opencode\"\n", "verdict", "env" },
	{ "[agent.opencode]\ncommand = [\"mine\"]\n[agent.a]\ncommand = [\"a\"]\n[review]\n"
	    "agent = \"opencode\"\n", "verdict", "mine" },
	{ "[agent.opencode]\nreview = []\n[agent.a]\ncommand = [\"a\"]\n[review]\nagent = \"opencode\"\n",
	    "verdict", "opencode" },
	{ "[agent.opencode]\ncommand = [\"mine\"]\nreview = [\"my-review\"]\n[agent.a]\n"
	    "command = [\"a\"]\n[review]\nagent = \"opencode\"\n", "verdict", "my-review" },
};

START_TEST(test_review_words)
{
	char *profile = xasprintf("\"%s\"", review_words[_i].profile);
	struct given given[8] = { { "default_agent", "\"a\"" }, { "review.enabled", "true" },
	    { "review.profile", profile } };
	struct plan plan;
	struct config_error error;

	ck_assert_int_eq(resolved(review_words[_i].text, given, &plan, &error), 0);
	ck_assert_str_eq(plan.agents[ROLE_REVIEW].command[0], review_words[_i].word);
	ck_assert_str_eq(plan.agents[ROLE_IMPLEMENT].command[0], "a");
	ck_assert_str_eq(plan.agents[ROLE_FIX].command[0], "a");
	plan_release(&plan);
	free(profile);
}
END_TEST

/* Who takes over for a reviewer is a reviewer as well. */
START_TEST(test_review_words_of_fallbacks)
{
	struct plan plan;
	struct config_error error;

	ck_assert_int_eq(resolved("default_agent = \"a\"\n[agent.a]\ncommand = [\"a\"]\n"
	    "review = [\"ra\"]\nfallback = [\"b\", \"c\"]\n"
	    "[agent.b]\ncommand = [\"b\"]\nreview = [\"rb\"]\n[agent.c]\ncommand = [\"c\"]\n",
	    (struct given[8]){ { "review.enabled", "true" } }, &plan, &error), 0);
	ck_assert_str_eq(plan.agents[ROLE_REVIEW].fallbacks[0].command[0], "rb");
	ck_assert_str_eq(plan.agents[ROLE_REVIEW].fallbacks[1].command[0], "c");
	ck_assert_str_eq(plan.agents[ROLE_FIX].fallbacks[0].command[0], "b");
	plan_release(&plan);
}
END_TEST

/* An agent with nothing but a model keeps the rest of its preset. */
START_TEST(test_preset_kept)
{
	const struct agent_preset *preset = agent_preset_find("claude");
	struct plan plan;
	struct config_error error;
	const struct agent_plan *agent = &plan.agents[ROLE_IMPLEMENT];

	ck_assert_int_eq(resolved("[agent.claude]\nmodel = \"opus\"\n", (struct given[8]){ { 0 } }, &plan, &error), 0);
	ck_assert_str_eq(agent->model, "opus");
	ck_assert_int_eq(agent->prompt, preset->prompt);
	ck_assert_int_eq(agent->reader, preset->reader);
	for (size_t i = 0; preset->command[i] != NULL; i++)
		ck_assert_str_eq(agent->command[i], preset->command[i]);
	ck_assert_uint_eq(strings_count(agent->command), strings_count((char *const *)(uintptr_t)preset->command));
	ck_assert_uint_eq(strings_count(agent->env), strings_count((char *const *)(uintptr_t)preset->env));
	for (size_t i = 0; agent->env[i] != NULL; i++)
		ck_assert_str_eq(agent->env[i], preset->env[i]);
	ck_assert_uint_eq(strings_count(agent->set), strings_count((char *const *)(uintptr_t)preset->set));
	ck_assert_uint_eq(strings_count(agent->resume), strings_count((char *const *)(uintptr_t)preset->resume));
	ck_assert_uint_eq(strings_count(agent->writable), strings_count((char *const *)(uintptr_t)preset->writable));
	plan_release(&plan);
	/* and what is written replaces what was there: a list as a whole, a table key by key */
	ck_assert_int_eq(resolved("[agent.claude]\nenv = [\"ONLY\"]\nresume = []\nwritable = [\"~/mine\"]\n"
	    "set = { IS_SANDBOX = \"0\", NEW = \"1\" }\ncommand = [\"x\"]\nreader = \"text\"\n",
	    (struct given[8]){ { 0 } }, &plan, &error), 0);
	ck_assert_str_eq(agent->env[0], "ONLY");
	ck_assert_ptr_null(agent->env[1]);
	ck_assert_str_eq(agent->set[0], "IS_SANDBOX=0");
	ck_assert_str_eq(agent->set[1], "NEW=1");
	ck_assert_ptr_null(agent->set[2]);
	ck_assert_ptr_null(agent->command[1]);
	ck_assert_ptr_null(agent->resume[0]);
	ck_assert_str_eq(agent->writable[0], "~/mine");
	ck_assert_ptr_null(agent->writable[1]);
	ck_assert_int_eq(agent->reader, READER_TEXT);
	plan_release(&plan);
}
END_TEST

START_TEST(test_agent_env)
{
	struct config *config = parsed("[agent.x]\ncommand = [\"x\"]\n"
	    "env = [\"ZZ\", \"AA\", \"ZZ\"]\n[agent.claude]\nenv = [\"AA\", \"MINE\"]\n");
	char *const *names = config_agent_env(config);
	size_t n = strings_count(names);
	bool mine = false;

	ck_assert_uint_ge(n, 3);
	ck_assert_str_eq(names[0], "AA");
	ck_assert_str_eq(names[n - 1], "ZZ");
	for (size_t i = 1; i < n; i++) {
		ck_assert_int_lt(strcmp(names[i - 1], names[i]), 0);
		mine |= strcmp(names[i], "MINE") == 0;
	}
	ck_assert(mine);
	config_free(config);
}
END_TEST

START_TEST(test_groups)
{
	static const struct { const char *text; const char *names[3]; int64_t slots[3]; } rows[] = {
		{ "", { "default" }, { 4 } },
		{ "parallel = 9\n", { "default" }, { 9 } },
		{ "[group.default]\n", { "default" }, { 4 } },
		{ "parallel = 9\n[group.default]\nslots = 2\n", { "default" }, { 2 } },
		{ "[group.night]\nslots = 7\n[group.a-b_1]\nslots = 1\n",
		    { "default", "night", "a-b_1" }, { 4, 7, 1 } },
		{ "group.night.slots = 7\n", { "default", "night" }, { 4, 7 } },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct config *config = parsed(rows[i].text);
		char **names;
		int64_t *slots;

		config_groups(config, &names, &slots);
		for (size_t k = 0; k < 3 && rows[i].names[k] != NULL; k++) {
			ck_assert_str_eq(names[k], rows[i].names[k]);
			ck_assert_int_eq(slots[k], rows[i].slots[k]);
			ck_assert(config_group_name(names[k]));
		}
		ck_assert(strings_count(names) == 3 || rows[i].names[strings_count(names)] == NULL);
		strings_free(names);
		free(slots);
		config_free(config);
	}
	ck_assert(!config_group_name("") && !config_group_name("a b") && !config_group_name("-a") &&
	    !config_group_name("a.b"));
}
END_TEST

static void collect(void *arg, const char *path, const char *value, const char *from, const char *help)
{
	ck_assert_uint_gt(strlen(help), 0);
	buf_addf(arg, "%s = %s (%s)\n", path, value, from);
}

START_TEST(test_each)
{
	static const char *const want[] = {
		"parallel = 2 (f.toml:1)\n",
		"default_agent = \"claude\" (default)\n",
		"agent.x.command = [\"x\"] (f.toml:3)\n",
		"agent.x.prompt = \"stdin\" (default)\n",
		"agent.x.set = {\"A\":\"1\"} (f.toml:4)\n",
		"agent.claude.model = \"\" (default)\n",
		"run.on_lost = \"hold\" (default)\n",
		"review.agent = null (default)\n",
		"review.max_fixes = 5 (profile verdict)\n",
		"review.timeout = \"1h\" (profile verdict)\n",
		"review.stall_limit = 3 (f.toml:6)\n",
		"review.on_exhausted = \"fail\" (profile verdict)\n",
		"review.read_only = false (profile verdict)\n",
		"review.review_file = null (default)\n",
		"review.sandbox = \"try\" (default)\n",
		"review.conventions = [\"CLAUDE.md\",\"AGENTS.md\"] (default)\n",
		"run.commit = \"none\" (default)\n",
		"run.iterations = null (default)\n",
		"run.parallel = 3 (f.toml:8)\n",
		"run.stop_markers = [\"no_beads_available\",\"no beads available\"] (default)\n",
		"limits.disk_floor = \"1G\" (default)\n",
		"group.default.slots = 2 (default)\n",
		"group.night.slots = 1 (f.toml:10)\n",
		"hook.on_pass = [] (default)\n",
		"hook.on_end = [] (default)\n",
		"agent.claude.resume = [\"--resume\",\"{session}\"] (default)\n",
		"limits.timeout = \"2h\" (default)\n",
		"limits.output = \"64M\" (default)\n",
	};
	struct config *config = parsed("parallel = 2\n[agent.x]\ncommand = [\"x\"]\nset = { A = \"1\" }\n"
	    "[review]\nstall_limit = 3\n[run]\nparallel = 3\n[group.night]\nslots = 1\n");
	struct config_error error;
	struct buf b = { 0 };

	ck_assert_int_eq(config_each(config, NULL, NULL, 0, collect, &b, &error), 0);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		ck_assert_msg(strstr(b.data, want[i]) != NULL, "no %s in\n%s", want[i], b.data);
	ck_assert_ptr_null(strstr(b.data, "review.skip"));
	ck_assert_ptr_null(strstr(b.data, "run.model"));
	/* a table of names that was not filled in */
	ck_assert_ptr_null(strstr(b.data, ".*."));
	buf_release(&b);
	config_free(config);
}
END_TEST

/* Every row is total: a kind that can be checked, bounds that hold its own default, one layer at
 * least, a help text. */
START_TEST(test_table)
{
	const struct setting *s = &settings[_i];
	json_t *value;
	char *why;

	ck_assert_ptr_eq(setting_find(s->is.name, NULL), s);
	ck_assert_uint_ne(s->layers, 0);
	ck_assert_uint_gt(strlen(s->is.help), 0);
	if (s->profile_field != 0) {
		for (int i = 0; i < profiles_count; i++) {
			const void *cell = (const char *)&profiles[i] + s->profile_field;

			if (s->is.rule != &rule_file_name && s->is.rule != &rule_directory)
				value = setting_json(s, *(const int64_t *)cell);
			else if (*(const char *const *)cell != NULL)
				value = json_string(*(const char *const *)cell);
			else
				continue;
			ck_assert_ptr_null(setting_refuse(s, value));
			if (s->is.rule != &rule_file_name && s->is.rule != &rule_directory)
				ck_assert_int_eq(setting_number(s, value), *(const int64_t *)cell);
			json_decref(value);
		}
	}
	if (s->fallback == NULL)
		return;
	value = json_loads(s->fallback, JSON_DECODE_ANY, NULL);
	why = setting_refuse(s, value);
	ck_assert_msg(why == NULL, "%s %s", s->is.name, why);
	json_decref(value);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("config");
	TCase *file = tcase_create("file"), *run = tcase_create("run");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(file, test_bad, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(file, test_bad_heads);
	tcase_add_test(file, test_review_file);
	tcase_add_test(file, test_long_texts);
	tcase_add_test(file, test_files);
	tcase_add_test(file, test_each);
	tcase_add_test(file, test_agent_env);
	tcase_add_test(file, test_groups);
	tcase_add_loop_test(file, test_table, 0, (int)settings_count);
	tcase_add_loop_test(run, test_layers, 0, sizeof(layers_cases) / sizeof(layers_cases[0]));
	tcase_add_loop_test(run, test_submit_bad, 0, sizeof(submit_bad) / sizeof(submit_bad[0]));
	tcase_add_test(run, test_resolved_again);
	tcase_add_loop_test(run, test_budgets, 0, sizeof(budgets) / sizeof(budgets[0]));
	tcase_add_test(run, test_preset_kept);
	tcase_add_loop_test(run, test_review_words, 0, sizeof(review_words) / sizeof(review_words[0]));
	tcase_add_test(run, test_review_words_of_fallbacks);
	suite_add_tcase(suite, file);
	suite_add_tcase(suite, run);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
