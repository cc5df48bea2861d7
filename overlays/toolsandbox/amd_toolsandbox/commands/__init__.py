"""The commands of ``python -m amd_toolsandbox``."""
