"""The shell scripts: what they run, what they refuse in one line, and that running them again is free."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROMPTING = {"gemma-3-4b", "smollm2-135m"}
STUDENTS = sorted(path.stem for path in (ROOT / "configs" / "students").glob("*.toml"))

# A Python of any version that installs nothing and notes what it was asked to; the real one computes.
PYTHON = """#!/usr/bin/env bash
if [[ $1 == - ]]; then exec {real} "$@"; fi
if [[ $1 == -c ]]; then echo "{version}"; exit; fi
echo "$*" >> {log}
if [[ "$*" == "-m venv "* ]]; then mkdir -p "${{!#}}/bin" && cp "$0" "${{!#}}/bin/python"; fi
"""


def script(path: Path, text: str) -> Path:
    """An executable file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def shell(*words: str | Path, **environment: str) -> tuple[int, str, str]:
    """Exit code, output and errors of a command."""
    kept = {name: value for name, value in os.environ.items() if name not in {"PYTHON", "VLLM_SOURCE", "WEIGHTS"}}
    done = subprocess.run(words, env={**kept, **environment}, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def serve(*words: str, **environment: str) -> tuple[int, str, str]:
    """What ``scripts/serve_vllm.sh`` does."""
    return shell(ROOT / "scripts" / "serve_vllm.sh", *words, PYTHON=sys.executable, **environment)


def tools(folder: Path, *names: str) -> str:
    """A PATH with these programs and no other."""
    for name in names:
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    return str(folder)


@pytest.mark.parametrize("student", STUDENTS)
def test_a_student_s_command_line_is_printed(student: str) -> None:
    """Its words are vllm serve, the name that is asked for, and parsers only where calls are read from them."""
    code, out, err = serve("--print", student)
    words = shlex.split(out)
    assert (code, err, words[:2]) == (0, "", ["vllm", "serve"])
    assert words[3:5] == ["--served-model-name", student]
    assert ("--enable-auto-tool-choice" in words) is ("--tool-call-parser" in words) is (student not in PROMPTING)


def test_further_arguments_come_last() -> None:
    """Where vLLM takes the later of two; what was quoted stays one word, wherever --print stands."""
    code, out, _ = serve("qwen3-4b", "--print", "--max-model-len", "8192", "--override", '{"a": 1}')
    assert code == 0
    assert shlex.split(out) == [
        *("vllm", "serve", "Qwen/Qwen3-4B", "--served-model-name", "qwen3-4b", "--max-model-len", "32768"),
        *("--enable-auto-tool-choice", "--tool-call-parser", "hermes", "--reasoning-parser", "qwen3"),
        *("--override-generation-config", '{"max_new_tokens": 4096}'),
        *("--max-model-len", "8192", "--override", '{"a": 1}'),
    ]


@pytest.mark.parametrize("student", STUDENTS)
def test_a_student_may_be_named_by_its_file(student: str) -> None:
    """As it is for generate; a dot in a name is no suffix."""
    path = ROOT / "configs" / "students" / f"{student}.toml"
    assert serve("--print", str(path)) == serve("--print", f"{student}.toml") == serve("--print", student)
    assert serve("--print", student)[0] == 0


@pytest.mark.parametrize("student", STUDENTS)
def test_a_student_s_output_is_capped(student: str) -> None:
    """The harness sends no limit: an answer without end would last until the context is full."""
    words = shlex.split(serve("--print", student)[1])
    cap = json.loads(words[words.index("--override-generation-config") + 1])
    assert cap["max_new_tokens"] == (512 if student == "smollm2-135m" else 4096)


def test_an_unknown_student_is_answered_with_those_there_are() -> None:
    """A usage error of one line; so is no student at all."""
    code, out, err = serve("--print", "gpt-2")
    assert (code, out) == (2, "")
    assert err == f"'gpt-2' is no student that is configured; known are: {', '.join(STUDENTS)}\n"
    code, _, err = serve()
    assert (code, err.startswith("usage: "), err.count("\n")) == (2, True, 1)


def test_vllm_is_run_with_these_words_or_said_to_be_missing(tmp_path: Path) -> None:
    """In place of the script; and a chat template of vLLM's source must be there."""
    path = tools(tmp_path, "bash", "dirname", "env")
    code, _, err = serve("qwen3-8b", PATH=path)
    assert (code, err.startswith("vllm is not installed here: "), err.count("\n")) == (1, True, 1)
    script(tmp_path / "vllm", '#!/usr/bin/env bash\nprintf "%s\\n" "$@"\n')
    assert serve("qwen3-8b", "a b", PATH=path)[1].split("\n")[:2] == ["serve", "Qwen/Qwen3-8B"]
    assert serve("qwen3-8b", "a b", PATH=path)[1].split("\n")[-2] == "a b"
    code, out, err = serve("llama-3.1-8b", PATH=path)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "examples/tool_chat_template_llama3.1_json.jinja is not there" in err
    source = tmp_path / "the source"
    template = source / "examples" / "tool_chat_template_llama3.1_json.jinja"
    template.parent.mkdir(parents=True)
    template.touch()
    assert str(template) in serve("llama-3.1-8b", PATH=path, VLLM_SOURCE=str(source))[1].split("\n")


def test_weights_that_are_here_are_served_in_place_of_the_hub_s() -> None:
    """Under the same name."""
    words = shlex.split(serve("--print", "qwen3-4b", WEIGHTS="/a folder/weights")[1])
    assert words[:5] == ["vllm", "serve", "/a folder/weights", "--served-model-name", "qwen3-4b"]


def test_the_build_for_processors_is_started_as_it_can_be(tmp_path: Path) -> None:
    """It is a package of another name, and its own command does not find it; the arguments are the same."""
    path = tools(tmp_path, "bash", "dirname", "env")
    script(tmp_path / "vllm", "#!/usr/bin/env bash\necho vllm\n")
    python = script(tmp_path / "python", '#!/usr/bin/env bash\n[[ $1 != -c ]] && printf "%s\\n" "$@"\n')
    assert serve("smollm2-135m", PATH=path)[1] == "vllm\n"
    script(python, '#!/usr/bin/env bash\nif [[ $1 != -c ]]; then printf "%s\\n" "$@"; fi\n')
    words = serve("smollm2-135m", "--port", "8001", PATH=path, WEIGHTS="w")[1].split("\n")
    assert words[:6] == [
        "-m",
        "vllm.entrypoints.openai.api_server",
        "--model",
        "w",
        "--served-model-name",
        "smollm2-135m",
    ]
    assert words[-3:] == ["--port", "8001", ""]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ('model = "x"\n[vllm]\nrepo = "a/x"\nparser = "y"\n', r"\[vllm\] has parser; known are: repo, "),
        ('[vllm]\nrepo = "a/x"\n', "needs a model"),
        ("model = \n", "Invalid value"),
    ],
)
def test_a_wrong_configuration_is_one_line(tmp_path: Path, config: str, message: str) -> None:
    """A key that nobody reads would be left out in silence."""
    copy = shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    (tmp_path / "configs" / "students").mkdir(parents=True)
    (tmp_path / "configs" / "students" / "x.toml").write_text(config, encoding="utf-8")
    code, out, err = shell(copy / "serve_vllm.sh", "x", "--print", PYTHON=sys.executable)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert re.search(message, err)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of all that the set-up of the harness reads."""
    names = ("scripts/setup_bfcl.sh", "scripts/environment.sh", "overlays/bfcl/harness-requirements.txt")
    for name in (*names, "pyproject.toml", "overlays/bfcl/pyproject.toml"):
        (tmp_path / "checkout" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tmp_path / "checkout" / name)
    return tmp_path / "checkout"


def python(folder: Path, version: str) -> Path:
    """A Python that says it has this version and notes in ``folder/log`` what it was asked to do."""
    text = PYTHON.format(real=shlex.quote(sys.executable), version=version, log=shlex.quote(str(folder / "log")))
    return script(folder / f"python{version}", text)


def set_up(checkout: Path, chosen: Path | str, *words: str) -> tuple[int, str, str, list[str]]:
    """Exit code, output and errors of the set-up, and what was asked of Python meanwhile."""
    log = checkout.parent / "log"
    log.unlink(missing_ok=True)
    done = shell(checkout / "scripts" / "setup_bfcl.sh", *words, PYTHON=str(chosen))
    return *done, log.read_text(encoding="utf-8").strip().split("\n") if log.exists() else []


def test_the_harness_is_set_up_once(checkout: Path) -> None:
    """The list and both packages in one go, the harness alone; then nothing, until something has changed."""
    chosen = python(checkout.parent, "3.12")
    code, out, err, asked = set_up(checkout, chosen)
    assert (code, err) == (0, "")
    assert asked[0] == "-m venv --clear .venvs/bfcl"
    installs = [line.partition("--no-warn-conflicts ")[2] for line in asked if " install " in line]
    assert installs == [
        "-r overlays/bfcl/harness-requirements.txt -e .[local] -e overlays/bfcl",
        "--no-deps bfcl-eval==2026.3.23",
    ]
    *_, size, following = out.strip().split("\n")
    assert size.startswith(".venvs/bfcl: Python 3.12, bfcl-eval==2026.3.23, ")
    assert size.endswith(" MB")
    assert following == "next: .venvs/bfcl/bin/python -m amd_bfcl --help"
    assert set_up(checkout, chosen)[3] == []
    assert set_up(checkout, "")[::3] == (0, [])
    with (checkout / "overlays" / "bfcl" / "harness-requirements.txt").open("a", encoding="utf-8") as file:
        file.write("# another reason\n")
    code, _, _, asked = set_up(checkout, "")
    assert (code, [line for line in asked if "venv" in line]) == (0, [])
    assert len([line for line in asked if " install " in line]) == 2


def test_the_tools_of_the_tests_are_added_and_stay(checkout: Path) -> None:
    """--dev adds to an environment that is there, and one that has them is enough without it."""
    chosen = python(checkout.parent, "3.11")
    assert "pytest" not in " ".join(set_up(checkout, chosen)[3])
    assert "-e overlays/bfcl pytest hypothesis pytest-socket" in " ".join(set_up(checkout, chosen, "--dev")[3])
    assert set_up(checkout, chosen, "--dev")[3] == set_up(checkout, chosen)[3] == []
    (checkout / "pyproject.toml").write_text("# changed\n", encoding="utf-8")
    assert "pytest" in " ".join(set_up(checkout, chosen)[3])


def test_an_install_that_failed_is_done_again(checkout: Path) -> None:
    """Its exit code is pip's, and no later run takes the environment for ready."""
    chosen = python(checkout.parent, "3.11")
    text = chosen.read_text(encoding="utf-8")
    script(chosen, f'{text}[[ "$*" != *" --no-deps "* ]]\n')
    assert set_up(checkout, chosen)[0] == 1
    assert set_up(checkout, chosen)[0] == 1
    script(checkout / ".venvs" / "bfcl" / "bin" / "python", text)
    assert set_up(checkout, chosen)[0] == 0
    assert set_up(checkout, chosen)[3] == []


