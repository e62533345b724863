"""Speed and memory, each beside what a user would run instead, in the same run."""
