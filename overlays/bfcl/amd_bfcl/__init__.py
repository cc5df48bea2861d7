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
``calls``          calls as Python text, parsed and never run
``teacher``        the reader ``bfcl``; below it ``reading``, ``result_files``, ``scores``, ``inference_log``,
                   ``conversation``, ``decode`` and ``replay``
``trial``          one task's run on the student's side, free of the harness
``student``        the handler in the harness: **the only room that cannot be imported without it**
``harness``        the harness found, checked and called; ``stubs`` stand in for vendors' clients
``plan``, ``run``  what is asked for, and the directory that keeps it; ``journal``: lines that no kill takes
``generate``       students run; ``evaluate``: the benchmark scores them; ``report``: what they were shown
``player``         a scripted student that plays the answer key, with ``slips``
``commands``       ``python -m amd_bfcl``
=================  =====================================================================
"""
