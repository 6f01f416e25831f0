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
		/* No tools and hooks of the project's settings, which the work under review may
		 * have written. */
		.review = LIST("claude", "-p", "--output-format", "stream-json", "--verbose",
		    "--permission-mode", "dontAsk",
		    "--tools", "Read,Glob,Grep", "--allowedTools", "Read,Glob,Grep",
		    "--strict-mcp-config", "--setting-sources", "user", "--model", "{model}"),
		.prompt = PROMPT_STDIN,
		.reader = READER_CLAUDE,
		.env = LIST("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL",
		    "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_MAX_RETRIES", "API_TIMEOUT_MS",
		    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "NODE_EXTRA_CA_CERTS"),
		/* Otherwise the program refuses to skip permissions as root. */
		.set = LIST("IS_SANDBOX=1"),
		.resume = LIST("--resume", "{session}"),
		/* Conversations, settings and locks, downloads, and the caches of npm and of MCP
		 * servers that it starts. */
		.writable = LIST("~/.claude", "~/.claude.json", "~/.claude.json.lock",
		    "~/.claude.json.backup", "~/.cache",
		    "~/.local/state/claude", "~/.local/share/claude", "~/.npm"),
		.login = LIST("CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN",
		    "$CLAUDE_CONFIG_DIR/.credentials.json", "~/.claude/.credentials.json"),
		.login_help =
		    "as the user that runs the agents, start `claude` once and use /login, or set "
		    "CLAUDE_CODE_OAUTH_TOKEN (`claude setup-token` creates one) or "
		    "ANTHROPIC_API_KEY",
		.package = "@anthropic-ai/claude-code",
		.version = "2.1.330",
		.node = "22.0",
		.help = "Claude Code, in print mode",
	},
	{
		.name = "codex",
		.account = "openai",
		/* No sandbox of its own: the one with write permission keeps .git read-only, so
		 * nothing can be committed. */
		.command = LIST("codex", "exec", "--json", "--dangerously-bypass-approvals-and-sandbox",
		    "--skip-git-repo-check", "--model", "{model}"),
		/* Its --sandbox read-only cannot run any command within ours, without user
		 * namespaces, or with a home in /tmp, and it continues regardless: the reviewer
		 * would see nothing. */
		.review = LIST(),
		.prompt = PROMPT_STDIN,
		.reader = READER_CODEX,
		.env = LIST("OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_API_KEY", "CODEX_HOME", "SSL_CERT_FILE"),
		.set = LIST(),
		.resume = LIST("resume", "{session}", "-"),
		.writable = LIST("~/.codex"),
		.login = LIST("CODEX_API_KEY", "$CODEX_HOME/auth.json", "~/.codex/auth.json"),
		.login_help =
		    "as the user that runs the agents, run `codex login`, or set CODEX_API_KEY",
		.package = "@openai/codex",
		.version = "0.169.0",
		.node = "16.0",
		.help = "Codex, as codex exec",
	},
	{
		.name = "gemini",
		.account = "google",
		/* The text after -p is appended to the prompt; without -p the program is
		 * interactive. */
		.command = LIST("gemini", "--output-format", "stream-json", "--approval-mode", "yolo", "--skip-trust",
		    "--model", "{model}", "-p", ""),
		/* Tools that need approval are not offered; "plan" lets it write plans, and asks
		 * for approval of one. */
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
		.login_help =
		    "as the user that runs the agents, start `gemini` once and sign in, or set "
		    "GEMINI_API_KEY",
		.package = "@google/gemini-cli",
		.version = "0.61.0",
		.node = "20.0",
		.help = "Gemini CLI, non-interactive",
	},
	{
		.name = "opencode",
		.account = "opencode",
		/* Refusals by the service appear only in its log; otherwise it waits silently for
		 * hours. */
		.command = LIST("opencode", "run", "--format", "json", "--print-logs",
		    "--log-level", "ERROR", "--auto", "--model", "{model}"),
		/* It has no option for that. The settings in a project's file would override these,
		 * and the work may have written it. */
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
		.login_help =
		    "as the user that runs the agents, run `opencode auth login`, or set the API "
		    "key of a provider",
		.package = "opencode-ai",
		.version = "1.18.33",
		.help = "OpenCode, as opencode run",
	},
	{
		.name = "copilot",
		.account = "github",
		/* All paths, because a command that names one outside the work tree would be
		 * denied. */
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
		/* Its login goes to the system's credential store, and its config.json exists
		 * without one. */
		.login = LIST("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN",
		    "COPILOT_PROVIDER_BASE_URL", "~/.config/gh/hosts.yml"),
		.login_help =
		    "as the user that runs the agents, run `copilot login` (rld cannot see that "
		    "login), or set COPILOT_GITHUB_TOKEN",
		.package = "@github/copilot",
		.version = "1.0.102",
		.help = "GitHub Copilot CLI, non-interactive",
	},
	{
		.name = "qwen",
		.account = "qwen",
		.command = LIST("qwen", "--output-format", "stream-json", "--approval-mode", "yolo",
		    "--model", "{model}"),
		/* A project's file may permit what the approval mode denies, but not what is
		 * excluded. A sub-agent in a work tree is excluded because it needs no approval,
		 * scheduling because the program does not end with something scheduled. */
		.review = LIST("qwen", "--output-format", "stream-json", "--approval-mode", "default",
		    "--exclude-tools", "run_shell_command,write_file,edit,notebook_edit,"
		    "enter_worktree,exit_worktree,cron_create,loop_wakeup", "--model", "{model}"),
		.prompt = PROMPT_STDIN,
		.reader = READER_QWEN,
		.env = LIST("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "QWEN_MODEL",
		    "DASHSCOPE_API_KEY", "BAILIAN_CODING_PLAN_API_KEY",
		    "BAILIAN_TOKEN_PLAN_API_KEY", "QWEN_HOME", "NODE_EXTRA_CA_CERTS"),
		/* Its service library logs each refusal; the program itself waits silently. */
		.set = LIST("OPENAI_LOG=info"),
		.resume = LIST("--resume", "{session}"),
		.writable = LIST("~/.qwen"),
		/* The choice made in /auth, and its key. */
		.login = LIST("OPENAI_API_KEY", "DASHSCOPE_API_KEY", "BAILIAN_CODING_PLAN_API_KEY",
		    "BAILIAN_TOKEN_PLAN_API_KEY", "$QWEN_HOME/settings.json", "~/.qwen/settings.json"),
		.login_help =
		    "as the user that runs the agents, start `qwen` once and use /auth, or set "
		    "OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL",
		.package = "@qwen-code/qwen-code",
		.version = "0.24.4",
		.node = "22.0",
		.help = "Qwen Code, non-interactive",
	},
	{
		.name = "pi",
		.account = "pi",
		.command = LIST("pi", "-p", "--mode", "json", "--model", "{model}"),
		/* Extensions are code that it runs, including the project's. */
		.review = LIST("pi", "-p", "--mode", "json", "--tools", "read,grep,find,ls",
		    "--no-extensions", "--model", "{model}"),
		.prompt = PROMPT_STDIN,
		.reader = READER_PI,
		.env = LIST("ANTHROPIC_API_KEY", "ANTHROPIC_OAUTH_TOKEN", "OPENAI_API_KEY",
		    "GEMINI_API_KEY", "DEEPSEEK_API_KEY", "GROQ_API_KEY",
		    "CEREBRAS_API_KEY", "XAI_API_KEY", "OPENROUTER_API_KEY", "MISTRAL_API_KEY",
		    "ZAI_API_KEY", "KIMI_API_KEY", "OPENCODE_API_KEY",
		    "PI_CODING_AGENT_DIR", "PI_OFFLINE", "PI_TELEMETRY", "NODE_EXTRA_CA_CERTS"),
		/* As for qwen: the libraries for its services. */
		.set = LIST("OPENAI_LOG=info", "ANTHROPIC_LOG=info"),
		.resume = LIST("--session", "{session}"),
		.writable = LIST("~/.pi"),
		.login = LIST("ANTHROPIC_API_KEY", "ANTHROPIC_OAUTH_TOKEN", "OPENAI_API_KEY",
		    "GEMINI_API_KEY", "DEEPSEEK_API_KEY", "GROQ_API_KEY",
		    "CEREBRAS_API_KEY", "XAI_API_KEY", "OPENROUTER_API_KEY", "MISTRAL_API_KEY",
		    "ZAI_API_KEY", "KIMI_API_KEY", "OPENCODE_API_KEY",
		    "$PI_CODING_AGENT_DIR/auth.json", "~/.pi/agent/auth.json",
		    "$PI_CODING_AGENT_DIR/models.json", "~/.pi/agent/models.json"),
		.login_help =
		    "as the user that runs the agents, start `pi` once and use /login, or set the "
		    "API key of a provider",
		.package = "@mariozechner/pi-coding-agent",
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
