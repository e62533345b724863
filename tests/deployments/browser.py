"""A headless Chromium that fills in forms, through the DevTools protocol."""

from __future__ import annotations

import contextlib
import itertools
import json
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

QUIET = ["gpu", "quic", "background-networking", "component-update", "sync"]

FIELD = """
    (name => {
        let at = [...document.querySelectorAll('label')].find(label => label.textContent.replace(' (Optional)', '') === name);
        while (at && !at.querySelector('textarea, input')) at = at.parentElement;
        return at ? at.querySelector('textarea, input') : null;
    })
"""
"""The entry below a label: the first one, where it is a list."""

FILL = """
    ((entry, text) => {
        Object.getOwnPropertyDescriptor(Object.getPrototypeOf(entry), 'value').set.call(entry, text);
        entry.dispatchEvent(new Event('input', {bubbles: true}));
    })
"""
"""Type into an entry so that React hears of it."""


class Browser:
    """One page."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket, self._ids = socket, itertools.count(1)

    def open(self, address: str) -> None:
        self._call("Page.navigate", url=address)

    def run(self, script: str) -> Any:
        """Return the value of an expression in the page."""
        found = self._call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, script: str, seconds: float = 60) -> None:
        """Wait until an expression holds."""
        deadline = time.monotonic() + seconds
        while not self.run(script):
            assert time.monotonic() < deadline, f"never true: {script}\n{self.run('document.body.innerText')}"
            time.sleep(0.2)

    def fill(self, label: str, text: str) -> None:
        """Write into the form's entry of that name."""
        self.until(f"!!{FIELD}({json.dumps(label)})")
        self.run(f"{FILL}({FIELD}({json.dumps(label)}), {json.dumps(text)})")
        self.until(f"{FIELD}({json.dumps(label)}).value === {json.dumps(text)}")

    def press(self, button: str) -> None:
        """Press the button of that name."""
        found = f"[...document.querySelectorAll('button')].find(button => button.textContent === {json.dumps(button)})"
        self.until(f"!!{found}")
        self.run(f"{found}.click()")

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._ids)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while (answer := json.loads(self._socket.recv(timeout=60))).get("id") != number:
            pass
        found: dict[str, Any] = answer["result"]
        return found


@contextlib.contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """Run Chromium on a page of its own."""
    flags = ["--headless", "--no-sandbox", "--no-first-run", f"--user-data-dir={profile}", "--remote-debugging-port=0"]
    command = ["chromium", *flags, *(f"--disable-{name}" for name in QUIET), "about:blank"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with connect(_page(profile), max_size=None) as socket:
            yield Browser(socket)
    finally:
        process.terminate()
        process.wait()


def _page(profile: Path) -> str:
    """Return the address of the page's debugger, once there is one."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError, StopIteration):
            port = (profile / "DevToolsActivePort").read_text().split()[0]
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=5) as answer:
                return next(str(page["webSocketDebuggerUrl"]) for page in json.load(answer) if page["type"] == "page")
        time.sleep(0.2)
    raise AssertionError("chromium did not start")
