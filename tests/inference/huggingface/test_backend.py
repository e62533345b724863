from __future__ import annotations

import json
import os
import shutil
import threading
from types import SimpleNamespace

import psutil
import pytest

from inference.huggingface.backend import HuggingFaceBaseModel, HuggingFacewithChatTemplate
from inference.huggingface.weights import locate
from inference.stage import capabilities, check_model, make_backend
from leaderflow.core.errors import BackendError, SpecError
from leaderflow.core.specs import ModelSpec
from leaderflow.core.types import Backend, Settings
from tests.inference.huggingface import tiny
from tests.inference.huggingface.ask import generate, in_order, loglikelihood, requests
from tests.inference.huggingface.conftest import spec


def test_is_a_backend(base, chat, folder):
    assert isinstance(base, Backend)
    assert base.capabilities == {"text", "generate", "loglikelihood", "embed"}
    assert chat.capabilities == base.capabilities | {"messages"}
    block = spec(folder, type="HuggingFacewithChatTemplate", arguments={"dtype": "float32"})
    check_model(block)
    assert capabilities(block) == chat.capabilities
    assert make_backend(block).identity == chat.identity


def test_an_unknown_argument_is_refused_with_a_suggestion(folder):
    with pytest.raises(SpecError, match="did you mean 'dtype'"):
        check_model(spec(folder, arguments={"dtyp": "float32"}))
    with pytest.raises(SpecError, match="float8"):
        HuggingFaceBaseModel(spec(folder), dtype="float8")


def test_max_out_len_must_leave_room(folder):
    with pytest.raises(SpecError, match=r"8192.*4096"):
        HuggingFaceBaseModel(spec(folder, max_seq_len=4096, max_out_len=8192))


def test_a_missing_model_names_the_command(tmp_path):
    for path in ("smollm2-135m", str(tmp_path / "home" / "models" / "smollm2-135m")):
        with pytest.raises(BackendError, match="leaderflow models get smollm2-135m") as caught:
            HuggingFacewithChatTemplate(ModelSpec(type="HuggingFacewithChatTemplate", abbr="s", path=path))
        assert "\n" not in str(caught.value)


