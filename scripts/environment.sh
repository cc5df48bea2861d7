# What the set-up scripts share; they source it. An environment is a folder with one Python, made once.

# stop MESSAGE [CODE]: one line on standard error, and the end.
stop() {
  echo "$1" >&2
  exit "${2:-1}"
}

# "3.11" and so on; nothing if it does not run.
version_of() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || true; }

# choose_python FOLDER WHY VERSION...: sets `python` and `version`. It is the one that PYTHON names, else the one that
# FOLDER was made with, else the first of these versions on the path.
choose_python() {
  local folder=$1 why=$2 candidate
  shift 2
  local known=" $* " named=$*
  named=${named// / or }
  made=
  if [[ -e $folder/bin/python ]]; then made=$(version_of "$folder/bin/python"); fi
  python=${PYTHON:-}
  if [[ -z $python && -n $made ]]; then python=$folder/bin/python; fi
  for candidate in "${@/#/python}" python3 python; do
    if [[ -n $python ]]; then break; fi
    if [[ $known == *" $(version_of "$candidate") "* ]]; then python=$candidate; fi
  done
  if [[ -z $python ]]; then
    stop "no Python $named was found ($why): give one with PYTHON=/path/to/python$1"
  fi
  version=$(version_of "$python")
  if [[ $known != *" ${version:-none} "* ]]; then
    stop "$python is ${version:+Python }${version:-no Python that runs}, not $named ($why): give one with PYTHON=/path/to/python$1"
  fi
  if [[ -n $made && $made != "$version" ]]; then
    stop "$folder was made with Python $made, and $python is Python $version: remove it first with rm -rf $folder, or leave PYTHON out"
  fi
}

# make_environment FOLDER: an environment with pip in it, unless it is there already.
make_environment() {
  if [[ -z $made ]]; then "$python" -m venv --clear "$1"; fi
  if ! "$1/bin/python" -m pip --version >/dev/null 2>&1; then "$1/bin/python" -m ensurepip >/dev/null; fi
}
