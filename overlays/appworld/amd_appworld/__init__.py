"""AppWorld for ``amd``: its runs read, its scenarios as families, and a code agent with memory in its worlds."""
