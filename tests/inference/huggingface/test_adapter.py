"""A PEFT adapter changes what the model says, as PEFT itself would have it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from inference.huggingface.backend import HuggingFaceBaseModel
from leaderflow.core.specs import ModelSpec
from tests.inference.huggingface.ask import generate, loglikelihood

pytest.importorskip("peft")

pytestmark = pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing. is deprecated:FutureWarning")  # PEFT still asks for it

TEXT = "The quick brown fox jumps over the lazy dog."


def spec(folder: Path) -> ModelSpec:
    return ModelSpec(type="HuggingFaceBaseModel", abbr="tiny", path=str(folder))


def make_adapter(weights: Path, out: Path, *, rank: int = 4, seed: int = 0) -> Path:
    """Write a LoRA adapter of random weights."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    torch.manual_seed(seed)
    config = LoraConfig(
        r=rank, lora_alpha=rank, target_modules=["q_proj", "v_proj"], init_lora_weights=False, task_type="CAUSAL_LM"
    )
    get_peft_model(AutoModelForCausalLM.from_pretrained(weights, dtype=torch.float32), config).save_pretrained(out)
    return out


@pytest.fixture(scope="module")
def adapter(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_adapter(folder, tmp_path_factory.mktemp("adapter"))


def test_the_adapter_is_applied(folder: Path, adapter: Path) -> None:
    import torch
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    plain, adapted = HuggingFaceBaseModel(spec(folder)), HuggingFaceBaseModel(spec(folder), peft_path=str(adapter))
    (found,), (without,) = loglikelihood(adapted, [TEXT]), loglikelihood(plain, [TEXT])
    assert generate(adapted, [TEXT], max_out_len=8)[0].output
    reference = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32), adapter).eval()
    ids = torch.tensor([adapted.counter.encode_text(TEXT)])
    with torch.inference_mode():
        logprobs = reference(input_ids=ids).logits[0, :-1].log_softmax(-1).gather(-1, ids[0, 1:, None])[:, 0]
    plain.close()
    adapted.close()
    assert found.token_logprobs == pytest.approx(logprobs.tolist(), abs=1e-4)
    assert abs(found.nll - without.nll) > 1e-2


def test_it_is_part_of_the_identity_by_content(folder: Path, adapter: Path, tmp_path: Path) -> None:
    plain = HuggingFaceBaseModel(spec(folder)).identity
    copy, other = shutil.copytree(adapter, tmp_path / "copy"), make_adapter(folder, tmp_path / "other", seed=1)
    identities = [HuggingFaceBaseModel(spec(folder), peft_path=str(place)).identity for place in (adapter, copy, other)]
    assert identities[0] == identities[1] != identities[2]
    assert plain not in identities
