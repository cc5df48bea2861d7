"""What is measured with a memory and recorded runs: splits, coverage without a student, drift of the tools."""
