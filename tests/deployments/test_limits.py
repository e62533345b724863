"""Limits that several runs and workers share."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from prefect.client.schemas.actions import GlobalConcurrencyLimitCreate
from prefect.settings import PREFECT_API_URL, temporary_settings

from flows.evaluate import evaluate
from leaderflow.core.errors import UsageError
from tasks.session import own_part
from tests.deployments.support import Site
from tests.fake_openai import FakeOpenAI
from tests.flows.support import dataset as dataset_block
from tests.flows.support import model, spec, write_questions


@pytest.mark.server
@pytest.mark.xdist_group("server")
def test_a_shared_limit_lets_one_shard_ask_at_a_time(site: Site, server: FakeOpenAI, tmp_path: Path) -> None:
    import yaml

    file = tmp_path / "recipes" / "models" / "fake.yaml"
    limit = f"account-{tmp_path.name}"
    file.write_text(yaml.safe_dump({**yaml.safe_load(file.read_text()), "shared_limit": limit}))
    parameters = {"models": ["fake"], "datasets": ["sums"], "shard_size": 10}
    with temporary_settings({PREFECT_API_URL: site.api}):
        missing = asyncio.run(evaluate(**parameters, return_state=True))
        assert missing.name == "Failed"
        assert f"no global concurrency limit '{limit}'" in str(missing.message)
        assert server.stats["requests"] == 0
        server.script(latency=0.3)
        site.ask(lambda client: client.create_global_concurrency_limit(GlobalConcurrencyLimitCreate(name=limit, limit=1)))
        done = asyncio.run(evaluate(**parameters, return_state=True))
    assert done.name == "Completed"
    assert server.stats["requests"] == 40
    assert server.stats["peak"] <= 10, "one shard of ten rows at a time, whatever the model's concurrency"


def test_a_worker_takes_its_part_of_the_rates(server: FakeOpenAI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_questions(tmp_path / "sums.jsonl", range(2))
    whole = spec([model(server, rpm=600, tpm=10_001)], [dataset_block(file)]).models[0]
    assert own_part(whole) == whole
    monkeypatch.setenv("LEADERFLOW_RATE_SHARE", "0.25")
    assert (own_part(whole).rpm, own_part(whole).tpm) == (150, 2500)
    assert own_part(whole.model_copy(update={"rpm": None})).rpm is None
    for text in ("2", "0", "half", "nan"):
        monkeypatch.setenv("LEADERFLOW_RATE_SHARE", text)
        with pytest.raises(UsageError, match="LEADERFLOW_RATE_SHARE"):
            own_part(whole)
