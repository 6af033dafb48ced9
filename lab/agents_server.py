"""A canned model for agents, on loopback: it answers by rule, and keeps what it was sent.

A prompt with PUSH in it is answered with a call of the shell tool, ``git push``; what came of
that, and any other prompt, with a line of text. Both vendors' ways of streaming, no more of them
than the two programs need.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PUSH = "git push origin HEAD"
SAID = "the canned model says: noted"


class Model:
    """The server, and every request that it had: the path and the document."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                path = self.path.partition("?")[0]
                try:
                    asked = json.loads(body)
                except ValueError:
                    return self._answer(404, "application/json", b"{}")
                model.asked.append((path, asked))
                answer = {"/v1/messages": messages, "/v1/responses": responses}.get(path)
                if answer is None:
                    return self._answer(404, "application/json", b'{"error": {"type": "none"}}')
                lines = [
                    f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
                    for event in answer(asked)
                ]
                return self._answer(200, "text/event-stream", "".join(lines).encode())

            def do_GET(self) -> None:
                self._answer(404, "application/json", b"{}")

            def _answer(self, code: int, kind: str, body: bytes) -> None:
                self.send_response(code)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def texts(self, path: str) -> list[str]:
        """Return what was asked at ``path``, each as one text."""
        return [
            json.dumps(asked, ensure_ascii=False) for where, asked in self.asked if where == path
        ]


def wants_push(items: list[dict[str, Any]]) -> bool:
    """Say whether the last word of the person asks for a push that was not tried yet."""
    for item in reversed(items):
        spelled = json.dumps(item)
        if "tool_result" in spelled or "call_output" in spelled:
            return False
        if item.get("role") == "user" and "PUSH" in spelled:
            return True
        if item.get("role") == "assistant":
            return False
    return False


def messages(asked: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the events of an answer in Claude's manner."""
    tools = {tool["name"] for tool in asked.get("tools", [])}
    push = "Bash" in tools and wants_push(asked["messages"])
    block: dict[str, Any] = {"type": "text", "text": ""}
    delta: dict[str, Any] = {"type": "text_delta", "text": SAID}
    if push:
        block = {"type": "tool_use", "id": "toolu_01canned", "name": "Bash", "input": {}}
        words = json.dumps({"command": PUSH, "description": "push"})
        delta = {"type": "input_json_delta", "partial_json": words}
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {
        "id": "msg_01canned", "type": "message", "role": "assistant", "model": asked["model"],
        "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    end = {"stop_reason": "tool_use" if push else "end_turn", "stop_sequence": None}
    return [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]


def responses(asked: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the events of an answer in Codex' manner."""
    item: dict[str, Any] = {
        "type": "message", "role": "assistant", "id": "msg_canned",
        "content": [{"type": "output_text", "text": SAID}],
    }  # fmt: skip
    if wants_push(asked["input"]):
        item = {
            "type": "function_call", "id": "fc_canned", "call_id": "call_canned",
            "name": "exec_command", "arguments": json.dumps({"cmd": PUSH}),
        }  # fmt: skip
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return [
        {"type": "response.created", "response": {"id": "resp_canned"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "resp_canned", "usage": usage}},
    ]
