#!/usr/bin/env bash
# Serves a student by vLLM: scripts/serve_vllm.sh [--print] MODEL [ARGUMENTS OF vllm serve]
#   MODEL         a file of configs/students without .toml: qwen3-4b, qwen3-8b, llama-3.1-8b, gemma-3-4b, and
#                 smollm2-135m for a machine without a GPU (scripts/setup_vllm_cpu.sh)
#   --print       print the command line, run nothing
#   VLLM_SOURCE=  the folder of vLLM's source, for a model whose chat template lies there
#   WEIGHTS=      a folder of weights to serve, in place of the hub's repository
#   PYTHON=       the Python that reads the configuration, from 3.11 on; without it the first one found
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")

only_print=
arguments=()
for argument in "$@"; do
  if [[ $argument == --print ]]; then only_print=yes; else arguments+=("$argument"); fi
done
if [[ ${#arguments[@]} -eq 0 ]]; then
  echo "usage: [VLLM_SOURCE=/path/to/vllm] scripts/serve_vllm.sh [--print] MODEL [ARGUMENTS OF vllm serve]" >&2
  exit 2
fi

python=${PYTHON:-}
for candidate in python3 python python3.12 python3.11 python3.13; do
  if [[ -n $python ]]; then break; fi
  if "$candidate" -c 'import tomllib' 2>/dev/null; then python=$candidate; fi
done
if [[ -z $python ]]; then
  echo "no Python from 3.11 on was found to read the configuration: give one with PYTHON=/path/to/python" >&2
  exit 1
fi

line=$("$python" "$here/vllm_command.py" "${arguments[@]}")
if [[ -n $only_print ]]; then
  echo "$line"
  exit
fi
if ! command -v vllm >/dev/null; then
  echo "vllm is not installed here: install it in an environment of its own (pip install vllm) and activate that, or look at the command with --print" >&2
  exit 1
fi
eval "words=($line)" # the line was quoted for this
for word in "${words[@]}"; do
  if [[ $word == *.jinja && ! -f $word ]]; then
    echo "the chat template $word is not there: it is part of vLLM's source, say where that is with VLLM_SOURCE=/path/to/vllm" >&2
    exit 1
  fi
done
# The build for processors is a package of another name, in which `vllm serve` looks for itself in vain and stops.
beside=$(dirname "$(command -v vllm)")/python
if [[ -x $beside ]] && "$beside" -c 'from importlib.metadata import version; version("vllm-cpu")' 2>/dev/null; then
  words=("$beside" -m vllm.entrypoints.openai.api_server --model "${words[@]:2}")
fi
exec "${words[@]}"
