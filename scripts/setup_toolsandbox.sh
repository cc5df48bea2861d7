#!/usr/bin/env bash
# Makes .venvs/toolsandbox: a clone of apple/ToolSandbox with its exact pins, amd and its overlay beside them, editable.
# Run it again at any time: it does nothing if nothing has changed, and takes nothing out that you put in.
#   PATH_TO_CLONE  the folder of the clone; pip leaves a tool_sandbox.egg-info in it, which the clone itself ignores
#   --dev          also what the integration tests need (make toolsandbox)
#   PYTHON=        the Python to use, 3.11 or 3.12; without it the first one found
set -euo pipefail
called_from=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/environment.sh

tested=165848b9a78c
folder=.venvs/toolsandbox
stamp=$folder/.ready
# What the harness brought: what comes later must leave it as it is.
brought=$folder/harness-versions.txt
# The anyio of the harness warns under pytest 9, and the tests take warnings for errors.
tests_need=('pytest>=8,<9' pytest-socket hypothesis)

tools=()
kind=plain
clone=
for argument in "$@"; do
  case $argument in
    --dev) tools=("${tests_need[@]}") kind=dev ;;
    -*) clone= && break ;;
    *) if [[ -n $clone ]]; then clone= && break; else clone=$argument; fi ;;
  esac
done
if [[ -z $clone ]]; then
  stop "usage: [PYTHON=/path/to/python] scripts/setup_toolsandbox.sh PATH_TO_CLONE [--dev]" 2
fi
if [[ $clone != /* ]]; then clone=$called_from/$clone; fi
if ! grep -Eqs "^name *= *[\"']tool_sandbox[\"']" "$clone/pyproject.toml" || [[ ! -d $clone/tool_sandbox ]]; then
  stop "$clone is no clone of apple/ToolSandbox: no folder tool_sandbox beside a pyproject.toml of that name; make one with git clone https://github.com/apple/ToolSandbox"
fi
clone=$(cd "$clone" && pwd)

choose_python "$folder" "amd needs 3.11, and the pins of the harness have no wheels for 3.13" 3.11 3.12

# sha256 of the words and of the files after --.
digest() {
  "$python" - "$@" <<'END'
import hashlib, pathlib, sys
total = hashlib.sha256()
at = sys.argv.index("--")
for word in sys.argv[1:at]:
    total.update(word.encode() + b"\0")
for name in sys.argv[at + 1:]:
    total.update(pathlib.Path(name).read_bytes())
print(total.hexdigest())
END
}

# `record`: all that is installed, as constraints for pip. `compare`: each of them that is not what it was.
versions() {
  "$folder/bin/python" - "$@" <<'END'
import importlib.metadata, pathlib, re, sys
how, file, clone = sys.argv[1:]
normal = lambda name: re.sub(r"[-_.]+", "-", name).lower()
# The script's own Python packages are no part of the harness, and a clone is no version.
own = {"pip", "setuptools", "wheel", "tool-sandbox"}
found = {normal(each.metadata["Name"]): each.version for each in importlib.metadata.distributions()}
if how == "record":
    lines = [f"# {clone}", *(f"{name}=={found[name]}" for name in sorted(found.keys() - own))]
    pathlib.Path(file).write_text("\n".join(lines) + "\n", encoding="utf-8")
else:
    for line in pathlib.Path(file).read_text(encoding="utf-8").split("\n")[1:-1]:
        name, _, version = line.partition("==")
        if found.get(name) != version:
            print(f"{name} {version} -> {found.get(name, 'not installed')}")
END
}

# A checkout or a clone that was moved makes it anew, since editable installs hold their paths.
harness=$(digest "$clone" -- "$clone/pyproject.toml")
wanted=$(digest "$PWD" "$harness" -- scripts/setup_toolsandbox.sh pyproject.toml overlays/toolsandbox/pyproject.toml)
found=$(cat "$stamp" 2>/dev/null || true)

if [[ -e $brought && $(head -n 1 "$brought") != "# $harness" ]]; then
  stop "$folder was made for another clone, or for other pins than those of $clone: remove it first with rm -rf $folder"
fi

# What was installed for development once is kept up to date.
if [[ $found == *" dev" ]]; then tools=("${tests_need[@]}") kind=dev; fi
if [[ $found != "$wanted $kind" ]]; then
  echo "installing into $folder with Python $version, once: about 1 GB, some minutes"
  rm -f "$stamp"
  make_environment "$folder"
  pip=("$folder/bin/python" -m pip install -qq --disable-pip-version-check)
  if [[ ! -e $brought ]]; then
    "${pip[@]}" -e "$clone"
    versions record "$brought" "$harness"
  fi
  "${pip[@]}" -c "$brought" -e '.[local]' -e overlays/toolsandbox ${tools[@]+"${tools[@]}"}
fi

moved=$(versions compare "$brought" "$harness")
if [[ -n $moved ]]; then
  rm -f "$stamp"
  stop "$folder is not what the harness asks for any more: ${moved//$'\n'/, }: remove it with rm -rf $folder and run this again"
fi
echo "$wanted $kind" >"$stamp"

commit=
if [[ -e $clone/.git ]]; then commit=$(git -C "$clone" rev-parse --short=12 HEAD 2>/dev/null || true); fi
case $commit in
  "$tested") commit="commit $commit, the one that was tested" ;;
  "") commit="commit unknown; $tested was tested" ;;
  *) commit="commit $commit; $tested was tested" ;;
esac
size=$(du -sm "$folder" | cut -f 1)
echo "$folder: Python $version, $size MB"
echo "harness: $clone, $commit"
echo "next: $folder/bin/python -m amd_toolsandbox --help"