def test_wrong_places_and_broken_folders_say_so(tmp_path, folder):
    with pytest.raises(BackendError, match=r"no folder of weights at '\./nowhere'"):
        HuggingFaceBaseModel(spec(folder, path="./nowhere"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(BackendError, match=r"config\.json is missing"):
        HuggingFaceBaseModel(spec(tmp_path / "empty"))
    broken = shutil.copytree(folder, tmp_path / "broken")
    (broken / "model.safetensors").write_bytes(b"not weights")
    backend = HuggingFaceBaseModel(spec(broken))
    for _ in range(2):  # the second call hears it too
        with pytest.raises(BackendError, match="cannot load the model"):
            generate(backend, ["A"], max_out_len=1)
    backend.close()


def test_an_answer_longer_than_the_context_is_refused(folder):
    with pytest.raises(
        SpecError, match=r"models\.tiny: max_out_len 600 leaves no room in the context of the weights, which is 512"
    ):
        HuggingFaceBaseModel(spec(folder, max_out_len=600))
    with pytest.raises(SpecError, match="max_out_len 30 leaves no room in max_seq_len 20"):
        HuggingFaceBaseModel(spec(folder, max_out_len=30, max_seq_len=20))


def test_a_model_larger_than_memory_is_refused_before_it_is_loaded(folder, monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=1000))
    monkeypatch.setattr(psutil, "swap_memory", lambda: SimpleNamespace(free=0))
    backend = HuggingFaceBaseModel(spec(folder))
    with pytest.raises(BackendError, match=r"need 0\.\d GB of memory in float32 and 0\.0 GB are free; choose a smaller dtype"):
        generate(backend, ["A"], max_out_len=1)
    backend.close()


def test_a_missing_adapter_says_so(folder, tmp_path):
    with pytest.raises(BackendError, match=r"adapter_config\.json is missing"):
        HuggingFaceBaseModel(spec(folder), peft_path=str(tmp_path))


def test_identity_is_the_content_and_not_the_place(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "copy")
    (copy / "README.md").write_text("notes")
    identity = HuggingFaceBaseModel(spec(folder)).identity
    assert HuggingFaceBaseModel(spec(copy, abbr="other", batch_size=1, max_out_len=99)).identity == identity
    others = [HuggingFaceBaseModel(spec(folder), dtype="bfloat16").identity, HuggingFacewithChatTemplate(spec(folder)).identity]
    others.append(HuggingFaceBaseModel(spec(folder, max_seq_len=99)).identity)
    for name in ("config.json", "chat_template.jinja", "model.safetensors"):
        file = shutil.copytree(folder, tmp_path / name) / name
        file.write_bytes(file.read_bytes() + b" ")
        others.append(HuggingFaceBaseModel(spec(file.parent)).identity)
    assert len({identity, *others}) == 7


def test_a_changed_file_of_the_same_size_changes_the_identity(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "copy")
    before = HuggingFaceBaseModel(spec(copy)).identity
    weights = copy / "model.safetensors"
    stamp, data = weights.stat(), bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    os.utime(weights, ns=(stamp.st_atime_ns, stamp.st_mtime_ns + 1))
    assert HuggingFaceBaseModel(spec(copy)).identity != before


def test_nothing_is_loaded_before_the_first_request(folder, tmp_path):
    broken = shutil.copytree(folder, tmp_path / "broken")
    (broken / "model.safetensors").write_bytes(b"not weights")
    backend = HuggingFaceBaseModel(spec(broken))
    backend.connect()
    assert backend.counter.count(requests(["A"], Settings())[0].prompt) == 1
    backend.close()


def test_shards_share_the_engine(folder):
    backend = HuggingFaceBaseModel(spec(folder))
    prompts = [f"{n} + {m} =" for n in range(4) for m in range(4)]
    expected = [a.output for a in generate(backend, prompts, max_out_len=4)]
    found: dict[int, list] = {}

    def shard(number: int) -> None:
        if number % 2:
            found[number] = [a.nll for a in loglikelihood(backend, prompts)]
        else:
            found[number] = [a.output for a in generate(backend, prompts, salt=str(number), max_out_len=4)]

    threads = [threading.Thread(target=shard, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[n] for n in (0, 2, 4)] == [expected] * 3
    assert found[1] == pytest.approx(found[3], abs=1e-3)
    backend.close()


def test_out_of_memory_halves_the_batch_and_loses_nothing(folder):
    """The model refuses more than two rows, as a device without memory would."""
    import torch

    backend = HuggingFaceBaseModel(spec(folder, batch_size=8))
    prompts = [f"{n} and {m} make" for n in range(5) for m in range(3)]
    free = [a.output for a in generate(backend, prompts, max_out_len=4)]
    scored = [a.nll for a in loglikelihood(backend, prompts)]
    rows: list[int] = []

    def refuse(module, args, kwargs) -> None:
        rows.append(len(kwargs["input_ids"]))
        if rows[-1] > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")

    model = backend._engine._works["generate"]._model
    with model.register_forward_pre_hook(refuse, with_kwargs=True):
        assert [a.output for a in generate(backend, prompts, salt="again", max_out_len=4)] == free
        refused = sum(n > 2 for n in rows)
        assert [a.nll for a in loglikelihood(backend, prompts)] == pytest.approx(scored, abs=1e-3)
    assert 1 <= refused <= 4  # what did not fit is not tried again and again
    backend.close()


def test_a_row_that_never_fits_fails_alone(folder):
    import torch

    backend = HuggingFaceBaseModel(spec(folder))
    generate(backend, ["A"], max_out_len=1)

    def refuse(module, args, kwargs) -> None:
        if kwargs["input_ids"].shape[1] > 20:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9 GiB")

    model = backend._engine._works["generate"]._model
    with model.register_forward_pre_hook(refuse, with_kwargs=True):
        short, long = generate(backend, ["B", "A B C " * 20], max_out_len=4)
    assert (short.status, long.status, long.error_class) == ("truncated", "error", "sample")
    assert "out of memory" in long.error
    backend.close()


def test_an_engine_that_dies_tells_everybody(folder):
    backend = HuggingFaceBaseModel(spec(folder))
    generate(backend, ["A"], max_out_len=1)

    def fail(module, args) -> None:
        raise RuntimeError("device-side assert triggered")

    with (
        backend._engine._works["generate"]._model.register_forward_pre_hook(fail),
        pytest.raises(BackendError, match="device-side"),
    ):
        generate(backend, ["A", "B"], max_out_len=2)
    with pytest.raises(BackendError, match="device-side"):
        loglikelihood(backend, ["A B"])
    backend.close()


def test_a_caller_that_leaves_early_does_not_hold_the_engine(folder):
    backend = HuggingFaceBaseModel(spec(folder, batch_size=1))
    answers = backend.generate(requests([f"{n}" for n in range(200)], Settings(max_out_len=50)))
    next(answers)
    answers.close()
    asked = requests(["A"], Settings(max_out_len=1))
    assert in_order(asked, backend.generate(asked))[0].status == "truncated"
    assert not backend._engine._batches
    backend.close()


def test_closed_is_closed(folder):
    backend = HuggingFaceBaseModel(spec(folder))
    backend.close()
    backend.close()
    with pytest.raises(BackendError, match="closed"):
        generate(backend, ["A"])


def test_an_encoder_embeds_and_nothing_else(tmp_path):
    import numpy as np
    import torch
    from transformers import BertConfig, BertModel

    out = tiny.build(tmp_path / "m", template=None)
    torch.manual_seed(0)
    config = BertConfig(vocab_size=400, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64)
    BertModel(config).save_pretrained(out)
    backend = HuggingFaceBaseModel(spec(out))
    assert backend.capabilities == {"text", "embed"}
    texts = ["A", "The quick brown fox jumps", "The quick brown fox jumps over"]
    vectors = backend.embed(texts)
    assert (vectors.shape, vectors.dtype) == ((3, 32), np.float32)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)
    assert vectors[1] @ vectors[2] > vectors[0] @ vectors[1]
    assert np.vstack([backend.embed([t]) for t in texts]) == pytest.approx(vectors, abs=1e-5)
    with pytest.raises(BackendError, match="encoder"):
        generate(backend, ["A"])
    backend.close()
    assert json.loads((out / "config.json").read_text())["architectures"] == ["BertModel"]


def test_offline_the_hub_is_not_asked(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(BackendError, match=r"no-such/model is not in the hub's cache .*offline the hub is not asked"):
        locate("no-such/model")