@pytest.mark.parametrize("version", ["3.10", "3.13"])
def test_a_python_that_the_harness_cannot_run_on_is_refused(checkout: Path, version: str) -> None:
    """In one line, before anything is made; so is one that is not there."""
    code, out, err, _ = set_up(checkout, python(checkout.parent, version))
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert f"is Python {version}, not 3.11 or 3.12 (the harness pins" in err
    code, out, err, _ = set_up(checkout, checkout / "no-python")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert not (checkout / ".venvs").exists()


def test_the_first_python_that_fits_is_taken(checkout: Path, tmp_path: Path) -> None:
    """By name; without any, one line says so."""
    path = tools(script(tmp_path / "bin" / "x", "").parent, *("bash", "env", "dirname", "cat", "rm", "du", "cut"))
    for name in ("mkdir", "cp"):
        (Path(path) / name).symlink_to(shutil.which(name) or "")
    code, _, err = shell(checkout / "scripts" / "setup_bfcl.sh", PATH=path)
    assert (code, err.startswith("no Python 3.11 or 3.12 was found"), err.count("\n")) == (1, True, 1)
    python(Path(path), "3.13").rename(Path(path) / "python3")
    assert shell(checkout / "scripts" / "setup_bfcl.sh", PATH=path)[0] == 1
    python(Path(path), "3.12")
    code, out, err = shell(checkout / "scripts" / "setup_bfcl.sh", PATH=path)
    assert (code, err) == (0, "")
    assert "with Python 3.12" in out


def test_an_environment_of_another_python_is_left_alone(checkout: Path) -> None:
    """Somebody may have put more into it."""
    assert set_up(checkout, python(checkout.parent, "3.11"))[0] == 0
    code, out, err, asked = set_up(checkout, python(checkout.parent, "3.12"))
    assert (code, out, err.count("\n"), asked) == (1, "", 1, [])
    assert "made with Python 3.11" in err
    assert "rm -rf .venvs/bfcl" in err


def test_an_unknown_option_is_a_usage_error(checkout: Path) -> None:
    """With the usage, and nothing is made."""
    code, out, err, asked = set_up(checkout, "", "--full")
    assert (code, out, asked) == (2, "", [])
    assert err.startswith("usage: ")


def test_the_example_in_the_script_is_true() -> None:
    """Its docstring is a test too."""
    code, out, err = shell(sys.executable, "-m", "doctest", ROOT / "scripts" / "vllm_command.py")
    assert (code, out, err) == (0, "", "")
