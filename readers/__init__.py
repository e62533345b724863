"""Where rows come from: sources, splits, ranges, sample ids."""
