"""GGUF weights as an ordinary Transformers folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def convert_smollm2(gguf: Path, out: Path) -> None:
    """Write SmolLM2-135M-Instruct from its 4-bit GGUF file as a folder of bf16 safetensors with tokenizer and chat template.

    bf16 rounds by 0.4 %, far below what 4 bits have already lost, and halves the file; every engine that reads the folder in
    fp32 computes with the same numbers. The weights are the 4-bit ones dequantised: scores are not those of the hub's model.
    """
    import torch

    with _quiet():
        tokenizer = _tokenizer(gguf)
        model = _model(gguf, torch.float32).to(torch.bfloat16)
        model.config.rms_norm_eps = 1e-5  # the converter leaves 1e-6 in the configuration, the model was trained with 1e-5
        model.save_pretrained(out)
        tokenizer.save_pretrained(out)
    _make_portable(out / "tokenizer_config.json")


def _tokenizer(gguf: Path) -> Any:
    from tokenizers import pre_tokenizers
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(gguf.parent), gguf_file=gguf.name)
    # The GGUF names the pre-tokenizer `smollm`, which splits digits one by one; the converter forgets that.
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)]
    )
    tokenizer.model_max_length = 8192
    return tokenizer


def _model(gguf: Path, dtype: Any) -> Any:
    from transformers import AutoModelForCausalLM, GgufConfig

    quantization = GgufConfig(dequantize=True)  # what is not dequantised cannot be saved
    return AutoModelForCausalLM.from_pretrained(
        str(gguf.parent), gguf_file=gguf.name, dtype=dtype, quantization_config=quantization
    )


def _make_portable(path: Path) -> None:
    """Name a tokenizer class that every Transformers version knows, and drop what describes the conversion."""
    config = json.loads(path.read_text("utf-8"))
    kept = {name: value for name, value in config.items() if name not in ("backend", "is_local", "local_files_only")}
    path.write_text(json.dumps({**kept, "tokenizer_class": "PreTrainedTokenizerFast"}, indent=2), "utf-8")


def _quiet() -> Any:
    from inference.huggingface.weights import quiet

    return quiet()
