"""What model code must not be able to do. Without a sandbox every one of these tests fails."""

from __future__ import annotations

import os
import socket
import threading
import time
from pathlib import Path

import pytest

from leaderflow.core.sandbox import Limits, Outcome, Program, run
from leaderflow.core.sandbox.boxes import best

SHORT = Limits(seconds=1.0, wall=3.0)


@pytest.fixture(autouse=True)
def _real_box() -> None:
    """Bubblewrap must be there: a machine without it has not tested anything."""
    box = best()
    assert box is not None
    assert box.name == "bubblewrap"


def script(source: str, limits: Limits = SHORT, language: str = "python") -> Outcome:
    return run(Program(source, language), limits)


def processes() -> int:
    """Processes of this machine that still run the code of a test."""
    found = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            found += b"escape-marker" in (folder / "cmdline").read_bytes()
        except OSError:
            continue
    return found


def test_fork_bomb_ends() -> None:
    source = (
        "import os\ntry:\n    while True: os.fork()\nexcept BlockingIOError:\n    print('no more', flush=True)\n    os._exit(3)"
    )
    began = time.monotonic()
    outcome = script(source)
    assert "no more" in outcome.stdout
    assert not outcome.passed
    assert time.monotonic() - began < 60


def test_processes_are_counted_for_one_sandbox_alone() -> None:
    assert script("import threading\nfor _ in range(8): threading.Thread(target=lambda: None).start()").passed
    many = "import threading, time\nfor _ in range(64): threading.Thread(target=time.sleep, args=(9,), daemon=True).start()"
    assert not script(many).passed


def test_memory_bomb_ends() -> None:
    outcome = script("x = 'a' * (1 << 34)")
    assert outcome.status == "memory"


def test_shared_memory_is_limited_too() -> None:
    outcome = script("import mmap\nm = mmap.mmap(-1, 1 << 32)\nprint('got it')")
    assert "got it" not in outcome.stdout


def test_disk_is_limited() -> None:
    source = "for i in range(99):\n    open(f'/tmp/{i}', 'wb').write(b'x' * (1 << 23))\nprint('wrote it all')"
    assert "wrote it all" not in script(source, Limits(seconds=5, wall=10)).stdout
    assert not script("open('/dev/shm/x', 'wb').write(b'x' * (1 << 25))").passed


def test_endless_output_is_cut() -> None:
    outcome = script("while True: print('x' * 10000)", Limits(seconds=1, wall=3, output=1000))
    assert outcome.status == "timeout"
    assert len(outcome.stdout) == 1000


def test_sleep_ends_at_the_wall_clock() -> None:
    began = time.monotonic()
    assert script("import time\ntime.sleep(600)", Limits(wall=1.0)).status == "timeout"
    assert time.monotonic() - began < 30


def test_signals_do_not_buy_time() -> None:
    source = (
        "import signal\n"
        "for s in range(1, 65):\n"
        "    try: signal.signal(s, signal.SIG_IGN)\n"
        "    except (OSError, ValueError): pass\n"
        "while True: pass"
    )
    assert script(source).status == "timeout"


def test_signals_reach_nobody_outside() -> None:
    victim = os.getpid()
    source = (
        f"import os\nfor pid in ({victim}, {os.getppid()}):\n    try: os.kill(pid, 0); print('seen', pid)\n    except OSError: pass"
    )
    assert "seen" not in script(source).stdout


def test_nothing_outlives_the_run() -> None:
    source = (
        "import subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)', 'escape-marker'], start_new_session=True)\n"
        "print('left one')"
    )
    outcome = script(source)
    assert "left one" in outcome.stdout
    for _ in range(50):  # the kernel takes a moment to empty a namespace
        if processes() == 0:
            return
        time.sleep(0.1)
    raise AssertionError("a process lives on")


def test_environment_of_the_parent_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-you")
    source = (
        "import glob, os\n"
        "print(dict(os.environ))\n"
        "for path in glob.glob('/proc/[0-9]*/environ') + ['/proc/1/environ', f'/proc/{os.getppid()}/environ']:\n"
        "    try: print(open(path).read())\n"
        "    except OSError as exc: print(type(exc).__name__)"
    )
    outcome = script(source)
    assert "PATH" in outcome.stdout
    assert "sk-not-for-you" not in outcome.stdout


