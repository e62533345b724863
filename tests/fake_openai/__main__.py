"""``python -m tests.fake_openai --port 0 --latency 0.2``: prints its base URL and serves until it is ended."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from tests.fake_openai.script import Script
from tests.fake_openai.server import serve


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fake_openai")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--script", type=Path, help="a JSON file with the fields of Script")
    args = parser.parse_args()
    data = json.loads(args.script.read_text()) if args.script else {}
    script = Script.of({"latency": args.latency, **data})
    serve(script, args.port, lambda port: print(f"http://127.0.0.1:{port}/v1", flush=True))


if __name__ == "__main__":
    main()
