"""``python -m leaderflow`` is the command ``leaderflow``."""

from leaderflow.cli.main import main

main()
