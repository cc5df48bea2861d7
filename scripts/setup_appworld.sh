#!/usr/bin/env bash
# Makes .venvs/appworld: AppWorld with its code unpacked, in an environment of its own; amd reaches it over HTTP and is
# not in it. Then makes a world in it: invented people and tasks, offline, or the benchmark's own data.
# Run it again at any time: it does nothing if nothing has changed, and replaces no data but the invented world's.
#   --root DIR  where the world goes, to DIR/data; without it appworld-world, with --data appworld-benchmark
#   --data      download the benchmark's data; what is there already is left as it is
#   PYTHON=     the Python to use, 3.11 or 3.12; without it the first one found
set -euo pipefail
called_from=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/environment.sh

harness=appworld==0.1.3.post1
folder=.venvs/appworld
stamp=$folder/.ready
# AppWorld unpacks its own tests too, to the user's home folder if it is not told otherwise.
export APPWORLD_CACHE=$PWD/$folder/appworld-cache

usage="usage: [PYTHON=/path/to/python] scripts/setup_appworld.sh [--data] [--root DIR]"

data=
root=
while (($#)); do
  case $1 in
    --data) data=yes ;;
    --root)
      if [[ -z ${2:-} || $2 == -* ]]; then stop "$usage" 2; fi
      root=$2
      shift
      ;;
    *) stop "$usage" 2 ;;
  esac
  shift
done
shown=${root:-$(if [[ -n $data ]]; then echo appworld-benchmark; else echo appworld-world; fi)}
case $root in
  "") root=$PWD/$shown ;;
  /*) ;;
  *) root=$called_from/$root ;;
esac

choose_python "$folder" "AppWorld needs 3.11 or newer, and only 3.11 and 3.12 were tried" 3.11 3.12

wanted="$harness unpacked"
if [[ $(cat "$stamp" 2>/dev/null || true) != "$wanted" ]]; then
  echo "installing into $folder with Python $version, once: about 230 MB, half a minute or more"
  rm -f "$stamp"
  make_environment "$folder"
  "$folder/bin/python" -m pip install -qq --disable-pip-version-check "$harness"
  # Its code comes packed; this needs no network.
  "$folder/bin/python" -m appworld.cli install >/dev/null
  echo "$wanted" >"$stamp"
fi

mark=$root/data/invented-world.json
if [[ -n $data && -e $mark ]]; then
  stop "$shown/data is the invented world, and the benchmark's data has the same place: give another folder with --root, or leave --root out"
elif [[ -n $data && -s $root/data/datasets/train.txt && -d $root/data/tasks ]]; then
  :
elif [[ -n $data && ( -e $root/data || -L $root/data ) ]]; then
  stop "$shown/data is not touched: it is there, and is no whole download of the benchmark's data (no tasks, or no datasets/train.txt); give another folder with --root, or remove that one yourself"
elif [[ -n $data ]]; then
  # AppWorld removes what is there before it downloads, so the download has a folder of its own.
  mkdir -p "$root"
  arriving=$(mktemp -d "$root/.arriving-XXXXXX")
  trap 'rm -rf "$arriving"' EXIT
  # With plain tracebacks the last line says what went wrong.
  _TYPER_STANDARD_TRACEBACK=1 "$folder/bin/python" -m appworld.cli download data --root "$arriving" >"$arriving/log" 2>&1 || true
  if [[ ! -s $arriving/data/datasets/train.txt || ! -d $arriving/data/tasks ]]; then
    stop "the benchmark's data did not arrive, and nothing in $shown has changed ($(tail -n 1 "$arriving/log")): it needs the network; without one, leave --data out and the invented world is made"
  fi
  mv "$arriving/data" "$root/"
else
  "$folder/bin/python" scripts/appworld_synthetic.py "$root"
fi

tasks() { find "$root/data/tasks" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l | tr -d ' '; }
echo "$folder: Python $version, $harness, $(du -sm "$folder" | cut -f 1) MB"
echo "$shown: $(if [[ -n $data ]]; then echo "the benchmark's data"; else echo "the invented world"; fi), $(tasks) tasks, $(du -sm "$root/data" | cut -f 1) MB"
if [[ -n $data ]]; then
  echo "its licence asks not to publish tasks, or what is made of them, in plain text; so for a memory of them"
fi
echo "next: python -m amd_appworld run --root $(printf %q "$shown") --help"
