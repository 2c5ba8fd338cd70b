"""python -m writeback_executorch.hunt: miscompilations of a write-back pass, each small and each confirmed.

Draws random functional programs (randoms.py), runs the pass on them, alone and in its pipeline (serve.py), and asks eager PyTorch
whether the result still has the program's meaning (confirm.py). Every failure is shrunk as long as it stays the same kind of failure, one
program is kept for each kind, and ExecuTorch's runtime is asked whether it happens on the device too (endtoend.py).
With --out each finding is written as text, and a page of all. Exit status 1 where there is a finding.

The fuzzer of `writeback` hunts over more ops (campaign.py); this hunt shares no generator, no oracle and no minimiser with it.
"""

import argparse
import copy
import dataclasses
import logging
import pathlib
import sys
import warnings

from . import confirm, findings, program as programs, randoms
from .errors import main_of
from .passes import installed_pass, pass_from
from .serve import Server


@dataclasses.dataclass
class Broken:
    """A program that fails, and how."""
    kind: str
    program: randoms.Program
    said: str
    pipeline: bool       # only seen when the passes around run too

    def size(self):
        return len(self.program.nodes), len(self.program.write_backs) + len(self.program.outputs), len(self.program.placeholders)

    def finding(self):
        return findings.Finding(self.kind, self.program.text(), self.said, self.pipeline, findings.end_to_end(*self.program.graph()))


class Hunter:
    def __init__(self, write_back):
        self.alone, self.pipeline = Server(write_back), Server(write_back, pipeline=True)

    def failure(self, program, pipeline):
        """(kind, what differs) of a program that the pass breaks, else None."""
        before = programs.write_json(*program.graph())
        reply = (self.pipeline if pipeline else self.alone).reply({"program": before})
        if "error" in reply:
            return "the pass raises: " + reply["error"].split(":")[0], reply["error"]
        try:
            said = confirm.first_difference(before, reply["program"])
        except confirm.Refused:
            return None
        return (findings.kind_of(*program.graph(), said), said) if said else None

    def find(self, seed, nodes):
        program, _ = randoms.draw(seed, nodes, functional=True)
        for pipeline in (False, True):
            failed = self.failure(program, pipeline)
            if failed:
                return self.shrunk(Broken(failed[0], program, failed[1], pipeline))
        return None

    def shrunk(self, broken):
        """The same kind of failure, with no single simplification left."""
        smaller = True
        while smaller:
            smaller = False
            for candidate in simplifications(broken.program):
                failed = self.failure(candidate, broken.pipeline)
                if failed and failed[0] == broken.kind:
                    broken = dataclasses.replace(broken, program=candidate, said=failed[1])
                    smaller = True
                    break
        return broken


def simplifications(program):
    """Programs with one thing less. Those that PyTorch does not run are left out."""
    for made in _simplified(program):
        made.placeholders = [p for p in made.placeholders if p.name in _used(made)] or made.placeholders[:1]
        try:
            _retype(made)
        except (RuntimeError, IndexError, KeyError, ValueError, TypeError):
            continue
        if made.write_backs and all(randoms.fits_into(_value(made, v), _value(made, p.name)) for p, v in made.write_backs):
            yield made


def _simplified(program):
    for i in range(len(program.write_backs)):
        made = copy.copy(program)
        made.write_backs = program.write_backs[:i] + program.write_backs[i + 1:]
        yield made
    for i in range(len(program.outputs)):
        made = copy.copy(program)
        made.outputs = program.outputs[:i] + program.outputs[i + 1:]
        yield made
    for i, node in reversed(list(enumerate(program.nodes))):
        rest = program.nodes[:i] + program.nodes[i + 1:]
        names = [p.name for p in program.placeholders] + [n.name for n in program.nodes[:i]]
        if not _is_read(node.name, rest, program):
            names = names[:1]
        for name in names:
            made = copy.copy(program)
            made.nodes = [_renamed(n, node.name, name) for n in rest]
            made.write_backs = [(p, name if v == node.name else v) for p, v in program.write_backs]
            made.outputs = [name if v == node.name else v for v in program.outputs]
            yield made


def _is_read(name, nodes, program):
    return any(name in n.refs() for n in nodes) or name in program.outputs or name in [v for _, v in program.write_backs]


def _renamed(node, old, new):
    def change(value):
        if isinstance(value, randoms.Ref):
            return randoms.Ref(new) if value.name == old else value
        return type(value)(change(v) for v in value) if isinstance(value, (list, tuple)) else value
    return dataclasses.replace(node, args=change(node.args), kwargs={k: change(v) for k, v in node.kwargs.items()})


def _used(program):
    refs = {r for n in program.nodes for r in n.refs()}
    return refs | set(program.outputs) | {v for _, v in program.write_backs} | {p.name for p, _ in program.write_backs}


def _retype(program):
    """Runs the program once for the shapes of its values; raises where PyTorch does not run it."""
    import torch
    env = program.storages({p.name: torch.zeros(p.sizes, dtype=p.dtype) for p in program.placeholders})
    for i, node in enumerate(program.nodes):
        value = randoms.call(node.op, randoms.substitute(node.args, env), {k: randoms.substitute(v, env) for k, v in node.kwargs.items()})
        program.nodes[i] = dataclasses.replace(node, value=value)
        env[node.name] = value
    program.types = env


def _value(program, name):
    return program.types[name]


def hunt(write_back, first, count, nodes, progress=lambda text: None):
    """The smallest finding of each kind, in the order of their discovery."""
    hunter, kinds = Hunter(write_back), {}
    for seed in range(first, first + count):
        broken = hunter.find(seed, nodes)
        if broken and (broken.kind not in kinds or broken.size() < kinds[broken.kind].size()):
            if broken.kind not in kinds:
                progress(f"seed {seed}: {broken.kind}")
            kinds[broken.kind] = broken
    return [broken.finding() for broken in kinds.values()]


@main_of
def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m writeback_executorch.hunt", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--nodes", type=int, default=6)
    parser.add_argument("--out", type=pathlib.Path, help="folder for the findings")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--pass", dest="pass_name", metavar="MODULE:FUNCTION")
    which.add_argument("--pass-file", metavar="FILE")
    given = parser.parse_args(arguments)
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    write_back = pass_from(given.pass_name, given.pass_file) or installed_pass()
    found = hunt(write_back, given.seed, given.programs, given.nodes, lambda text: print(text, file=sys.stderr))
    if given.out:
        findings.write(found, given.out)
    print(findings.page(found))
    print(f"{len(found)} kinds of findings in {given.programs} programs")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