def test_processes_outside_cannot_be_seen() -> None:
    outcome = script("import os\nprint(sorted(int(p) for p in os.listdir('/proc') if p.isdigit()))")
    assert outcome.passed
    assert max(eval(outcome.stdout)) < 20


def test_key_files_cannot_be_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("sk-not-for-you")
    names = [str(secret), "/etc/shadow", "/etc/passwd", str(Path.home() / ".bashrc"), str(Path.home() / ".ssh")]
    source = f"import os\nfor name in {names!r}:\n    print(os.path.exists(name))"
    assert script(source).stdout.split() == ["False"] * len(names)


def test_nothing_can_be_written_outside(tmp_path: Path) -> None:
    target = tmp_path / "written"
    places = [str(target), "/usr/escaped", "/etc/escaped", "/escaped", "/dev/escaped", str(Path(__file__).parent / "escaped")]
    source = f"for place in {places!r}:\n    try: open(place, 'w').write('x'); print('wrote', place)\n    except OSError: pass"
    assert "wrote" not in script(source).stdout
    assert not target.exists()
    assert not any(Path(place).exists() for place in places)


def test_symlinks_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("sk-not-for-you")
    source = (
        f"import os\nos.symlink({str(tmp_path / 'secret')!r}, 'link')\nos.symlink('/proc/1/root', 'up')\n"
        "for path in ('link', 'up/etc/shadow', '/proc/self/root/../etc/shadow', '/proc/self/cwd/../../etc/shadow'):\n"
        "    try: print(open(path).read())\n"
        "    except OSError as exc: print(type(exc).__name__)"
    )
    outcome = script(source)
    assert outcome.stdout.split() == ["FileNotFoundError", "PermissionError", "FileNotFoundError", "FileNotFoundError"] or (
        "sk-" not in outcome.stdout and "root:" not in outcome.stdout
    )


def test_sockets_reach_neither_loopback_nor_the_world() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        reached = threading.Event()

        def listen() -> None:
            try:
                server.accept()
            except TimeoutError:
                return
            reached.set()

        listener = threading.Thread(target=listen)
        listener.start()
        port = server.getsockname()[1]
        source = (
            "import socket\n"
            f"for place in (('127.0.0.1', {port}), ('1.1.1.1', 53), ('::1', {port})):\n"
            "    try: socket.create_connection(place, 1); print('connected', place)\n"
            "    except OSError as exc: print(type(exc).__name__)"
        )
        outcome = script(source)
        listener.join()
    assert outcome.passed
    assert "connected" not in outcome.stdout
    assert not reached.is_set()


def test_abstract_unix_sockets_are_apart() -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0leaderflow-escape-test")
        server.listen()
        outcome = script("import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('\\0leaderflow-escape-test')")
    assert not outcome.passed


def test_rights_are_gone() -> None:
    source = (
        "import ctypes, os\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "print(libc.mount(b'none', b'/tmp', b'tmpfs', 0, None), libc.chroot(b'/tmp'), libc.sethostname(b'x', 1))\n"
        "try: os.setuid(0); print('root')\n"
        "except OSError: print('no root')"
    )
    if os.geteuid() == 0:
        assert script(source).stdout.split() == ["-1", "-1", "-1", "no", "root"]
    else:
        assert script(source).stdout.split()[:3] == ["-1", "-1", "-1"]


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("bash", "(:|:)& cat /proc/*/environ; sleep 60"),
        ("javascript", "require('fs').writeFileSync('/usr/escaped', 'x')"),
        ("cpp", '#include <cstdlib>\n#include <fstream>\nint main() { std::ofstream f("/usr/escaped"); return f ? 0 : 1; }'),
    ],
)
def test_other_languages_are_in_the_same_box(language: str, source: str) -> None:
    assert not script(source, Limits(seconds=10, wall=20) if language == "cpp" else SHORT, language).passed
    assert not Path("/usr/escaped").exists()


def test_a_program_that_closes_its_output_still_ends() -> None:
    outcome = script("import os, time\nos.close(1)\nos.close(2)\ntime.sleep(60)", Limits(wall=1.5))
    assert outcome.status == "timeout"
