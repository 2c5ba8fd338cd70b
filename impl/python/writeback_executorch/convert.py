"""python -m writeback_executorch.convert PROGRAM [-o FILE]: a .pt2 file as text that `writeback` reads, storages that are shared and
custom schemas included; with --edge what ExecuTorch's to_edge makes of it; with --json export-schema JSON."""

import argparse
import json
import pathlib
import sys
import warnings

from . import program as programs
from .endtoend import load, to_edge_manager
from .errors import main_of


@main_of
def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m writeback_executorch.convert", description=__doc__)
    parser.add_argument("program", help=".pt2 file")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="default: standard output")
    parser.add_argument("--edge", action="store_true", help="lower to ExecuTorch's edge dialect first")
    parser.add_argument("--json", action="store_true", help="export-schema JSON instead of text")
    given = parser.parse_args(arguments)
    warnings.filterwarnings("ignore")
    exported = load(given.program)
    if given.edge:
        exported = to_edge_manager(exported).exported_program()
    text = json.dumps(programs.write_json(exported.graph_module, exported.graph_signature)) if given.json else programs.text_of(exported)
    given.output.write_text(text) if given.output else print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
