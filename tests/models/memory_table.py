"""Measures every edge program of this folder and writes the table of tests/models/README.md: planned bytes by placement and planner.

    python tests/models/memory_table.py [PROGRAM OF WRITEBACK]      (default: build/release/writeback)
"""

import gzip
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
PLACEMENTS = ("end", "earliest", "forwarded", "coalesced")
HEAD = """# Memory of the models here

Planned bytes of each edge program: ExecuTorch 1.4.1's planner (its own rules, stale output specs included), the same planner with right
lifetimes, our best plan, and the bound that none can beat. Made by `python tests/models/memory_table.py`; upper bounds stand for
symbolic sizes (a size without a bound is not planned).

`decoder_32_layers` is the decoder at a real shape (32 layers of 4096, a context of 2048, made by `real_decoder.py` from metadata alone):
2,147,483,648 bytes of it are the caches, 524,288,000 the transposed weight of its last layer, which ExecuTorch makes at run time where
nobody folds it; of the rest the early copies leave 144,384.

| model | placement | executorch | fixed | best | bound |
|---|---|---:|---:|---:|---:|
"""


def rows(program, model):
    text = gzip.decompress(model.read_bytes()) if model.suffix == ".gz" else model.read_bytes()
    answer = subprocess.run([program, "plan", "-", "--json"], input=text, check=True, capture_output=True).stdout
    measured = json.loads(answer)["placements"]
    name = model.name.split(".")[0]
    for placement in PLACEMENTS:
        m = measured[placement]
        yield f"| {name} | {placement} | {m['executorch']:,} | {m['executorch_fixed']:,} | {m['best']:,} | {m['bound']:,} |\n"
        name = ""


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else str(HERE.parents[1] / "build/release/writeback")
    models = sorted(HERE.glob("*.edge.txt*"))
    (HERE / "README.md").write_text(HEAD + "".join(row for model in models for row in rows(program, model)))


if __name__ == "__main__":
    main()
