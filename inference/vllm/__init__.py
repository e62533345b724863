"""Local weights through vLLM: leaderflow starts the server, watches it and stops it."""
