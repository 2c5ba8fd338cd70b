"""The scripts of bug reports, run with PyTorch: each planted fault is shown by the script of its report."""
import contextlib
import io
import json
import pathlib
import runpy
import subprocess

import pytest

CORPUS = pathlib.Path(__file__).parents[3] / "fuzz" / "corpus"
FAULTS = [fault["name"] for fault in json.loads(subprocess.run(["writeback", "faults", "--json"], capture_output=True, check=True).stdout)]

# What a script shows where it is not that the placement changes what the program computes.
SHOWN = {
    "dead_readers_hold": "THE SAME",  # the copy is late
    "metadata_readers_hold": "THE SAME",
    "rule_misnamed": "UNEXPLAINED",
    "step_of_chain_skipped": "UNEXPLAINED",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_script_of_a_report_shows_the_fault(fault, tmp_path):
    command = ["writeback", "minimize", CORPUS / f"{fault}.txt", "--impl", f"fault:{fault}", "--out", tmp_path]
    subprocess.run(command, capture_output=True)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        try:
            runpy.run_path(str(tmp_path / "reproduce.py"), run_name="__main__")
        except SystemExit as end:
            assert end.code == 0, f"{end.code}\n{said.getvalue()}"
    last = said.getvalue().splitlines()[-1]
    assert last.startswith(SHOWN.get(fault, "DIFFERENT")), said.getvalue()
