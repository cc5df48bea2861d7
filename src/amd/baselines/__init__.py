"""Methods of others as tiers: the same gate, store, viewers and budgets, and the whole of each run to learn from."""
