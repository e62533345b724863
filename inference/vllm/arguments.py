"""From a model block to vLLM's command line, and what of it can change an answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from inference.huggingface.fingerprint import files_digest
from inference.huggingface.weights import locate_adapter
from leaderflow.core.errors import SpecError, did_you_mean
from leaderflow.core.identity import canonical_json, sha256_hex
from leaderflow.core.types import Json

Dtype = Literal["auto", "float32", "bfloat16", "float16"]

SERVED, ADAPTED = "model", "adapter"
"""The names that requests call the model and its adapter by."""

SPEED_ONLY = frozenset(
    {
        "api_server_count",
        "cpu_offload_gb",
        "disable_log_requests",
        "disable_log_stats",
        "distributed_executor_backend",
        "enable_prefix_caching",
        "enforce_eager",
        "gpu_memory_utilization",
        "kv_cache_memory_bytes",
        "load_format",
        "max_num_batched_tokens",
        "max_num_seqs",
        "swap_space",
        "uvicorn_log_level",
    }
)
"""Engine arguments that change how fast an answer comes, and no more of it than a batch's size does."""

OWN = {
    "model": "path",
    "served_model_name": "nothing: leaderflow sets it",
    "host": "nothing: leaderflow sets it",
    "port": "nothing: leaderflow sets it",
    "dtype": "dtype",
    "quantization": "quantization",
    "max_model_len": "max_seq_len of the model block",
    "tensor_parallel_size": "tensor_parallel_size",
    "pipeline_parallel_size": "pipeline_parallel_size",
    "data_parallel_size": "data_parallel_size",
    "enable_lora": "lora",
    "lora_modules": "lora",
    "generation_config": "nothing: settings come from the request alone",
}
"""Engine arguments that have a place of their own."""

_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""What vLLM takes as ``--max-lora-rank``."""


@dataclass(frozen=True)
class EngineArguments:
    """How vLLM computes a model. Sizes count devices; `extra` are vLLM's own arguments, ``max_num_seqs`` or ``max-num-seqs``."""

    dtype: Dtype
    quantization: str | None = None
    tensor_parallel_size: int = 1
    pipeline_parallel_size: int = 1
    data_parallel_size: int = 1
    lora: str | None = None
    extra: Mapping[str, Json] = field(default_factory=dict)

    def check(self, where: str) -> None:
        """Refuse values that cannot be.

        Raises:
            SpecError: names the key below `where`.
        """
        if self.dtype not in get_args(Dtype):
            raise SpecError(f"unknown dtype {self.dtype!r}{did_you_mean(self.dtype, get_args(Dtype))}", key=f"{where}.dtype")
        for name in ("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size"):
            if not isinstance(getattr(self, name), int) or getattr(self, name) < 1:
                raise SpecError(f"must be a whole number of at least 1, got {getattr(self, name)!r}", key=f"{where}.{name}")
        for name in self.extra:
            if place := OWN.get(_key(name)):
                raise SpecError(f"{name!r} cannot stand here; use {place}", key=f"{where}.engine_args")
        if isinstance(self._taken, bool) or not isinstance(self._taken, int | float) or not 0 < self._taken <= 1:
            raise SpecError(
                f"gpu_memory_utilization must be a number above 0 and up to 1, got {self._taken!r}", key=f"{where}.engine_args"
            )

    @property
    def devices(self) -> int:
        """GPUs of one server."""
        return self.tensor_parallel_size * self.pipeline_parallel_size * self.data_parallel_size

    @property
    def share(self) -> float:
        """The part of a GPU's memory that is taken; all of it by default, because vLLM's own default is above nine tenths."""
        return float(self._taken)

    @property
    def _taken(self) -> Json:
        return {_key(name): value for name, value in self.extra.items()}.get("gpu_memory_utilization", 1.0)

    def server_words(self, folder: Path, max_model_len: int | None) -> list[str]:
        """Return the words that follow vLLM's server, so that it serves the weights in `folder`."""
        modules = {"lora_modules": [f"{ADAPTED}={locate_adapter(self.lora)}"]} if self.lora else {}
        return _words({**self._named(folder, max_model_len), **modules})

    def offline_words(self, folder: Path, max_model_len: int | None) -> list[str]:
        """Return the words that follow `offline_engine`."""
        named = {_key(name): value for name, value in self._named(folder, max_model_len).items() if value is not None}
        return [json.dumps({"engine": named, "lora": str(locate_adapter(self.lora)) if self.lora else None})]

    def _named(self, folder: Path, max_model_len: int | None) -> dict[str, Json]:
        """Return vLLM's arguments by name, null for those that are not given."""
        fixed = {"model": str(folder), "served_model_name": SERVED, "generation_config": "vllm", "dtype": self.dtype}
        sizes = {name: getattr(self, name) for name in ("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size")}
        given = {name: size for name, size in sizes.items() if size > 1}
        given |= {"quantization": self.quantization, "max_model_len": max_model_len}
        if self.lora:
            given |= {"enable_lora": True, "max_lora_rank": _rank(locate_adapter(self.lora))}
        return {**fixed, **given, **self.extra}

    def identity(self, env: Mapping[str, str]) -> dict[str, Json]:
        """Return what can change an answer; the environment's variables count too."""
        extra = {_key(name): value for name, value in self.extra.items() if _key(name) not in SPEED_ONLY}
        parts: dict[str, Json] = {
            "dtype": self.dtype,
            "quantization": self.quantization,
            "lora": files_digest(locate_adapter(self.lora)) if self.lora else None,
            "engine_args": extra,
            "env": {name: value for name, value in env.items() if "LOG" not in name},
        }
        return {name: value for name, value in parts.items() if value}


def identity(files: str, engine: Sequence[str], parts: Mapping[str, Json]) -> str:
    """Return the identity of weights under vLLM: their files, engine and version, and what else changes an answer; never a port."""
    return f"vllm:{sha256_hex(canonical_json({'files': files, 'engine': list(engine), **parts}))[:32]}"


def _key(name: str) -> str:
    return name.removeprefix("--").replace("-", "_")


def _words(arguments: Mapping[str, Json]) -> list[str]:
    """Return ``--name value``, ``--name`` for true, ``--no-name`` for false; null is left out."""
    words: list[str] = []
    for name, value in arguments.items():
        flag = f"--{_key(name).replace('_', '-')}"
        if value is True:
            words.append(flag)
        elif value is False:
            words.append(f"--no-{flag[2:]}")
        elif isinstance(value, list):
            words += [flag, *map(str, value)]
        elif value is not None:
            words += [flag, json.dumps(value) if isinstance(value, dict) else str(value)]
    return words


def _rank(adapter: Path) -> int:
    rank = int(json.loads((adapter / "adapter_config.json").read_text("utf-8")).get("r", _RANKS[0]))
    return next((size for size in _RANKS if size >= rank), _RANKS[-1])
