#!/usr/bin/env bash
# Makes .venvs/bfcl: the BFCL harness with what its multi-turn categories need, amd and its overlay, editable.
# Run it again at any time: it does nothing if nothing has changed, and takes nothing out that you put in.
#   --dev      also what the integration tests need (make bfcl)
#   PYTHON=    the Python to use, 3.11 or 3.12; without it the first one found
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/environment.sh

harness=bfcl-eval==2026.3.23
folder=.venvs/bfcl
needs=overlays/bfcl/harness-requirements.txt
stamp=$folder/.ready

tools=()
kind=plain
for argument in "$@"; do
  case $argument in
    --dev) tools=(pytest hypothesis pytest-socket) kind=dev ;;
    *) stop "usage: [PYTHON=/path/to/python] scripts/setup_bfcl.sh [--dev]" 2 ;;
  esac
done

choose_python "$folder" "the harness pins numpy 1.26.4, which has no wheel for 3.13" 3.11 3.12

# What the environment is made from; a checkout that was moved makes it anew, since editable installs hold its path.
wanted=$("$python" - "$PWD" scripts/setup_bfcl.sh "$needs" pyproject.toml overlays/bfcl/pyproject.toml <<'END'
import hashlib, pathlib, sys
total = hashlib.sha256(sys.argv[1].encode())
for name in sys.argv[2:]:
    total.update(pathlib.Path(name).read_bytes())
print(total.hexdigest())
END
)
found=$(cat "$stamp" 2>/dev/null || true)

if [[ $found != "$wanted $kind" && $found != "$wanted dev" ]]; then
  # What was installed for development once is kept up to date, and said to be there.
  if [[ $found == *" dev" ]]; then tools=(pytest hypothesis pytest-socket) kind=dev; fi
  echo "installing into $folder with Python $version, once: about 430 MB, half a minute or more"
  rm -f "$stamp"
  make_environment "$folder"
  pip=("$folder/bin/python" -m pip install -qq --disable-pip-version-check --no-warn-conflicts)
  "${pip[@]}" -r "$needs" -e '.[local]' -e overlays/bfcl ${tools[@]+"${tools[@]}"}
  "${pip[@]}" --no-deps "$harness"
  echo "$wanted $kind" >"$stamp"
fi

size=$(du -sm "$folder" | cut -f 1)
echo "$folder: Python $version, $harness, $size MB"
echo "next: $folder/bin/python -m amd_bfcl --help"
