"""python -m writeback_executorch.judge: PyTorch as judge of the interpreter and of the placement.

For each random program (randoms.py) and with the lowering on and off:
  1. `writeback run` says which inputs it took and what every value, output and placeholder became; eager PyTorch, given the same inputs,
     must get the same, cell by cell;
  2. `writeback place` says where the copies stand; the program run eagerly with real copies there must leave the outputs and the
     placeholders that the meaning leaves: as written, and with the lowering on also with view_copy lowered as ExecuTorch does, unless
     the tool reported that the lowering changes this program wherever the copies stand.
A refusal by the tool is counted and shown; exit status 1 where anything differs, 0 where not.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import sys

import torch

from . import randoms, tool
from .errors import BridgeError, main_of


def cells(value):
    """The integers of a value as the tool prints it, terms as they are."""
    return randoms.flat(value)


def as_list(tensor):
    return [int(v) for v in tensor.flatten().tolist()]


def inputs_of(program, answer):
    """The tensors that the tool gave the placeholders."""
    return {p.name: torch.tensor(cells(answer["inputs"][p.name]), dtype=torch.int64).to(p.dtype) for p in program.placeholders}


def events_of(placement):
    """The events of Program.execute for what `place --json` answers, and the outputs that are read first."""
    events = collections.defaultdict(list)
    rows = [("temporary", t) for t in placement["temporaries"]] + [("copy", c) for c in placement["copies"] if not c["in_place"]]
    for kind, row in sorted(rows, key=lambda r: (r[1]["slot"], r[1]["order"])):
        if kind == "temporary":
            events[row["after"]].append((kind, row["name"], row["of"]))
        else:
            events[row["after"]].append((kind, row["target"], row["temporary"] or row["value"]))
    of = {t["of"]: t["name"] for t in placement["temporaries"]}
    return events, {name: of[name] for name in placement["outputs_read_first"]}


def difference(program, got, expected):
    """Where two runs differ: ("output" or placeholder, expected, got), else None."""
    for name, a, b in zip(program.outputs, got[1], expected[1]):
        if not torch.equal(a, b):
            return f"output {name}", as_list(b), as_list(a)
    for p in program.placeholders:
        if not torch.equal(got[2][p.name], expected[2][p.name]):
            return p.name, as_list(expected[2][p.name]), as_list(got[2][p.name])
    return None


def check_interpreter(program, answer, expected, counts=None):
    """None where `run` and eager agree, else what differs. Cells that the interpreter leaves uninterpreted are counted, not compared."""
    born, outputs, final = expected
    rows = [(row["name"], row["results"], born[row["name"]]) for row in answer["trace"] if row["name"] in born]
    rows += [(f"output {name}", value, tensor) for name, value, tensor in zip(program.outputs, answer["outputs"], outputs)]
    rows += [(f"{name} at the end", value, final[name]) for name, value in answer["state"].items()]
    for what, value, tensor in rows:
        ours, torchs = cells(value), as_list(tensor)
        terms = sum(isinstance(cell, str) for cell in ours)
        if counts is not None:
            counts["cells compared"] += len(ours) - terms
            counts["cells uninterpreted"] += terms
        if len(ours) != len(torchs) or any(a != b for a, b in zip(ours, torchs) if not isinstance(a, str)):
            return f"{what}: eager {torchs}, interpreter {ours}"
    return None


def judge(seed, nodes):
    """Counts of what happened to one program, and a list of failures."""
    program, _ = randoms.draw(seed, nodes)
    text = program.text()
    counts, failures = collections.Counter(programs=1, nodes=len(program.nodes)), []
    for lowering in ("executorch", "none"):
        options = ["--lowering", lowering]
        try:
            choice = ["--copy-may-alias"] if program.may_alias is False else []
            answer = json.loads(tool.run(["run", "-", "--json", "--trace", "--seed", str(seed), *options, *choice], text))
            placement = tool.place(text, options, accept=(0, 1))
        except BridgeError as e:
            counts["refused"] += 1
            failures.append((seed, f"refused with --lowering {lowering}: {e}"))
            continue
        inputs = inputs_of(program, answer)
        expected = program.execute(inputs)
        counts["values"] += len(expected[0])
        said = check_interpreter(program, answer, expected, counts)
        if said:
            failures.append((seed, f"interpreter, --lowering {lowering}: {said}"))
        hazards = bool(placement["lowering_hazards"])
        counts["lowering hazards"] += hazards
        events, reads_first = events_of(placement)
        for lowered in (False, True) if lowering == "executorch" and not hazards else (False,):
            try:
                got = program.execute(inputs, events, reads_first, lowered)
            except randoms.Refused:  # an in-place op of a view_copy and its base: no kernel of torch's runs it as lowered
                counts["lowered runs that PyTorch refuses"] += 1
                continue
            except RuntimeError as e:
                failures.append((seed, f"placement, --lowering {lowering}: PyTorch refuses: {e}"))
                continue
            counts["placed runs"] += 1
            said = difference(program, got, expected)
            if said:
                how = "lowered" if lowered else "as written"
                failures.append((seed, f"placement, --lowering {lowering}, run {how}: {said[0]} should be {said[1]}, is {said[2]}"))
    return counts, failures


def judge_many(first, programs, nodes=8, jobs=None):
    counts, failures = collections.Counter(), []
    torch.set_num_threads(1)
    with concurrent.futures.ThreadPoolExecutor(jobs or os.cpu_count()) as pool:  # the threads wait for processes
        for c, f in pool.map(lambda seed: judge(seed, nodes), range(first, first + programs)):
            counts += c
            failures += f
    return counts, failures


@main_of
def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m writeback_executorch.judge", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="seed of the first program")
    parser.add_argument("--nodes", type=int, default=8)
    parser.add_argument("--show", action="store_true", help="print the program of --seed and stop")
    given = parser.parse_args(arguments)
    if given.show:
        print(randoms.draw(given.seed, given.nodes)[0].text())
        return 0
    counts, failures = judge_many(given.seed, given.programs, given.nodes)
    for seed, said in failures[:20]:
        print(f"seed {seed}: {said}")
    print(", ".join(f"{n} {what}" for what, n in sorted(counts.items())) + f", {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
