"""The registry's table: kind → name → ``module:attribute``. One line a name; nothing here imports anything."""

from __future__ import annotations

from collections.abc import Mapping

DATASETS = {
    "HFDataset": "readers.hub:HFDataset",
    "JsonlDataset": "readers.files:JsonlDataset",
    "JsonDataset": "readers.files:JsonDataset",
    "CsvDataset": "readers.files:CsvDataset",
    "ParquetDataset": "readers.files:ParquetDataset",
}

TEMPLATES = {
    "RawPromptTemplate": "templating.raw:RawPromptTemplate",
    "PromptTemplate": "templating.legacy:PromptTemplate",
}

RETRIEVERS = {
    "ZeroRetriever": "templating.retrievers.fixed:ZeroRetriever",
    "FixKRetriever": "templating.retrievers.fixed:FixKRetriever",
    "SlidingWindowRetriever": "templating.retrievers.fixed:SlidingWindowRetriever",
    "RandomRetriever": "templating.retrievers.draws:RandomRetriever",
    "BalancedRetriever": "templating.retrievers.draws:BalancedRetriever",
    "BM25Retriever": "templating.retrievers.bm25:BM25Retriever",
    "TopkRetriever": "templating.retrievers.similar:TopkRetriever",
    "MMRRetriever": "templating.retrievers.similar:MMRRetriever",
    "DPPRetriever": "templating.retrievers.dpp:DPPRetriever",
    "MDLRetriever": "templating.retrievers.mdl:MDLRetriever",
    "VotekRetriever": "templating.retrievers.votek:VotekRetriever",
    "XiezhiRetriever": "templating.retrievers.shared_labels:XiezhiRetriever",
}

INFERENCERS = {
    "GenInferencer": "inference.inferencers.gen:GenInferencer",
    "PPLInferencer": "inference.inferencers.ppl:PPLInferencer",
}

MODELS = {
    "OpenAISDK": "inference.api.backend:OpenAISDK",
    "HuggingFaceBaseModel": "inference.huggingface.backend:HuggingFaceBaseModel",
    "HuggingFacewithChatTemplate": "inference.huggingface.backend:HuggingFacewithChatTemplate",
    "Scripted": "inference.scripted:Scripted",
}

EVALUATORS: dict[str, str] = {
    "AccEvaluator": "evaluators.exact:AccEvaluator",
    "AccwithDetailsEvaluator": "evaluators.exact:AccwithDetailsEvaluator",
    "Gsm8kEvaluator": "evaluators.exact:Gsm8kEvaluator",
}

POSTPROCESSORS: dict[str, str] = {
    "choice_letter": "evaluators.extractors.choice:choice_letter",
    "final_number": "evaluators.extractors.number:final_number",
}

NAMES: Mapping[str, Mapping[str, str]] = {
    "dataset": DATASETS,
    "template": TEMPLATES,
    "retriever": RETRIEVERS,
    "inferencer": INFERENCERS,
    "model": MODELS,
    "evaluator": EVALUATORS,
    "postprocessor": POSTPROCESSORS,
}
