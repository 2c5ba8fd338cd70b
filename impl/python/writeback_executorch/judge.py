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
import os
import sys

import torch

from . import randoms, tool
from .errors import main_of


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


def check_placement(program, placement, inputs, expected, lowered, counts):
    """None where the program with our copies leaves what it should, else a sentence."""
    try:
        got = program.execute(inputs, *events_of(placement), lowered)
    except randoms.Refused:  # an in-place op of a view_copy and its base: no kernel of torch's runs it as lowered
        counts["lowered runs that PyTorch refuses" if lowered else "runs that PyTorch refuses"] += 1
        return None if lowered else "PyTorch refuses a node that it took without copies"
    except RuntimeError as e:
        return f"PyTorch refuses: {e}"
    counts["placed runs"] += 1
    said = difference(program, got, expected)
    return said and f"run {'lowered' if lowered else 'as written'}: {said[0]} should be {said[1]}, is {said[2]}"


def judge(program, lowering, answer, placement):
    """Counts of what happened to a program, and a list of sentences: what is wrong with the tool's two answers."""
    counts = collections.Counter({"judged": 1, "nodes": len(program.nodes)})
    for refused in (answer, placement):
        if "error" in refused:
            counts["refused"] += 1
            return counts, [f"refused: {refused['error']}"]
    inputs = inputs_of(program, answer)
    expected = program.execute(inputs)
    counts["values"] += len(expected[0])
    said = [check_interpreter(program, answer, expected, counts)]
    hazards = bool(placement["lowering_hazards"])
    counts["lowering hazards"] += hazards
    for lowered in (False, True) if lowering == "executorch" and not hazards else (False,):
        said.append(check_placement(program, placement, inputs, expected, lowered, counts))
    return counts, [s for s in said if s]


def judge_seeds(seeds, nodes):
    """The same for the programs of seeds, with the lowering on and off; the tool is asked for all of them at once."""
    programs = [randoms.draw(seed, nodes)[0] for seed in seeds]
    requests = [{"program": p.text(), "seed": seed, "alias": p.may_alias is not False, "trace": True} for p, seed in zip(programs, seeds)]
    counts, failures = collections.Counter(programs=len(programs)), []
    for lowering in ("executorch", "none"):
        answers, placements = (tool.batch([command, "-", "--lowering", lowering], requests) for command in ("run", "place"))
        for seed, program, answer, placement in zip(seeds, programs, answers, placements):
            counted, said = judge(program, lowering, answer, placement)
            counts += counted
            failures += [(seed, f"--lowering {lowering}: {s}") for s in said]
    return counts, failures


def judge_many(first, programs, nodes=8, jobs=None, at_once=250):
    counts, failures = collections.Counter(), []
    torch.set_num_threads(1)
    chunks = [range(start, min(start + at_once, first + programs)) for start in range(first, first + programs, at_once)]
    with concurrent.futures.ThreadPoolExecutor(jobs or os.cpu_count()) as pool:  # a thread judges while another waits for the tool
        for c, f in pool.map(lambda seeds: judge_seeds(seeds, nodes), chunks):
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
