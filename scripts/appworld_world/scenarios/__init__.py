"""What is asked in the invented world: six scenarios of three tasks.

``LINE`` and ``REMINDER`` are twins, and so are ``PAYMENT`` and ``DEBT``: what one of them taught helps with the other.
"""

from __future__ import annotations

from appworld_world.scenarios.errands import ERRANDS
from appworld_world.scenarios.notes import LINE, REMINDER
from appworld_world.scenarios.payments import DEBT, PAYMENT
from appworld_world.scenarios.songs import PLAYED

__all__ = ["SCENARIOS"]

SCENARIOS = (LINE, REMINDER, PAYMENT, DEBT, PLAYED, ERRANDS)
