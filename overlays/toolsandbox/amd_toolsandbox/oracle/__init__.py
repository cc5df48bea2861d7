"""ToolSandbox's own answer key, played: a scripted agent and a scripted user, for a first run of everything.

No text of the benchmark is kept here. What a scenario is scored by is read from the installed harness when it is
played, and a run that was played so is an oracle's, never a teacher's.

``goals``       what a scenario is scored by
``script``      from goals to calls and words
``player``      the two models behind an OpenAI-compatible endpoint
``answer_key``  the goals of the installed harness
"""
