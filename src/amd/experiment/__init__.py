"""What is measured with memories, runs and students; the only room that uses both sides and the statistics."""
