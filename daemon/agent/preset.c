/* SPDX-License-Identifier: MIT */
#include "agent/agent.h"

#include <string.h>

#define LIST(...) (const char *const[]){ __VA_ARGS__, NULL }

/* A new program is a row here. */
const struct agent_preset agent_presets[] = {
	{
		.name = "claude",
		.command = LIST("claude", "-p", "--output-format", "stream-json", "--verbose",
		    "--dangerously-skip-permissions", "--model", "{model}"),
		.prompt = PROMPT_STDIN,
		.reader = READER_CLAUDE,
		.env = LIST("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL",
		    "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_MAX_RETRIES", "API_TIMEOUT_MS",
		    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "NODE_EXTRA_CA_CERTS"),
		/* Without it the program refuses to skip permissions as root. */
		.set = LIST("IS_SANDBOX=1"),
		.resume = LIST("--resume", "{session}"),
		/* Conversations, settings and locks, what it downloads, and the caches of npm and MCP servers that it starts. */
		.writable = LIST("~/.claude", "~/.claude.json", "~/.claude.json.lock", "~/.claude.json.backup", "~/.cache",
		    "~/.local/state/claude", "~/.local/share/claude", "~/.npm"),
		.help = "Claude Code, in print mode",
	},
	{ .name = NULL },
};

const char *const agent_environment[] = {
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR", "XDG_*", "SSH_AUTH_SOCK",
	"http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy",
	"HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY",
	NULL,
};

const struct agent_preset *agent_preset_find(const char *name)
{
	for (const struct agent_preset *p = agent_presets; p->name != NULL; p++) {
		if (strcmp(p->name, name) == 0)
			return p;
	}
	return NULL;
}
