"""How many tokens a text is: counted with the student's own tokenizer file where it is given, else estimated."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from amd.chat import estimated_tokens
from amd.errors import ConfigError

__all__ = ["estimated_tokens", "token_counter"]


def token_counter(tokenizer: Path | str | None) -> Callable[[str], int]:
    """What counts tokens: the tokenizer of that file, or the estimate where there is none.

    Raises:
        ConfigError: the file cannot be read or is no tokenizer, or the package ``tokenizers`` is not installed.
    """
    return estimated_tokens if tokenizer is None else _exact_counter(str(tokenizer))


@lru_cache(maxsize=8)
def _exact_counter(path: str) -> Callable[[str], int]:
    try:
        # Imported here: a heavy optional package that only an exact count needs.
        from tokenizers import Tokenizer  # noqa: PLC0415
    except ImportError as error:
        raise ConfigError(
            f"counting with {path} needs the package 'tokenizers', which is not installed",
            next_step="run: pip install 'agent-memory-distillation[local]', or leave the tokenizer out",
            extra="local",
            path=path,
        ) from error
    try:
        tokenizer = Tokenizer.from_buffer(Path(path).read_bytes())
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{path} is no tokenizer file: {error}", next_step="give the student's own tokenizer.json", path=path
        ) from error
    # A tokenizer file may carry the lengths of its training; a count must see the whole text.
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def count(text: str) -> int:
        # Some versions refuse what UTF-8 cannot hold.
        readable = text.encode("utf-8", "replace").decode("utf-8")
        return len(tokenizer.encode(readable, add_special_tokens=False).ids)

    return count
