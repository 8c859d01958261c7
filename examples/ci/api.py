"""A small GitHub and GitLab on loopback, for try.sh: comments of one pull request, in a file of JSON lines.

    api.py FOLDER      prints the port; FOLDER has `comments` (one JSON a line), `pull`, `zip` and gets `requests`
"""

import json
import pathlib
import re
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

folder = pathlib.Path(sys.argv[1])
BOT = "github-actions[bot]"


def comments():
    file = folder / "comments"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def keep(all_):
    (folder / "comments").write_text("".join(json.dumps(one) + "\n" for one in all_))


class Api(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, value, status=200):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle_any(self):
        path, _, query = self.path.partition("?")
        with (folder / "requests").open("a") as log:
            log.write(f"{self.command} {self.path}\n")
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        token = self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN")
        if token not in ("Bearer secret-token", "secret-token"):
            return self.answer({"message": "Bad credentials"}, 401)
        if path == "/user":
            return self.answer({"username": BOT})
        if path.endswith("/pulls/7"):
            return self.answer((folder / "pull").read_bytes())
        if path.endswith("/artifacts"):
            size = (folder / "zip").stat().st_size
            return self.answer({"artifacts": [{"id": 3, "size_in_bytes": size}]})
        if path.endswith("/artifacts/3/zip"):
            return self.answer((folder / "zip").read_bytes())
        if re.search(r"/(issues|merge_requests)/7/(comments|notes)$", path):
            if self.command == "POST":
                all_ = comments()
                user = {"login": BOT, "username": BOT}
                all_.append({"id": len(all_) + 1, "user": user, "author": user, **json.loads(sent)})
                keep(all_)
                return self.answer({}, 201)
            page = int(re.search(r"\bpage=(\d+)$", query)[1])
            return self.answer(comments()[100 * (page - 1) : 100 * page])
        found = re.search(r"/(?:comments|notes)/(\d+)$", path)
        if found and self.command in ("PATCH", "PUT"):
            all_ = comments()
            for one in all_:
                if one["id"] == int(found[1]):
                    one.update(json.loads(sent))
            keep(all_)
            return self.answer({})
        return self.answer({"message": "Not Found"}, 404)

    do_GET = do_POST = do_PATCH = do_PUT = handle_any


server = HTTPServer(("127.0.0.1", 0), Api)
print(server.server_port, flush=True)
server.serve_forever()
