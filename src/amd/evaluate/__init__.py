"""Numbers that can be trusted: run directories in, one report out.

``reading`` finds what the runs say, ``grouping`` makes arms of them, ``comparison`` compares the arms, ``report`` holds
all of it; ``sections`` says it in words and tables, ``plots`` in pictures, ``writing`` puts the files down. scipy and
statsmodels are in ``estimates``, matplotlib in ``plots`` and ``glyphs``: all of this needs the extra ``eval``.
"""
