/* SPDX-License-Identifier: MIT */
#include "agent/agent.h"

#include <string.h>

#define LIST(...) (const char *const[]){ __VA_ARGS__ __VA_OPT__(,) NULL }

/* A new program is a row here. */
const struct agent_preset agent_presets[] = {
	{
		.name = "claude",
		.account = "anthropic",
		.command = LIST("claude", "-p", "--output-format", "stream-json", "--verbose",
		    "--dangerously-skip-permissions", "--model", "{model}"),
		/* Neither tools nor hooks of the project's own settings, which the work under
		 * review may have written. */
		.review = LIST("claude", "-p", "--output-format", "stream-json", "--verbose",
		    "--permission-mode", "dontAsk",
		    "--tools", "Read,Glob,Grep", "--allowedTools", "Read,Glob,Grep",
		    "--strict-mcp-config", "--setting-sources", "user", "--model", "{model}"),
		.prompt = PROMPT_STDIN,
		.reader = READER_CLAUDE,
		.env = LIST("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL",
		    "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_MAX_RETRIES", "API_TIMEOUT_MS",
		    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "NODE_EXTRA_CA_CERTS"),
		/* Without it the program refuses to skip permissions as root. */
		.set = LIST("IS_SANDBOX=1"),
		.resume = LIST("--resume", "{session}"),
		/* Conversations, settings and locks, what it downloads, and the caches of npm and
		 * MCP servers that it starts. */
		.writable = LIST("~/.claude", "~/.claude.json", "~/.claude.json.lock",
		    "~/.claude.json.backup", "~/.cache",
		    "~/.local/state/claude", "~/.local/share/claude", "~/.npm"),
		.login = LIST("CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN",
		    "$CLAUDE_CONFIG_DIR/.credentials.json", "~/.claude/.credentials.json"),
		.login_help = "run `claude` once as the user of the agents and use /login, or set "
		    "CLAUDE_CODE_OAUTH_TOKEN (`claude setup-token` makes one) or ANTHROPIC_API_KEY",
		.version = "2.1.330",
		.node = "22.0",
		.help = "Claude Code, in print mode",
	},
	{
		.name = "codex",
		.account = "openai",
		/* No sandbox of its own: under the one that lets it write, .git is read-only, and
		 * it may commit nothing. */
		.command = LIST("codex", "exec", "--json", "--dangerously-bypass-approvals-and-sandbox",
		    "--skip-git-repo-check", "--model", "{model}"),
		/* Its --sandbox read-only runs no command at all within ours, without user
		 * namespaces, and with a home in /tmp, and goes on as if nothing were: a reviewer
		 * that has seen nothing. */
		.review = LIST(),
		.prompt = PROMPT_STDIN,
		.reader = READER_CODEX,
		.env = LIST("OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_API_KEY", "CODEX_HOME", "SSL_CERT_FILE"),
		.set = LIST(),
		.resume = LIST("resume", "{session}", "-"),
		.writable = LIST("~/.codex"),
		.login = LIST("CODEX_API_KEY", "$CODEX_HOME/auth.json", "~/.codex/auth.json"),
		.login_help = "run `codex login` as the user of the agents, or set CODEX_API_KEY",
		.version = "0.169.0",
		.node = "16.0",
		.help = "Codex, as codex exec",
	},
	{
		.name = "gemini",
		.account = "google",
		/* The word behind -p is added to the prompt; without -p it would ask people. */
		.command = LIST("gemini", "--output-format", "stream-json", "--approval-mode", "yolo", "--skip-trust",
		    "--model", "{model}", "-p", ""),
		/* What would need a yes is not offered; "plan" lets it write plans,
		 * and asks for one. */
		.review = LIST("gemini", "--output-format", "stream-json", "--approval-mode", "default", "--skip-trust",
		    "--model", "{model}", "-p", ""),
		.prompt = PROMPT_STDIN,
		.reader = READER_GEMINI,
		.env = LIST("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL",
		    "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION",
		    "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA",
		    "GOOGLE_APPLICATION_CREDENTIALS", "GEMINI_MODEL", "GEMINI_CLI_HOME",
		    "NODE_EXTRA_CA_CERTS"),
		.set = LIST(),
		.resume = LIST("--resume", "{session}"),
		.writable = LIST("~/.gemini"),
		.login = LIST("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS",
		    "$GEMINI_CLI_HOME/.gemini/oauth_creds.json",
		    "~/.gemini/oauth_creds.json", "~/.gemini/gemini-credentials.json"),
		.login_help = "run `gemini` once as the user of the agents and sign in, or set GEMINI_API_KEY",
		.version = "0.61.0",
		.node = "20.0",
		.help = "Gemini CLI, without questions",
	},
	{
		.name = "opencode",
		.account = "opencode",
		/* Its log is where it says that the service refuses it; it waits for hours without
		 * a word on standard output. */
		.command = LIST("opencode", "run", "--format", "json", "--print-logs",
		    "--log-level", "ERROR", "--auto", "--model", "{model}"),
		/* It has no words for that. Those of a project's own file would be stronger than
		 * these, and the work may have written it. */
		.review = LIST("env", "OPENCODE_DISABLE_PROJECT_CONFIG=1",
		    "OPENCODE_PERMISSION={\"*\":\"deny\",\"read\":\"allow\",\"grep\":\"allow\","
		    "\"glob\":\"allow\",\"list\":\"allow\"}",
		    "opencode", "run", "--format", "json", "--print-logs", "--log-level", "ERROR",
		    "--model", "{model}"),
		.prompt = PROMPT_STDIN,
		.reader = READER_OPENCODE,
		.env = LIST("OPENCODE_CONFIG", "OPENCODE_CONFIG_CONTENT", "OPENCODE_CONFIG_DIR",
		    "OPENCODE_PERMISSION", "OPENCODE_API_KEY",
		    "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "NODE_EXTRA_CA_CERTS"),
		.set = LIST(),
		.resume = LIST("--session", "{session}"),
		.writable = LIST("~/.local/share/opencode", "~/.local/state/opencode",
		    "~/.cache/opencode", "~/.config/opencode"),
		.login = LIST("OPENCODE_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY",
		    "OPENROUTER_API_KEY", "OPENCODE_CONFIG_CONTENT",
		    "~/.local/share/opencode/auth.json", "~/.config/opencode/opencode.json"),
		.login_help = "run `opencode auth login` as the user of the agents, or set the API key of a provider",
		.version = "1.18.33",
		.help = "OpenCode, as opencode run",
	},
	{
		.name = "copilot",
		.account = "github",
		/* All paths, or a command that names one outside of the work tree is denied. */
		.command = LIST("copilot", "--output-format", "json", "--allow-all-tools",
		    "--allow-all-paths", "--no-ask-user", "--no-color",
		    "--no-auto-update", "--model", "{model}"),
		.review = LIST("copilot", "--output-format", "json", "--allow-all-tools",
		    "--allow-all-paths", "--available-tools=view,grep,glob",
		    "--no-ask-user", "--no-color", "--no-auto-update", "--model", "{model}"),
		.prompt = PROMPT_STDIN,
		.reader = READER_COPILOT,
		.env = LIST("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST",
		    "COPILOT_GH_HOST", "COPILOT_HOME", "COPILOT_MODEL", "COPILOT_OFFLINE",
		    "COPILOT_PROVIDER_BASE_URL", "COPILOT_PROVIDER_TYPE", "COPILOT_PROVIDER_API_KEY",
		    "COPILOT_PROVIDER_BEARER_TOKEN", "COPILOT_PROVIDER_WIRE_API", "NODE_EXTRA_CA_CERTS"),
		.set = LIST(),
		.resume = LIST("--resume={session}"),
		.writable = LIST("~/.copilot", "~/.cache/copilot"),
		/* Its own login goes to the system's credential store, and its config.json is
		 * there without one. */
		.login = LIST("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN",
		    "COPILOT_PROVIDER_BASE_URL", "~/.config/gh/hosts.yml"),
		.login_help = "run `copilot login` as the user of the agents (which does not show "
		    "here), or set COPILOT_GITHUB_TOKEN",
		.version = "1.0.102",
		.help = "GitHub Copilot CLI, without questions",
	},
	{
		.name = "qwen",
		.account = "qwen",
		.command = LIST("qwen", "--output-format", "stream-json", "--approval-mode", "yolo",
		    "--model", "{model}"),
		/* A project's own file may allow what its approval mode denies, but not what is
		 * excluded. A work tree is a branch as well, which asks nobody; with something
		 * scheduled it does not end. */
		.review = LIST("qwen", "--output-format", "stream-json", "--approval-mode", "default",
		    "--exclude-tools", "run_shell_command,write_file,edit,notebook_edit,"
		    "enter_worktree,exit_worktree,cron_create,loop_wakeup", "--model", "{model}"),
		.prompt = PROMPT_STDIN,
		.reader = READER_QWEN,
		.env = LIST("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "QWEN_MODEL",
		    "DASHSCOPE_API_KEY", "BAILIAN_CODING_PLAN_API_KEY",
		    "BAILIAN_TOKEN_PLAN_API_KEY", "QWEN_HOME", "NODE_EXTRA_CA_CERTS"),
		/* The library that it asks its service with reports each refusal; by itself the
		 * program waits without a word. */
		.set = LIST("OPENAI_LOG=info"),
		.resume = LIST("--resume", "{session}"),
		.writable = LIST("~/.qwen"),
		/* What /auth chose, and its key. */
		.login = LIST("OPENAI_API_KEY", "DASHSCOPE_API_KEY", "BAILIAN_CODING_PLAN_API_KEY",
		    "BAILIAN_TOKEN_PLAN_API_KEY", "$QWEN_HOME/settings.json", "~/.qwen/settings.json"),
		.login_help = "run `qwen` once as the user of the agents and use /auth, "
		    "or set OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL",
		.version = "0.24.4",
		.node = "22.0",
		.help = "Qwen Code, without questions",
	},
	{
		.name = "pi",
		.account = "pi",
		.command = LIST("pi", "-p", "--mode", "json", "--model", "{model}"),
		/* Extensions are code that runs in it, the project's own as well. */
		.review = LIST("pi", "-p", "--mode", "json", "--tools", "read,grep,find,ls",
		    "--no-extensions", "--model", "{model}"),
		.prompt = PROMPT_STDIN,
		.reader = READER_PI,
		.env = LIST("ANTHROPIC_API_KEY", "ANTHROPIC_OAUTH_TOKEN", "OPENAI_API_KEY",
		    "GEMINI_API_KEY", "DEEPSEEK_API_KEY", "GROQ_API_KEY",
		    "CEREBRAS_API_KEY", "XAI_API_KEY", "OPENROUTER_API_KEY", "MISTRAL_API_KEY",
		    "ZAI_API_KEY", "KIMI_API_KEY", "OPENCODE_API_KEY",
		    "PI_CODING_AGENT_DIR", "PI_OFFLINE", "PI_TELEMETRY", "NODE_EXTRA_CA_CERTS"),
		/* As for qwen: the libraries that it asks services with. */
		.set = LIST("OPENAI_LOG=info", "ANTHROPIC_LOG=info"),
		.resume = LIST("--session", "{session}"),
		.writable = LIST("~/.pi"),
		.login = LIST("ANTHROPIC_API_KEY", "ANTHROPIC_OAUTH_TOKEN", "OPENAI_API_KEY",
		    "GEMINI_API_KEY", "DEEPSEEK_API_KEY", "GROQ_API_KEY",
		    "CEREBRAS_API_KEY", "XAI_API_KEY", "OPENROUTER_API_KEY", "MISTRAL_API_KEY",
		    "ZAI_API_KEY", "KIMI_API_KEY", "OPENCODE_API_KEY",
		    "$PI_CODING_AGENT_DIR/auth.json", "~/.pi/agent/auth.json",
		    "$PI_CODING_AGENT_DIR/models.json", "~/.pi/agent/models.json"),
		.login_help = "run `pi` once as the user of the agents and use /login, "
		    "or set the API key of a provider",
		.version = "0.73.1",
		.node = "20.6",
		.help = "Pi, in print mode",
	},
	{ .name = NULL },
};

const char *const agent_environment[] = {
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR",
	"XDG_*", "SSH_AUTH_SOCK", "http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy",
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
