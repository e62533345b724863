"""The vocabulary of OpenCompass configurations as data: one line a word, and what leaderflow does instead where it differs."""

from __future__ import annotations

import re
from collections.abc import Mapping

from leaderflow.core.registry import Kind

KIND_OF_KEY: Mapping[str, Kind] = {
    "prompt_template": "template",
    "ice_template": "template",
    "input_template": "template",
    "output_template": "template",
    "retriever": "retriever",
    "inferencer": "inferencer",
    "evaluator": "evaluator",
    "rule_evaluator": "evaluator",
    "llm_evaluator": "evaluator",
    "pred_postprocessor": "postprocessor",
    "dataset_postprocessor": "postprocessor",
    "dict_postprocessor": "postprocessor",
    "model_postprocessor": "postprocessor",
    "judge_cfg": "model",
}
"""Key → what the mapping below it describes, wherever it stands."""

IGNORED: Mapping[str, Mapping[str, str]] = {
    "dataset": {
        "num_gpus": "",
        "summarizer": "the leaderboard and the reports show every metric; `summarizer` of a dataset is not needed",
    },
    "eval_cfg": {
        "num_gpus": "",
        "k": "",
        "dump_details": "every score is kept with its details",
        "dump_eval_details": "every score is kept with its details",
        "ds_split": "",
        "ds_column": "",
    },
    "inferencer": {
        "save_every": "every answer is stored as it comes",
        "batch_size": "the model's batch_size decides how much is in flight",
        "max_seq_len": "the model's max_seq_len decides when examples are dropped",
        "output_json_filepath": "results lie in the store",
        "output_json_filename": "results lie in the store",
        "dump_timer": "every answer is stored with its latency",
        "fix_id_list": "the retriever's fix_id_list decides",
        "labels": "",
        "do_sample": "temperature decides whether answers are sampled",
        "max_out_len": "",
    },
    "evaluator": {"dataset_cfg": ""},
    "reader_cfg": {"output_template": "", "ds_size": "", "dataset": ""},
    "model": {
        "run_cfg": "run_cfg is not needed: leaderflow runs on this machine, or where its Prefect worker is",
        "num_gpus": "run_cfg is not needed: leaderflow runs on this machine, or where its Prefect worker is",
        "num_procs": "run_cfg is not needed: leaderflow runs on this machine, or where its Prefect worker is",
        "verbose": "",
        "rpm_verbose": "",
        "batch_padding": "rows are batched by length",
        "tokenizer_kwargs": "the tokenizer is loaded as its own files say",
        "tokenizer_only": "",
        "extract_pred_after_decode": "",
        "mode": "a prompt that does not fit is reported, never cut",
        "max_workers": "batch_size is the number of requests in flight",
        "concurrency": "batch_size is the number of requests in flight",
        "think_tag": "reasoning is split from the answer by itself",
        "openai_proxy_url": "the usual variables (HTTPS_PROXY) name a proxy",
        "org": "",
        "sync_rank": "",
        "backend": "",
        "stream": "answers are stored whole",
        "stream_chunk_size": "answers are stored whole",
        "pad_token_id": "the tokenizer's own files decide",
        "lora_path": "",
        "with_visual": "",
        "model_type": "",
    },
}
"""Block → key that is not carried over → what to say of it; an empty word is not worth a line."""

SPLIT_AND_RUN = {
    "partitioner": "shards are cut by leaderflow itself (`shard_size`, `--shard-size`)",
    "runner": "tasks run on this machine, or on a Prefect worker or Ray cluster; `batch_size` of a model sets what is in flight",
}
"""What is said of the parts of `infer` and `eval` blocks."""

TOP = {
    "work_dir": "results go to the store (LEADERFLOW_STORE)",
}
"""Variables that are answered with a word."""

MODELS: Mapping[str, str] = {
    "OpenAISDK": "OpenAISDK",
    "OpenAI": "OpenAISDK",
    "OpenAISDKStreaming": "OpenAISDK",
    "OpenAISDKRollout": "OpenAISDK",
    "OpenAIAllesAPIN": "OpenAISDK",
    "DeepseekAPI": "OpenAISDK",
    "LmdeployAPI": "OpenAISDK",
    "HuggingFaceBaseModel": "HuggingFaceBaseModel",
    "HuggingFaceCausalLM": "HuggingFaceBaseModel",
    "HuggingFace": "HuggingFaceBaseModel",
    "ModelScope": "HuggingFaceBaseModel",
    "ModelScopeCausalLM": "HuggingFaceBaseModel",
    "HuggingFacewithChatTemplate": "HuggingFacewithChatTemplate",
    "HuggingFaceChatGLM3": "HuggingFacewithChatTemplate",
    "VLLM": "VLLM",
    "VLLMwithChatTemplate": "VLLMwithChatTemplate",
    "TurboMindModel": "VLLM",
    "TurboMindModelwithChatTemplate": "VLLMwithChatTemplate",
    "LmdeployPytorchModel": "VLLM",
    "Scripted": "Scripted",
}
"""Model class → ours."""

SERVED_BY_VLLM = frozenset({"TurboMindModel", "TurboMindModelwithChatTemplate", "LmdeployPytorchModel"})

MODEL_FIELDS: Mapping[str, str] = {
    "retry": "retries",
    "tokenizer_path": "tokenizer",
    "max_completion_tokens": "max_out_len",
    "url": "openai_api_base",
}
"""Their key of a model → ours, where the value stays as it is."""

SAMPLING: Mapping[str, str] = {
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "seed": "seed",
    "random_seed": "seed",
}
"""Keys of a model, of `generation_kwargs` and of `gen_config` that are sampling settings."""

NOT_SAMPLING = frozenset({"do_sample", "max_new_tokens", "max_tokens", "stop_token_ids", "skip_special_tokens", "eos_token_id"})
"""Keys of `generation_kwargs` and `gen_config` that other settings stand for, or that the tokenizer's files say."""

ENGINE: Mapping[str, str] = {
    "tensor_parallel_size": "tensor_parallel_size",
    "tp": "tensor_parallel_size",
    "gpu_memory_utilization": "gpu_memory_utilization",
    "max_model_len": "max_model_len",
    "session_len": "max_model_len",
    "enforce_eager": "enforce_eager",
    "dtype": "dtype",
    "torch_dtype": "dtype",
    "device_map": "device_map",
    "quantization": "quantization",
}
"""Keys of `model_kwargs` and `engine_config` → arguments of our engines; one that an engine lacks is dropped with a word."""

NO_KEY = re.compile(r"|empty|none|null|dummy|sk-x+|.*\byour\b.*|your.*|xxx+|<.*>", re.I)
"""What people write as `key` of a server that asks for none, or to be filled in."""
