"""ToolSandbox for ``amd``: its runs read, its scenarios' families, and students with memory in its harness.

Importing this package needs nothing of the harness (apple/ToolSandbox, a clone with an environment of its own).

=====================  =================================================================================================
``families``           scenario -> family, from the name alone; ``family_table`` is generated
``grouping``           how the table's families are found, for its generator (``commands/families``)
``teacher``            the reader ``toolsandbox``; below it ``folders``, ``context``, ``conversation``, ``calls``,
                       ``summary`` and ``exposures``
``observations``       memory addresses and faults of the machine, the same for the reader and for students
``trial``              one scenario on the student's side, free of the harness
``repair``             what an answer needs before the harness can take it; ``faults``: whose fault an exception is
``student``            agent and user in the harness: **the only room that cannot be imported without it**
``harness``            its scenarios, found, run and scored by its own functions; ``surroundings``: what it needs
``run``, ``standing``  a run directory, and which of its scenarios are scored, spoilt or left
``playing``            students run, go on and are scored again; ``report``: what they were shown
``commands``           ``python -m amd_toolsandbox``
=====================  =================================================================================================
"""
