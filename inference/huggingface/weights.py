"""Where weights lie and how they are loaded."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

from inference.huggingface.extra import require
from inference.huggingface.fetch import SOURCES, models_dir
from leaderflow.core.errors import BackendError, SpecError
from leaderflow.core.specs import ModelSpec

_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}

_WEIGHTS = ["*.safetensors", "*.bin", "*.json", "*.jinja", "*.model", "*.txt", "*.tiktoken"]


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep Transformers' progress bars off the terminal: leaderflow shows its own."""
    from transformers.utils import logging as shown_by

    logging: Any = shown_by
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def locate(path: str, revision: str | None = None) -> Path:
    """Return the folder of a model: a folder as written, one fetched by `leaderflow models get`, or a hub id's snapshot.

    Raises:
        BackendError: there is none; names the command that makes it, where there is one.
    """
    for folder in (Path(path).expanduser(), models_dir() / path):
        if folder.is_dir():
            return _with_config(folder)
    name = Path(path).name
    if name in SOURCES and Path(path) in (Path(name), models_dir() / name):
        raise BackendError(f"the model {name} is not on this machine; get it once with: leaderflow models get {name}")
    if path.count("/") == 1 and not path.startswith((".", "~", "/")):
        return _snapshot(path, revision)
    raise BackendError(f"no folder of weights at {path!r}; a small model to begin with: leaderflow models get smollm2-135m")


def _with_config(folder: Path) -> Path:
    if not (folder / "config.json").is_file() and not list(folder.glob("*.gguf")):
        raise BackendError(f"{folder} holds no model: config.json is missing")
    return folder


def _snapshot(repo: str, revision: str | None) -> Path:
    from huggingface_hub import snapshot_download

    offline = os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "on", "yes", "true")
    try:
        return Path(snapshot_download(repo, revision=revision, allow_patterns=_WEIGHTS, local_files_only=offline))
    except Exception as exc:  # the hub's client raises dozens of classes, all with a usable first line
        if offline:
            raise BackendError(f"{repo} is not in the hub's cache on this machine, and offline the hub is not asked") from exc
        raise BackendError(f"cannot get {repo} from the hub: {first_line(exc)}") from exc


def first_line(exc: BaseException) -> str:
    """Return the first line of an error's text, or its class's name."""
    return next(iter(str(exc).strip().splitlines()), type(exc).__name__)


def read_config(folder: Path) -> dict[str, Any]:
    """Return config.json, or an empty mapping for a folder with GGUF files only."""
    file = folder / "config.json"
    try:
        return json.loads(file.read_text("utf-8")) if file.is_file() else {}
    except ValueError as exc:
        raise BackendError(f"{file} is not JSON: {exc}") from exc


def context_length(folder: Path) -> int | None:
    """Return how many tokens the model was made for, or None where its configuration does not say."""
    config = read_config(folder)
    config = config.get("text_config", config)
    return next((int(config[name]) for name in ("max_position_embeddings", "n_positions", "max_seq_len") if config.get(name)), None)


def room(spec: ModelSpec, folder: Path) -> int | None:
    """Return how many tokens a prompt and its answer may have together: the block's `max_seq_len`, else the weights' context.

    Raises:
        SpecError: the block's `max_out_len` leaves none of them to a prompt.
    """
    limit = spec.max_seq_len or context_length(folder)
    if limit and spec.max_out_len and spec.max_out_len >= limit:
        what = "max_seq_len" if spec.max_seq_len else "the context of the weights, which is"
        raise SpecError(f"max_out_len {spec.max_out_len} leaves no room in {what} {limit}", key=f"models.{spec.abbr}")
    return limit


def check_memory(folder: Path, dtype: str, copies: int = 1) -> None:
    """Refuse weights that cannot fit into this machine's memory, before the system kills what tries to load them.

    Raises:
        BackendError: names both sizes.
    """
    needed, memory = copies * weights_bytes(folder, dtype), psutil.virtual_memory().available + psutil.swap_memory().free
    if needed > memory:
        raise BackendError(
            f"the weights in {folder} need {needed / 1e9:.1f} GB of memory in {dtype} and {memory / 1e9:.1f} GB are free; "
            "choose a smaller dtype, quantised weights or a smaller model"
        )


def weights_bytes(folder: Path, dtype: str) -> int:
    """Return how large the weights of a folder are in a dtype; as they are stored for ``auto`` or where nothing tells theirs."""
    files = [*folder.glob("*.safetensors")] or [*folder.glob("*.bin")]
    stored = sum(file.stat().st_size for file in files)
    config = read_config(folder)
    own = _BYTES.get(str(config.get("dtype") or config.get("torch_dtype")))
    return stored * _BYTES[dtype] // own if own and dtype in _BYTES else stored


def load_model(
    folder: Path, dtype: str, device_map: Any = None, *, gguf_file: str | None = None, peft_path: str | None = None
) -> Any:
    """Load weights for inference, as a causal language model or, for an encoder, as its bare body.

    Args:
        folder: config and weights.
        dtype: a torch dtype's name, or ``auto`` for the one the weights are stored in.
        device_map: Transformers' own; by default everything on the GPU where there is one, else on the CPU.
        gguf_file: a GGUF file in the folder, dequantised while loading.
        peft_path: an adapter to merge into the weights.

    Raises:
        BackendError: no such architecture, broken files, or not enough memory.
    """
    import torch
    import transformers

    if device_map is None and not torch.cuda.is_available():
        check_memory(folder, dtype)
    kind: Any = transformers.AutoModelForCausalLM if is_causal(folder) else transformers.AutoModel
    options: dict[str, Any] = {"dtype": dtype if dtype == "auto" else getattr(torch, dtype)}
    options |= {"device_map": device_map} if device_map is not None else {}
    options |= {"gguf_file": gguf_file} if gguf_file else {}
    try:
        with quiet():
            model = kind.from_pretrained(str(folder), **options)
        if peft_path:
            model = _merged(model, peft_path)
        if device_map is None and torch.cuda.is_available():
            model = model.to(torch.device("cuda"))
    except (MemoryError, torch.OutOfMemoryError) as exc:
        raise BackendError(f"{folder} does not fit into memory in {dtype}; set dtype: bfloat16, or device_map: auto") from exc
    except Exception as exc:  # OSError, ValueError, KeyError, SafetensorError, ImportError, by what is wrong with the folder
        raise BackendError(f"cannot load the model in {folder}: {first_line(exc)}") from exc
    return model.eval()


def is_causal(folder: Path) -> bool:
    """Return whether a folder holds a generating model, not an encoder."""
    names = read_config(folder).get("architectures")
    return names is None or any(str(name).endswith(("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")) for name in names)


def _merged(model: Any, peft_path: str) -> Any:
    require("peft")
    from peft import PeftModel

    return PeftModel.from_pretrained(model, str(locate_adapter(peft_path))).merge_and_unload()


def locate_adapter(path: str) -> Path:
    """Return the folder of a PEFT adapter.

    Raises:
        BackendError: it is not there.
    """
    folder = Path(path).expanduser()
    if not (folder / "adapter_config.json").is_file():
        raise BackendError(f"no PEFT adapter at {path!r}: adapter_config.json is missing")
    return folder
