"""The commands of ``python -m amd_appworld``."""
