"""BFCL multi-turn for ``amd``: its tasks and families, and its answer key replayed on its own backends.

Importing this package needs nothing of ``bfcl-eval``; what reads the benchmark or runs its backends says how to
install it. Data and backends: Berkeley Function Calling Leaderboard (ShishirPatil/gorilla), Apache-2.0.

=================  =====================================================================
``families``       task id -> family, from the id alone
``package``        the installed ``bfcl-eval``: where it is, which version, its lines
``schema``         the benchmark's tool documents -> ``ToolSpec``
``tasks``          a category's entries, without their answers
``backends``       the real backends, one private instance a replay
``record``         the answer key -> trajectories marked ``oracle``
``command``        ``python -m amd_bfcl``
=================  =====================================================================
"""
