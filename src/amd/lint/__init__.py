"""Which records a person should look at: :func:`lint` reads an open memory and changes nothing.

Its rooms, top first::

    linting       the checks over a whole memory, run by run
    duplicates · instructions · lengths · tools · values · wording   one question each
    records       what a record's words are, and what all records of its run say
    findings      the shapes of what is found

Nothing here judges what is true or useful: each check names something that experience says to look at, and says why.
"""

from __future__ import annotations

from amd.lint.findings import CHECKS, Check, Finding, Group, Report
from amd.lint.linting import lint

__all__ = ["CHECKS", "Check", "Finding", "Group", "Report", "lint"]
