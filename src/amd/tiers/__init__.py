"""The three tiers of the method: workflow, subtask, function. No tier knows another."""
