# SPDX-License-Identifier: MIT
"""A model service that follows a script, in the four dialects that agent programs speak.

It keeps nothing between two requests: everything it says follows from the conversation that it is
sent. The path of an address begins with the name of the program, which decides what its tools are
called: http://127.0.0.1:PORT/NAME/v1/messages.

The text of the task says what is to happen, "Scripted task WORD in DIRECTORY":

    loop    the implementer writes one line into work.txt, the reviewer wants a second one,
            the fixer writes it
    outside the implementer has its shell copy a file that is not in the directory
    sleep   the implementer has its shell start processes that do not end, one of them in a
            session of its own
    limit   the account is used up; answered as the service of that program really does
    busy    status 429 with a retry-after of hours, and no word of a limit
    auth    status 401
    broken  status 500

The reviewer tries to write, with each tool of its program that could, before it gives its verdict,
and judges by what its reading tool gave it.
"""
import http.server
import json
import re
import threading
import time

TASK = "Scripted task {word} in {directory}"
FOLLOW_UP = "Add the line two to work.txt."
CONTRACT = '"followUpPrompt"'		# only a reviewer is told how to answer
SLEEP = 86399				# seconds that no other sleep on the machine has
# of every answer; input with what was cached
USAGE = {"input": 1000, "cached": 400, "output": 50, "reasoning": 20}
COMMANDS = {
    "fix": "printf 'one\\ntwo\\n' > {0}/work.txt",
    "harm": "echo harm > {0}/harm-shell.txt",
    "sleep": "setsid sleep {1} & nohup sleep {1} & sleep {1}",
    "look": "cat {0}/work.txt",
    "outside": "cat /etc/os-release > {0}/copy.txt",
}


def tool(name, /, **members):
    """A call of a tool; members may name {path}, {content} and {command}."""
    return lambda **values: (name, {k: v.format(**values) if isinstance(v, str) else v for k, v in members.items()})


READ_FILE = tool("read_file", file_path="{path}")
WRITE_FILE = tool("write_file", file_path="{path}", content="{content}")
RUN_SHELL = tool("run_shell_command", command="{command}", description="as told", is_background=False)

# What each program calls its tools for reading, writing and commands. Without one for reading
# it is its shell.
TOOLS = {
    "claude": {"read": tool("Read", file_path="{path}"),
               "write": tool("Write", file_path="{path}", content="{content}"),
               "shell": tool("Bash", command="{command}", description="as told")},
    "codex": {"shell": tool("exec_command", cmd="{command}")},
    "gemini": {"read": READ_FILE, "write": WRITE_FILE, "shell": RUN_SHELL},
    "qwen": {"read": READ_FILE, "write": WRITE_FILE, "shell": RUN_SHELL, "branch": tool("enter_worktree", name="harm")},
    "opencode": {"read": tool("read", filePath="{path}"),
                 "write": tool("write", filePath="{path}", content="{content}"),
                 "shell": tool("bash", command="{command}", description="as told")},
    "copilot": {"read": tool("view", path="{path}"), "write": tool("create", path="{path}", file_text="{content}"),
                "shell": tool("bash", command="{command}", description="as told")},
    "pi": {"read": tool("read", path="{path}"), "write": tool("write", path="{path}", content="{content}"),
           "shell": tool("bash", command="{command}")},
}

RESET = 7200		# seconds until a used-up account serves again
# How a used-up account is told: status, body, headers. The words are those of the real services, as
# far as they are public.
LIMITS = {
    "claude": (429, {"type": "error",
                     "error": {"type": "rate_limit_error",
                               "message": "This request would exceed your account's rate limit."}},
               {"anthropic-ratelimit-unified-status": "rejected",
                "anthropic-ratelimit-unified-representative-claim": "five_hour",
                "anthropic-ratelimit-unified-overage-status": "rejected",
                "anthropic-ratelimit-unified-reset": RESET, "x-should-retry": "false"}),
    "codex": (429, {"error": {"type": "usage_limit_reached", "message": "The usage limit has been reached",
                              "plan_type": "plus", "resets_at": RESET}}, {}),
    "gemini": (429, {"error": {
        "code": 429, "status": "RESOURCE_EXHAUSTED",
        "message": "You exceeded your current quota, please check your plan and billing details.",
        "details": [{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [
            {"quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
             "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier", "quotaValue": "250"}]}]}}, {}),
    "copilot": (402, {"error": {"message": "You have no quota", "code": "quota_exceeded"}}, {}),
    # of the OpenAI dialect: nothing is tried again
    None: (402, {"error": {"message": "You exceeded your current quota, please check your plan and billing details.",
                           "type": "insufficient_quota", "code": "insufficient_quota"}}, {}),
}
REFUSED = {"error": {"type": "authentication_error", "code": "invalid_api_key",
                     "message": "Incorrect API key provided"}}
