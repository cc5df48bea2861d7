"""Stand-ins for vendors' packages that are not installed, so that the harness can be imported without them.

``bfcl_eval.constants.model_config`` imports the handler of every vendor, and each handler its vendor's package: some
gigabytes for names that a multi-turn run never uses. The finder here comes after all others, so a package that is
installed always wins, and it answers for these packages alone.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Sequence
from functools import cache

__all__ = ["VENDORS", "install"]

VENDORS = (
    "anthropic",
    "boto3",
    "botocore",
    "cohere",
    "datamodel_code_generator",
    "google.genai",
    "mistralai",
    "qwen_agent",
    "writerai",
)
"""What the handlers of bfcl-eval 2026.3.23 import besides what ``harness-requirements.txt`` has."""


class _StandIn(type):
    """The class of every stand-in name: an attribute of one is another, so ``module.Thing.Part`` can be written."""

    def __getattr__(cls, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return _stand_in(f"{cls.__name__}.{name}")


@cache  # one name is one class, as in a real package: what is raised by a name is caught by it
def _stand_in(name: str) -> type:
    # An exception, since handlers name their vendor's errors in decorators; a class, since they derive from it.
    return _StandIn(name, (Exception,), {"__module__": __name__})


class _Vendor(types.ModuleType):
    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return _stand_in(f"{self.__name__}.{name}")


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        del path, target
        # A vendor's package, or the namespace that it shares with others (``google``).
        wanted = any(f"{name}.".startswith(f"{fullname}.") for name in VENDORS)
        # Below a real package nothing is made up, and in a shared namespace nothing of others.
        below = any(fullname.startswith(f"{name}.") for name in VENDORS)
        if wanted or (below and isinstance(sys.modules.get(fullname.rpartition(".")[0]), _Vendor)):
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _Vendor(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """There is nothing to run."""


def install() -> None:
    """Let the finder answer for absent vendors; installing it again changes nothing."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
