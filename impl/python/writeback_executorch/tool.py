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


def _finished(arguments, text):
    try:
        return subprocess.run([program(), *arguments], input=text, capture_output=True, text=True)
    except OSError as e:
        raise BridgeError(f"the program writeback could not be run: {e}") from e


def _said(done):
    return done.stderr.strip() or done.stdout.strip() or f"exit status {done.returncode}"


def run(arguments, text="", accept=(0,)):
    """Runs `writeback ARGUMENTS` with `text` on its standard input and gives what it prints. A status that is not in `accept`
    is a BridgeError with the program's own message."""
    done = _finished(arguments, text)
    if done.returncode not in accept:
        raise BridgeError(f"writeback {' '.join(arguments)} failed: {_said(done)}")
    return done.stdout


def batch(arguments, requests):
    """The answers of `writeback ARGUMENTS --batch` to requests, an object each; {"error": ...} where one was refused. A request at
    which the program ends is answered by what it said last, and the rest is asked again."""
    answers = []
    while len(answers) < len(requests):
        done = _finished([*arguments, "--batch"], "".join(json.dumps(r) + "\n" for r in requests[len(answers):]))
        if done.returncode < 0:
            raise BridgeError(f"writeback {' '.join(arguments)} was ended by signal {-done.returncode}")
        answers += map(json.loads, done.stdout.splitlines())
        if len(answers) < len(requests):
            answers.append({"error": _said(done)})
    return answers


def place(text, arguments=(), accept=(0,)):
    """The placement of a program given as text or JSON: the object that `writeback place --json` prints."""
    return json.loads(run(["place", "-", "--json", *arguments], text, accept))
