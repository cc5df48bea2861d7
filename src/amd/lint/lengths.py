"""Records that are longer than what a student is shown, and keys as long as the longest that are kept."""

from __future__ import annotations

from amd.build.distill import LONGEST_KEY
from amd.records import Record
from amd.session.budget import DEFAULT_LIMITS, fit
from amd.session.tokens import estimated_tokens
from amd.tier import FailedCall, Hit, Question, Style, Tier

__all__ = ["cut_key", "too_long"]

_STYLE = Style()


def too_long(record: Record, tier: Tier) -> str | None:
    """Why a record is too long: by the default limits and the estimate of tokens, a part of it is never shown."""
    question = Question("error", record.key, failed=FailedCall(record.tool or "", {}, ""))
    parts = tier.render([Hit(record, 1.0)], question, _STYLE)
    limit = DEFAULT_LIMITS.of(tier.name, "task")
    kept, dropped, _ = fit(parts, tier.heading, limit, estimated_tokens)
    if not dropped:
        return None
    tokens = estimated_tokens("\n".join([tier.heading, *(part.text for part in parts)]))
    never = "only its beginning is ever shown" if kept else "it is never shown"
    return f"about {tokens} tokens, of which its tier may fill {limit}: {never}"


def cut_key(record: Record) -> str | None:
    """Why a key may say only half: it is as long as the longest that a build keeps, which cuts what is longer."""
    if len(record.key) < LONGEST_KEY:
        return None
    return f"its key has {len(record.key)} characters; a build cuts keys off at {LONGEST_KEY}"
