"""Stand-ins for absent vendors, each case in a bare Python: nothing is installed there but what a test makes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from amd_bfcl import stubs

PRELUDE = f"""
import importlib.util, sys
sys.path.insert(0, "")
spec = importlib.util.spec_from_file_location("stubs", {stubs.__file__!r})
stubs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(stubs)
"""


@pytest.fixture
def last_line(tmp_path):
    """Runs a program among a test's own packages, and gives the last line that it prints or dies with."""

    def run(code, *, install="stubs.install()"):
        program = f"{PRELUDE}\n{install}\n{code}"
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path
        )
        return (done.stdout + done.stderr).rstrip("\n").split("\n")[-1]

    return run


def package(folder: Path, name: str, text: str = ""):
    """A package that is really there."""
    path = folder.joinpath(*name.split("."))
    path.mkdir(parents=True, exist_ok=True)
    (path / "__init__.py").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("name", stubs.VENDORS)
def test_each_vendor_can_be_imported_without_being_there(last_line, name):
    """With what is below it; without the finder it cannot (the control)."""
    code = f"import {name}.deep.er\nprint(sys.modules['{name}'].Thing.Part.__name__)"
    assert last_line(code) == f"{name}.Thing.Part"
    assert last_line(code, install="") == f"ModuleNotFoundError: No module named '{name.partition('.')[0]}'"


@pytest.mark.parametrize(
    "code",
    [
        "import anthropic",
        "import google.genai.types as types; types.Part",
        "from google import genai; genai.Client",
        "from google.genai import errors, types",
        "from mistralai.models import UserMessage as Message, SystemMessage",
        "from writerai import Writer; Writer",
        "from botocore.exceptions import ClientError; raise_ = ClientError('x')",
        "import boto3; boto3.client.exceptions.Throttled",
    ],
)
def test_every_way_to_import_a_name(last_line, code):
    """As handlers write it: modules, submodules, names, other names."""
    assert last_line(f"{code}\nprint('fine')") == "fine"


def test_a_class_can_derive_from_a_stand_in(last_line):
    """Handlers derive from their vendor's classes, and from generic ones of their own beside them."""
    code = """
from qwen_agent.llm import Base
import cohere
class Handler(Base, cohere.Other):
    def ask(self):
        return "asked"
print(Handler().ask(), issubclass(Handler, Base))
"""
    assert last_line(code) == "asked True"


def test_an_except_clause_may_name_a_stand_in(last_line):
    """What is raised by that name is caught by it; any other error goes on."""
    code = """
import anthropic
from anthropic import RateLimitError
try:
    raise RateLimitError("slow down")
except anthropic.RateLimitError as error:
    print("caught", error)
try:
    {}["key"]
except (anthropic.RateLimitError, anthropic.APIError.Inner):
    print("wrong")
"""
    assert last_line(code) == "KeyError: 'key'"
    assert last_line(code.partition("try:\n    {}")[0]) == "caught slow down"


def test_a_package_that_is_there_wins(last_line, tmp_path):
    """Its names are its own, and nothing is made up below it; the next vendor is absent still (the control)."""
    package(tmp_path, "anthropic", "Anthropic = 'real'\n")
    assert last_line("import anthropic, cohere; print(anthropic.Anthropic, cohere.Client.__name__)") == (
        "real cohere.Client"
    )
    assert last_line("import anthropic.types").startswith("ModuleNotFoundError: No module named 'anthropic.types'")
    assert last_line("from anthropic import NoSuchName").startswith("ImportError: cannot import name 'NoSuchName'")


def test_a_namespace_is_shared(last_line, tmp_path):
    """``google`` belongs to many: what is there of it stays, and only the absent vendor is made up."""
    package(tmp_path, "google.protobuf", "NAME = 'real'\n")
    code = "from google.protobuf import NAME; from google.genai.types import Part; print(NAME, Part.__name__)"
    assert last_line(code) == "real google.genai.types.Part"
    assert last_line("import google.auth") == "ModuleNotFoundError: No module named 'google.auth'"


@pytest.mark.parametrize("name", ["google.protobuf", "anthropical", "boto", "no_such_module", "os.no_such", "qwen"])
def test_an_unrelated_missing_module_is_still_missing(last_line, name):
    """Nothing is made up that a program may ask for in order to know whether it is there."""
    assert last_line(f"import google.genai, anthropic, qwen_agent\nimport {name}").startswith(
        f"ModuleNotFoundError: No module named '{name}'"
    )


def test_special_names_are_not_made_up(last_line):
    """Python and its tools ask modules and classes for these, and take what they get at its word."""
    code = "import cohere; print(hasattr(cohere, '__wrapped__'), hasattr(cohere.Client, '__fields__'), cohere.__path__)"
    assert last_line(code) == "False False []"


def test_installing_again_changes_nothing(last_line):
    """One finder, after all others."""
    code = (
        "stubs.install()\nprint([type(each).__name__ for each in sys.meta_path].index('_Finder') - len(sys.meta_path))"
    )
    assert last_line(code) == "-1"
    assert last_line(f"sys.meta_path.reverse()\n{code}") != "-1"
