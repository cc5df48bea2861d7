"""What this overlay does from a terminal, one file for each command."""
