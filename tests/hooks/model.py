"""A model on loopback for agents' clients: it asks for planned tool calls and keeps the answers that it is given.

It speaks Anthropic's Messages, OpenAI's Responses and Chat Completions, and Gemini's generateContent, each as a stream or whole.

The next call follows from the number of results in the request, so a request that a client repeats gets the same answer. Requests
without tools, such as for a title or a summary, get a text and count for nothing.
"""

import gzip
import json
import threading
import traceback
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY_BYTES_MAX = 64 << 20
REQUESTS_MAX = 2000
IDLE_S_MAX = 60

# A request without these limits in it would make a client shorten its conversation.
USAGE = 10


@dataclass
class Call:
    """A tool call that the model asks for; `arguments` is a text only for tools that take free text."""

    tool: str
    arguments: object
    namespace: str | None = None


@dataclass
class Told:
    """A request of the client, in the same words for each protocol."""

    results: list[str] = field(default_factory=list)
    tools: dict[str, list[str]] = field(default_factory=dict)
    # Everything else that the model was told, for texts that reach it beside a result.
    texts: list[str] = field(default_factory=list)


class Model:
    """Serves one session of a client. `ask` gets each request and returns the next call, or None at the end of the plan."""

    def __init__(self, ask, is_main=lambda told: bool(told.tools)):
        self.ask = ask
        self.is_main = is_main
        self.lock = threading.Lock()
        self.requests = 0
        self.paths = []
        # Requests for other hosts: this server is also the proxy of the client, and refuses.
        self.outside = []
        self.tools = {}
        self.problems = []
        handler = type("Handler", (Handler,), {"model": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def next_call(self, told):
        """Returns the number of the next call and the call."""
        if not self.is_main(told):
            return 0, None
        with self.lock:
            self.tools.update(told.tools)
            try:
                return len(told.results), self.ask(told)
            except Exception:  # A fault of the check ends the session, and is reported with it.
                self.problems.append(traceback.format_exc())
                return len(told.results), None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_S_MAX
    model: Model

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.note()
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        self.note()
        if "models" in self.path:
            return self.answer({"object": "list", "data": [{"id": "mock", "object": "model"}], "models": []})
        self.answer({})

    def do_CONNECT(self):
        with self.model.lock:
            self.model.outside.append(self.path)
        self.answer({"error": {"message": "no host but this one"}}, 403)
        self.close_connection = True

    def do_POST(self):
        self.note()
        body = self.body()
        if body is None:
            return
        path = self.path.split("?")[0]
        if "count_tokens" in path:
            return self.answer({"input_tokens": USAGE})
        if "countTokens" in path:
            return self.answer({"totalTokens": USAGE})
        for end, protocol in PROTOCOLS.items():
            if path.endswith(end):
                return self.converse(protocol, body, "stream" in path or body.get("stream") is True)
        self.answer({})

    def converse(self, protocol, body, stream):
        number, call = self.model.next_call(protocol.told(body))
        if stream:
            self.events(protocol.stream(body, number, call))
        else:
            self.answer(protocol.whole(body, number, call))

    def note(self):
        with self.model.lock:
            self.model.requests += 1
            if self.model.requests <= REQUESTS_MAX:
                self.model.paths.append(f"{self.command} {self.path}")
                return
        raise ConnectionAbortedError("more requests than any plan needs")

    def body(self):
        """Returns the decoded JSON body; a body that is not understood is a problem of the session, and gets a 400."""
        try:
            data = self.chunks() if self.headers.get("Transfer-Encoding") == "chunked" else self.rest()
            encoding = self.headers.get("Content-Encoding", "identity")
            if encoding == "gzip":
                data = gzip.decompress(data)
            elif encoding != "identity":
                raise ValueError(f"content encoding {encoding}")
            value = json.loads(data or b"{}")
            if not isinstance(value, (dict, list)):
                raise ValueError("neither an object nor a list")
            return value if isinstance(value, dict) else {}
        except ValueError as error:
            self.model.problems.append(f"{self.path}: {error}")
            self.answer({"error": {"message": str(error)}}, 400)
            return None

    def rest(self):
        length = int(self.headers.get("Content-Length") or 0)
        if length > BODY_BYTES_MAX:
            raise ValueError("too large")
        return self.rfile.read(length)

    def chunks(self):
        data = b""
        while size := int(self.rfile.readline(64).split(b";")[0], 16):
            if len(data) + size > BODY_BYTES_MAX:
                raise ValueError("too large")
            data += self.rfile.read(size)
            self.rfile.readline(64)
        self.rfile.readline(64)
        return data

    def answer(self, value, status=200):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def events(self, events):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for name, data in events:
            head = f"event: {name}\n" if name else ""
            text = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write(f"{head}data: {text}\n\n".encode())
        self.wfile.flush()
        self.close_connection = True


def flat(content):
    """Returns all texts of a content: a text, or a list of parts of any protocol."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return flat(content.get("text") or content.get("content") or content.get("output") or "")
    if isinstance(content, list):
        return "\n".join(flat(part) for part in content)
    return ""


def properties(schema):
    return list((schema or {}).get("properties") or {})


class Messages:
    """Anthropic's Messages."""

    @staticmethod
    def told(body):
        told = Told(tools={tool["name"]: properties(tool.get("input_schema")) for tool in body.get("tools") or [] if "name" in tool})
        told.texts.append(flat(body.get("system")))
        for message in body.get("messages") or []:
            content = message.get("content")
            for part in content if isinstance(content, list) else [content]:
                if isinstance(part, dict) and part.get("type") == "tool_result":
                    told.results.append(flat(part.get("content")))
                elif message.get("role") != "assistant":
                    told.texts.append(flat(part))
        return told

    @staticmethod
    def blocks(number, call):
        if call is None:
            return "end_turn", {"type": "text", "text": "done"}
        return "tool_use", {"type": "tool_use", "id": f"toolu_{number:04}", "name": call.tool, "input": call.arguments}

    @classmethod
    def whole(cls, body, number, call):
        stop, block = cls.blocks(number, call)
        return cls.message(body) | {"content": [block], "stop_reason": stop}

    @staticmethod
    def message(body):
        usage = {"input_tokens": USAGE, "output_tokens": USAGE, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
        return {
            "id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model", "mock"), "content": [],
            "stop_reason": None, "stop_sequence": None, "usage": usage,
        }  # fmt: skip

    @classmethod
    def stream(cls, body, number, call):
        stop, block = cls.blocks(number, call)
        if call is None:
            start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            start, delta = block | {"input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        for event in (
            {"type": "message_start", "message": cls.message(body)},
            {"type": "content_block_start", "index": 0, "content_block": start},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": USAGE}},
            {"type": "message_stop"},
        ):
            yield event["type"], event


class Responses:
    """OpenAI's Responses."""

    @staticmethod
    def told(body):
        told = Told(texts=[flat(body.get("instructions"))])
        # Some models get their tools in the conversation.
        added = [tool for item in body.get("input") or [] for tool in item.get("tools") or []]
        for tool in (body.get("tools") or []) + added:
            name = tool.get("name") or tool.get("type")
            if tool.get("type") == "namespace":
                for inner in tool.get("tools") or []:
                    told.tools[f"{name}/{inner.get('name')}"] = properties(inner.get("parameters"))
            else:
                told.tools[name] = properties(tool.get("parameters"))
        for item in body.get("input") or []:
            if str(item.get("type")).endswith("_call_output"):
                told.results.append(flat(item.get("output")))
            elif item.get("role") != "assistant":
                told.texts.append(flat(item.get("content")))
        return told

    @staticmethod
    def item(number, call):
        if call is None:
            text = {"type": "output_text", "text": "done", "annotations": []}
            return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [text]}
        item = {"call_id": f"call_{number:04}", "name": call.tool, "status": "completed"}
        if isinstance(call.arguments, str):
            return item | {"type": "custom_tool_call", "id": f"ctc_{number}", "input": call.arguments}
        item |= {"type": "function_call", "id": f"fc_{number}", "arguments": json.dumps(call.arguments)}
        return item | {"namespace": call.namespace} if call.namespace else item

    @classmethod
    def whole(cls, body, number, call):
        usage = {
            "input_tokens": USAGE, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": USAGE,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2 * USAGE,
        }  # fmt: skip
        return {
            "id": f"resp_{number}", "object": "response", "status": "completed", "model": body.get("model", "mock"),
            "output": [cls.item(number, call)], "usage": usage,
        }  # fmt: skip

    @classmethod
    def stream(cls, body, number, call):
        response = cls.whole(body, number, call)
        for event in (
            {"type": "response.created", "response": {"id": response["id"]}},
            {"type": "response.output_item.done", "output_index": 0, "item": response["output"][0]},
            {"type": "response.completed", "response": response},
        ):
            yield event["type"], event


class Chat:
    """OpenAI's Chat Completions."""

    @staticmethod
    def told(body):
        functions = [tool.get("function") or tool.get("custom") or {"name": tool.get("type")} for tool in body.get("tools") or []]
        told = Told(tools={function["name"]: properties(function.get("parameters")) for function in functions})
        for message in body.get("messages") or []:
            if message.get("role") == "tool":
                told.results.append(flat(message.get("content")))
            elif message.get("role") != "assistant":
                told.texts.append(flat(message.get("content")))
        return told

    @staticmethod
    def message(number, call):
        if call is None:
            return "stop", {"role": "assistant", "content": "done"}
        function = {"name": call.tool, "arguments": json.dumps(call.arguments)}
        return "tool_calls", {
            "role": "assistant", "content": None,
            "tool_calls": [{"index": 0, "id": f"call_{number:04}", "type": "function", "function": function}],
        }  # fmt: skip

    @staticmethod
    def choice(body, number, kind, choice):
        usage = {"prompt_tokens": USAGE, "completion_tokens": USAGE, "total_tokens": 2 * USAGE}
        return {
            "id": f"chat_{number}", "object": kind, "created": 1, "model": body.get("model", "mock"),
            "choices": [{"index": 0} | choice], "usage": usage,
        }  # fmt: skip

    @classmethod
    def whole(cls, body, number, call):
        reason, message = cls.message(number, call)
        return cls.choice(body, number, "chat.completion", {"message": message, "finish_reason": reason})

    @classmethod
    def stream(cls, body, number, call):
        reason, message = cls.message(number, call)
        for choice in ({"delta": message, "finish_reason": None}, {"delta": {}, "finish_reason": reason}):
            yield None, cls.choice(body, number, "chat.completion.chunk", choice)
        yield None, "[DONE]"


class Gemini:
    """Gemini's generateContent."""

    @staticmethod
    def told(body):
        told = Told(texts=[flat((body.get("systemInstruction") or {}).get("parts"))])
        for group in body.get("tools") or []:
            for function in group.get("functionDeclarations") or []:
                told.tools[function["name"]] = properties(function.get("parametersJsonSchema") or function.get("parameters"))
        for content in body.get("contents") or []:
            for part in content.get("parts") or []:
                if "functionResponse" in part:
                    told.results.append(json.dumps(part["functionResponse"].get("response"), ensure_ascii=False))
                elif content.get("role") != "model":
                    told.texts.append(flat(part))
        return told

    @staticmethod
    def whole(_body, _number, call):
        part = {"text": "done"} if call is None else {"functionCall": {"name": call.tool, "args": call.arguments}}
        return {
            "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": USAGE, "candidatesTokenCount": USAGE, "totalTokenCount": 2 * USAGE},
            "modelVersion": "mock",
        }

    @classmethod
    def stream(cls, body, number, call):
        yield None, cls.whole(body, number, call)


# By the end of the path.
PROTOCOLS = {
    "/messages": Messages,
    "/responses": Responses,
    "/chat/completions": Chat,
    ":generateContent": Gemini,
    ":streamGenerateContent": Gemini,
}
