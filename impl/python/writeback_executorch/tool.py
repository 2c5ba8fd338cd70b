"""Finds and runs the program `writeback`: $WRITEBACK, else the one that this package's wheel brought, else the one on PATH."""

import json
import os
import pathlib
import shutil
import subprocess
import sysconfig

from .errors import BridgeError


def program():
    """The path of the program."""
    named = os.environ.get("WRITEBACK")
    if named:
        return named
    bundled = pathlib.Path(sysconfig.get_path("scripts")) / "writeback"
    found = str(bundled) if bundled.exists() else shutil.which("writeback")
    if not found:
        raise BridgeError("the program writeback is not installed: pip install ./impl/python builds it, or set WRITEBACK to its path")
    return found


def run(arguments, text="", accept=(0,)):
    """Runs `writeback ARGUMENTS` with `text` on its standard input and gives what it prints. A status that is not in `accept`
    is a BridgeError with the program's own message."""
    try:
        done = subprocess.run([program(), *arguments], input=text, capture_output=True, text=True)
    except OSError as e:
        raise BridgeError(f"the program writeback could not be run: {e}") from e
    if done.returncode not in accept:
        said = done.stderr.strip() or done.stdout.strip() or f"exit status {done.returncode}"
        raise BridgeError(f"writeback {' '.join(arguments)} failed: {said}")
    return done.stdout


def place(text, arguments=(), accept=(0,)):
    """The placement of a program given as text or JSON: the object that `writeback place --json` prints."""
    return json.loads(run(["place", "-", "--json", *arguments], text, accept))