BUSY = {"error": {"type": "requests", "code": "rate_limit_exceeded", "message": "Rate limit reached for requests"}}
BROKEN = {"error": {"type": "server_error", "message": "The server had an error"}}


def texts(content):
    """All texts of a message's content, whatever its dialect."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(texts(part) for part in content)
    if isinstance(content, dict):
        return "\n".join(texts(content[key]) for key in ("text", "content", "output", "parts",
                                                         "functionResponse", "response") if key in content)
    return ""


class Turn:
    """One message of a conversation: who said it, what; result: it is what a tool gave."""

    def __init__(self, role, text, result=False):
        self.role, self.text, self.result = role, text, result


def turns_anthropic(request):
    for message in request.get("messages", []):
        content = message["content"] if isinstance(message["content"],
                                                   list) else [{"type": "text", "text": message["content"]}]
        for part in content:
            yield Turn(message["role"], texts(part), part.get("type") == "tool_result")


def turns_chat(request):
    for message in request.get("messages", []):
        yield Turn(message["role"], texts(message.get("content")), message["role"] == "tool")


def turns_responses(request):
    for item in request.get("input", []):
        yield Turn(item.get("role", ""), texts(item), item.get("type", "").endswith("_output"))


def turns_gemini(request):
    for message in request.get("contents", []):
        for part in message.get("parts", []):
            yield Turn("user" if message.get("role") == "user" else "assistant", texts(part),
                       "functionResponse" in part)


class Script:
    """What the model says next in a conversation."""

    def __init__(self, program, turns, has_tools):
        self.tools, self.has_tools = TOOLS.get(program, {}), has_tools
        asked = [i for i, t in enumerate(turns)
                 if t.role == "user" and not t.result and self.role_of(t.text) is not None]
        said = "\n".join(t.text for t in turns if t.role == "user")
        found = re.search(TASK.format(word=r"(\w+)", directory=r"(\S+)"), said)
        self.word, self.directory = found.groups() if found else (None, None)
        self.role = self.role_of(turns[asked[-1]].text) if asked else None
        self.results = [t.text for t in turns[asked[-1]:] if t.result] if asked else []
        # another prompt of ours stands before: the conversation goes on from there
        self.resumed = len(asked) > 1

    @staticmethod
    def role_of(text):
        if CONTRACT in text:
            return "review"
        if FOLLOW_UP in text:
            return "fix"
        return "implement" if re.search(TASK.format(word=r"\w+", directory=r"\S+"), text) else None

    def command(self, what):
        return self.tools["shell"](command=COMMANDS[what].format(self.directory, SLEEP))

    def file(self, what, name, content=""):
        return self.tools[what](path=f"{self.directory}/{name}", content=content) if what in self.tools else None

    def steps(self):
        """Calls of tools, one a message."""
        if self.word in ("sleep", "outside"):
            return [self.command(self.word)]
        if self.role == "implement":
            return [self.file("write", "work.txt", "one\n")
                    or self.tools["shell"](command=f"echo one > {self.directory}/work.txt")]
        if self.role == "fix":
            return [self.command("fix")]
        return [self.file("read", "work.txt") or self.command("look"),
                self.file("write", "harm-tool.txt", "harm\n") or self.command("harm"),
                self.command("harm"), *([self.tools["branch"]()] if "branch" in self.tools else [])]

    def next(self):
        """(text, None) or (text, (tool, arguments)): the next message."""
        if not self.has_tools or self.role is None:
            return "A scripted task", None	# a title, a summary
        steps = self.steps()
        if len(self.results) < len(steps):
            return "I look first.", steps[len(self.results)]
        if self.role != "review":
            return f"Done as {self.role}.", None
        passed = "two" in self.results[0]
        return "I looked at it.\n\n" + json.dumps({"verdict": "pass" if passed else "drift",
                                                   "followUpPrompt": "Both lines are there."
                                                   if passed else FOLLOW_UP}), None


# ---- how each dialect says it: (event, data); what joins messages of one id joins no two of ours -

def say_anthropic(text, call):
    usage = {"input_tokens": USAGE["input"] - USAGE["cached"],
             "cache_read_input_tokens": USAGE["cached"], "cache_creation_input_tokens": 0,
             "output_tokens": 1}
    yield "message_start", {"message": {"id": f"msg_{time.monotonic_ns()}", "type": "message",
                                        "role": "assistant", "model": "test-model", "content": [],
                                        "stop_reason": None, "stop_sequence": None, "usage": usage}}
    yield "content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}
    yield "content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": text}}
    yield "content_block_stop", {"index": 0}
    if call:
        yield "content_block_start", {"index": 1, "content_block": {"type": "tool_use",
                                                                    "id": f"toolu_{time.monotonic_ns()}",
                                                                    "name": call[0], "input": {}}}
        yield "content_block_delta", {"index": 1, "delta": {"type": "input_json_delta",
                                                            "partial_json": json.dumps(call[1])}}
        yield "content_block_stop", {"index": 1}
    yield "message_delta", {"delta": {"stop_reason": "tool_use" if call else "end_turn",
                                      "stop_sequence": None}, "usage": {"output_tokens": USAGE["output"]}}
    yield "message_stop", {}


def say_chat(text, call):
    base = {"id": f"c{time.monotonic_ns()}", "object": "chat.completion.chunk",
            "created": 1790000000, "model": "test-model"}
    deltas = [({"role": "assistant", "content": text}, None)]
    if call:
        deltas.append(({"tool_calls": [{"index": 0, "id": f"call_{time.monotonic_ns()}", "type": "function",
                                        "function": {"name": call[0], "arguments": json.dumps(call[1])}}]}, None))
    deltas.append(({}, "tool_calls" if call else "stop"))
    for delta, finish in deltas:
        yield None, {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    yield None, {**base, "choices": [], "usage": {
        "prompt_tokens": USAGE["input"], "completion_tokens": USAGE["output"],
        "total_tokens": USAGE["input"] + USAGE["output"],
        "prompt_tokens_details": {"cached_tokens": USAGE["cached"]},
        "completion_tokens_details": {"reasoning_tokens": USAGE["reasoning"]}}}
    yield None, "[DONE]"


def say_responses(text, call):
    now = time.monotonic_ns()
    items = [{"type": "message", "role": "assistant", "id": f"m{now}",
              "content": [{"type": "output_text", "text": text}]}]
    if call:
        items.append({"type": "function_call", "id": f"f{now}", "call_id": f"call_{now}",
                      "name": call[0], "arguments": json.dumps(call[1])})
    yield "response.created", {"response": {"id": f"r{now}"}}
    for item in items:
        yield "response.output_item.done", {"item": item}
    yield "response.completed", {"response": {"id": f"r{now}", "usage": {
        "input_tokens": USAGE["input"], "input_tokens_details": {"cached_tokens": USAGE["cached"]},
        "output_tokens": USAGE["output"],
        "output_tokens_details": {"reasoning_tokens": USAGE["reasoning"]},
        "total_tokens": USAGE["input"] + USAGE["output"]}}}


def say_gemini(text, call):
    usage = {"promptTokenCount": USAGE["input"], "cachedContentTokenCount": USAGE["cached"],
             "candidatesTokenCount": USAGE["output"] - USAGE["reasoning"],
             "thoughtsTokenCount": USAGE["reasoning"], "totalTokenCount": USAGE["input"] + USAGE["output"]}
    parts = [{"text": text}] + ([{"functionCall": {"name": call[0], "args": call[1]}}] if call else [])
    for part in parts:
        yield None, {"candidates": [{"content": {"role": "model", "parts": [part]},
                                     **({"finishReason": "STOP"} if part is parts[-1] else {})}],
                     "usageMetadata": usage, "modelVersion": "test-model"}


# ---- the service ---------------------------------------------------------------------------------

# End of a path: how its requests are read and answered. The members of its events that name them
# are added where the dialect has them.
DIALECTS = (
    (re.compile(r"/messages$"), turns_anthropic, say_anthropic),
    (re.compile(r"/responses$"), turns_responses, say_responses),
    (re.compile(r"/chat/completions$"), turns_chat, say_chat),
    (re.compile(r"enerateContent$"), turns_gemini, say_gemini),
)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def body(self):
        size = int(self.headers.get("content-length") or 0)
        if size or self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(size)
        data = b""
        while (size := int(self.rfile.readline().split(b";")[0], 16)) > 0:
            data += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return data

    def answer(self, status, data, kind="application/json", headers=()):
        data = data if isinstance(data, bytes) else json.dumps(data).encode()
        self.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(len(data)), **dict(headers)}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def do_HEAD(self):
        self.answer(200, b"")

    def do_GET(self):
        self.answer(200, {"object": "list", "data": [{"id": "test-model", "object": "model"}]})

    def do_POST(self):
        try:
            request = json.loads(self.body() or b"{}")
        except ValueError:
            return self.answer(400, {"error": {"message": "not JSON"}})
        path = self.path.split("?")[0]
        program = path.split("/")[1]
        for ending, turns, say in DIALECTS:
            if ending.search(path):
                script = Script(program, list(turns(request)), bool(request.get("tools")))
                self.server.note(program, script, path)
                return self.follow(program, script, say, "stream" in path or request.get("stream"))
        if path.endswith("count_tokens") or path.endswith("countTokens"):
            return self.answer(200, {"input_tokens": USAGE["input"], "totalTokens": USAGE["input"]})
        return self.answer(404, {"error": {"message": "no such path"}})

    def follow(self, program, script, say, stream):
        if script.word == "auth":
            return self.answer(401, REFUSED)
        if script.word == "broken":
            return self.answer(500, BROKEN)
        if script.word == "busy":
            return self.answer(429, BUSY, headers={"retry-after": str(RESET)})
        if script.word == "limit":
            status, body, headers = LIMITS.get(program, LIMITS[None])
            return self.answer(status, self.later(body), headers={k: str(v) for k, v in self.later(headers).items()})
        events = list(say(*script.next()))
        if not stream:
            return self.whole(say, script, events)
        lines = []
        for name, data in events:
            if name is not None:
                lines.append(f"event: {name}")
                data = {"type": name, **data}
            lines += ["data: " + (data if isinstance(data, str) else json.dumps(data)), ""]
        return self.answer(200, "\n".join(lines + [""]).encode(), "text/event-stream")

    def whole(self, say, script, events):
        """An answer that was not asked for as a stream: the small questions beside the work."""
        text = script.next()[0]
        if say is say_gemini:
            return self.answer(200, events[0][1])
        if say is say_anthropic:
            return self.answer(200, {**events[0][1]["message"], "content": [{"type": "text", "text": text}],
                                     "stop_reason": "end_turn"})
        if say is say_chat:
            return self.answer(200,
                               {"id": "c1", "object": "chat.completion", "created": 1,
                                "model": "test-model", "usage": events[-2][1]["usage"],
                                "choices": [{"index": 0, "message": {"role": "assistant", "content": text},
                                             "finish_reason": "stop"}]})
        return self.answer(200, {**events[-1][1]["response"], "output": [events[1][1]["item"]]})

    @staticmethod
    def later(values):
        """A copy in which RESET has become a time."""
        if isinstance(values, dict):
            return {key: Handler.later(value) for key, value in values.items()}
        return int(time.time()) + RESET if values == RESET else values


class Service(http.server.ThreadingHTTPServer):
    """Serves from the moment it is made, on a port of its own, until shutdown()."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock, self.requests = threading.Lock(), []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        pass		# a program that goes away in the middle of an answer

    def address(self, program):
        return f"http://127.0.0.1:{self.server_address[1]}/{program}"

    def note(self, program, script, path):
        with self.lock:
            self.requests.append({"program": program, "role": script.role, "word": script.word,
                                  "resumed": script.resumed, "results": script.results, "path": path})

    def asked(self, program):
        """Requests of a program so far: dicts of role, word, resumed, results."""
        with self.lock:
            return [r for r in self.requests if r["program"] == program]
