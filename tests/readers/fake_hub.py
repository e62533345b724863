"""A hub with one dataset on loopback: as much of the hub's interface as loading a dataset asks for."""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@contextlib.contextmanager
def fake_hub(name: str, files: Mapping[str, bytes]) -> Iterator[str]:
    """Serve the files of a dataset repository and give the address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            if f"/{name}/tree/" in path:
                self.reply_json(self.listing(path.partition("/tree/")[2].partition("/")[2]))
            elif path.startswith(f"/api/datasets/{name}"):
                siblings = [{"rfilename": file} for file in files]
                self.reply_json({"id": name, "sha": COMMIT, "private": False, "tags": [], "siblings": siblings})
            else:
                self.reply_file(path.partition("/resolve/")[2].partition("/")[2])

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            paths = json.loads(body)["paths"] if body.startswith(b"{") else parse_qs(body.decode()).get("paths", [])
            self.reply_json([entry for entry in self.listing("") if entry["path"] in paths])

        def listing(self, folder: str) -> list[dict[str, Any]]:
            return [
                {"type": "file", "path": path, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
                for path, data in files.items()
                if path.startswith(folder)
            ]

        def reply_json(self, value: Any) -> None:
            self.reply(json.dumps(value).encode(), {"Content-Type": "application/json"})

        def reply_file(self, path: str) -> None:
            if path not in files:
                self.reply(b"", {"X-Error-Code": "EntryNotFound"}, 404)
                return
            self.reply(files[path], {"ETag": f'"{hashlib.sha1(files[path]).hexdigest()}"', "X-Repo-Commit": COMMIT})

        def reply(self, body: bytes, headers: Mapping[str, str], code: int = 200) -> None:
            self.send_response(code)
            for key, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(key, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
