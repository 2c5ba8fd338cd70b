#!/usr/bin/env bash
# The tests of the bridge, in an environment of their own: build/bridge (made once; the package itself is installed anew where a source
# changed). $PYTHON names the interpreter, else the newest python3 that torch has wheels for. $PYTEST_FLAGS is passed on, -m long runs those that are left out.
set -euo pipefail
cd "$(dirname "$0")/../.."
environment=build/bridge

find_python() {
  for candidate in ${PYTHON:-} python3.11 python3.12 python3.13 python3; do
    if command -v "$candidate" >/dev/null && "$candidate" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null
    then echo "$candidate"; return; fi
  done
  return 1
}

.ci/install-packages build bridge

if [ ! -x "$environment/bin/python" ]; then
  python=$(find_python) || {
    echo "test-bridge: needs Python 3.11 to 3.13 with venv (apt-get install python3-venv), or PYTHON=/path/to/python" >&2
    exit 1
  }
  "$python" -m venv "$environment"
fi
python=$environment/bin/python

if ! "$python" -c 'import torch, executorch, xdist' 2>/dev/null; then
  "$python" -m pip install --quiet --disable-pip-version-check torch==2.13.0 ${TORCH_INDEX:+--index-url "$TORCH_INDEX"}
  "$python" -m pip install --quiet --disable-pip-version-check executorch==1.4.1 pytest-xdist
fi

stamp=$environment/.installed
sources=$(git ls-files -z '*.cpp' '*.h' '*.py' '*.toml' 'CMakeLists.txt' 'ref/graph/*' | xargs -0 sha256sum | sha256sum)
if [ "$(cat "$stamp" 2>/dev/null)" != "$sources" ]; then
  "$python" -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps ./impl/python
  echo "$sources" >"$stamp"
fi

"$python" - <<'VERSIONS'
import importlib.metadata as m, platform
print("Python", platform.python_version(), *(f"{name} {m.version(name)}" for name in ("torch", "executorch", "writeback-executorch")), sep=", ")
VERSIONS
# The environment's own program and package are tested, not the sources in this tree.
PATH="$PWD/$environment/bin:$PATH" "$python" -m pytest -q -p no:cacheprovider -W ignore -n auto --maxprocesses 4 --dist loadgroup --durations=10 -m 'not long' \
  impl/python/tests ${PYTEST_FLAGS:-}
