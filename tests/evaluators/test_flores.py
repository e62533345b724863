"""BLEU over FLORES' pieces: refused without its tokenizer, and sacrebleu's own number with one."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from leaderflow.core.errors import SpecError
from leaderflow.core.registry import build


def test_without_its_tokenizer_it_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sacrebleu.utils.SACREBLEU_DIR", str(tmp_path))
    named = "put https://.* at .*/models/" if importlib.util.find_spec("sentencepiece") else "pip install sentencepiece"
    with pytest.raises(SpecError, match=named):
        build("evaluator", {"type": "BleuFloresEvaluator"})


def test_it_is_sacrebleus_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = pytest.importorskip("sentencepiece")
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.tokenizers.tokenizer_spm import SPM_MODELS

    texts = [f"the cat number {i} sat on mat {i * 7 % 50}" for i in range(200)]
    (tmp_path / "text").write_text("\n".join(texts))
    (tmp_path / "models").mkdir()
    model = tmp_path / "models" / SPM_MODELS["flores200"]["url"].rpartition("/")[2]
    pieces.SentencePieceTrainer.train(input=str(tmp_path / "text"), model_prefix=str(tmp_path / "m"), vocab_size=60, minloglevel=2)
    (tmp_path / "m.model").rename(model)
    for module in ("sacrebleu.utils", "sacrebleu.tokenizers.tokenizer_spm"):
        monkeypatch.setattr(f"{module}.SACREBLEU_DIR", str(tmp_path))
    said, gold = texts[:20], [text.replace("cat", "dog") for text in texts[:20]]
    found = build("evaluator", {"type": "BleuFloresEvaluator"}).measure(said, gold)["score"]
    assert found == pytest.approx(BLEU(tokenize="flores200").corpus_score(said, [gold]).score)
    assert 0 < found < 100
