"""An MCP server on stdio with four tools. Each call adds its argument to the file that the command line names."""

import json
import sys

ARGUMENT = {"type": "object", "properties": {"name": {"type": "string"}, "env": {"type": "string"}}, "required": ["name"]}
TOOLS = [
    {"name": name, "description": f"Makes a note: {name}", "inputSchema": ARGUMENT}
    for name in ("note-add", "note-drop", "note-send", "note-keep")
]


def result(method, parameters, notes):
    """Returns the result of a request, or None for a method that this server lacks."""
    if method == "initialize":
        version = parameters.get("protocolVersion", "2025-06-18")
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "notes", "version": "1"}}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        with open(notes, "a", encoding="utf-8") as file:
            file.write(f"{parameters['name']} {parameters['arguments']['name']}\n")
        return {"content": [{"type": "text", "text": "noted"}]}
    return None


def main(notes):
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        answer = result(request["method"], request.get("params") or {}, notes)
        body = {"error": {"code": -32601, "message": "no such method"}} if answer is None else {"result": answer}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"]} | body), flush=True)


main(sys.argv[1])
