"""python -m writeback_executorch.savings PROGRAM...: what early copies save, a row of Markdown for each .pt2 file.

The columns are the bytes that ExecuTorch's own planner plans when one correction or saving of early.py after the other is switched on,
the lower bound of the coalesced program that `writeback plan` gives, and what is saved of the bytes beyond the state itself (which no
placement can save). A star says that ExecuTorch's runtime does not give eager PyTorch's outputs or state over three calls.
"""

import argparse
import json
import pathlib
import sys
import warnings

from . import endtoend, memory, program as programs, tool
from .errors import BridgeError, main_of

EARLY = {"correct_specs": False, "forward": False, "coalesce": False}
COLUMNS = {"as released": None, "early": EARLY, "specs corrected": {**EARLY, "correct_specs": True},
           "forwarded": {"coalesce": False}, "coalesced": {}}


def bound_of(edge):
    """The largest sum of live bytes of the edge program with later readers forwarded and values born in their targets."""
    answer = json.loads(tool.run(["plan", "-", "--json"], programs.text_of(edge.exported_program()), accept=(0, 1)))
    return answer["placements"]["coalesced"]["bound"]


def row(path):
    """(cells of the row) of a program; raises BridgeError where ExecuTorch does not lower it."""
    exported = endtoend.load(path)
    edge = endtoend.to_edge_manager(exported)
    planned, cells = {}, [pathlib.Path(path).stem]
    for name, switches in COLUMNS.items():
        wrong, manager, _ = endtoend.compare(exported, switches, edge=edge)
        planned[name] = memory.planned(manager)
        cells.append(f"{planned[name]:,}" + ("*" if wrong else ""))
    state = memory.state_bytes(manager)
    beyond, left = planned["as released"] - state, planned["coalesced"] - state
    return [*cells, f"{bound_of(edge):,}", f"{1 - left / beyond:.1%}" if beyond > 0 else "-"]


@main_of
def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m writeback_executorch.savings", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", help=".pt2 files")
    given = parser.parse_args(arguments)
    warnings.filterwarnings("ignore")
    heads = ["model", *COLUMNS, "bound", "saved beyond the state"]
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for path in given.programs:
        try:
            print("| " + " | ".join(row(path)) + " |", flush=True)
        except BridgeError as e:
            print(f"{path}: {e}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
