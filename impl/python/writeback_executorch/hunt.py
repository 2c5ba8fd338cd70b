"""python -m writeback_executorch.hunt: miscompilations of a write-back pass, each small and each confirmed.

Draws random functional programs (randoms.py), runs the pass on them, alone and in its pipeline (serve.py), and asks eager PyTorch
whether the result still has the program's meaning (confirm.py). Every failure is shrunk as long as it stays the same kind of failure, one
program is kept for each kind, and ExecuTorch's runtime is asked whether it happens on the device too (endtoend.py).
With --out each finding is written as text, as export-schema JSON, and as a page. Exit status 1 where there is a finding.

The fuzzer of `writeback` finds the same with `writeback fuzz --impl 'cmd:python -m writeback_executorch.serve'`, faster and over more ops;
this hunt shares no generator, no oracle and no minimiser with it.
"""

import argparse
import copy
import dataclasses
import json
import logging
import pathlib
import sys
import warnings

from . import confirm, endtoend, program as programs, randoms
from .errors import BridgeError, main_of
from .passes import installed_pass, pass_from
from .serve import Server


@dataclasses.dataclass
class Finding:
    kind: str
    program: randoms.Program
    said: str            # what differs
    seed: int
    pipeline: bool       # only seen when the passes around run too
    end_to_end: str = ""

    def size(self):
        return len(self.program.nodes), len(self.program.write_backs) + len(self.program.outputs), len(self.program.placeholders)


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
        return (kind_of(program, said), said) if said else None

    def find(self, seed, nodes):
        program, _ = randoms.draw(seed, nodes, functional=True)
        for pipeline in (False, True):
            failed = self.failure(program, pipeline)
            if failed:
                return self.shrunk(Finding(failed[0], program, failed[1], seed, pipeline))
        return None

    def shrunk(self, finding):
        """The same kind of failure, with no single simplification left."""
        smaller = True
        while smaller:
            smaller = False
            for candidate in simplifications(finding.program):
                failed = self.failure(candidate, finding.pipeline)
                if failed and failed[0] == finding.kind:
                    finding = dataclasses.replace(finding, program=candidate, said=failed[1])
                    smaller = True
                    break
        return finding


NAMES = {"BUFFER": "a buffer", "PARAMETER": "a parameter", "USER_INPUT": "an input"}


def kind_of(program, said):
    """One sentence for a kind of failure, from what differs and where its value comes from."""
    if "user outputs expected" in said:
        return "the number of user outputs changes"
    producers = {n.name: n for n in program.nodes}
    placeholders = {p.name: p for p in program.placeholders}
    written = {p.name for p, _ in program.write_backs}

    def described(name):
        root, through = name, ""
        while root in producers and producers[root].op == "aten.view_copy.default":
            root, through = producers[root].args[0].name, "a view of "
        if root not in placeholders:
            return through + "a computed value"
        p = placeholders[root]
        return through + NAMES[p.kind] + (" that is written too" if p.name in written else "")

    if said.startswith("user output"):
        name = program.outputs[int(said.split()[2].rstrip(":"))]
        return f"a user output that is {described(name)} is wrong"
    key = said.split()[0]
    for p, value in program.write_backs:
        if p.key == key and p.kind == "PARAMETER":
            return "the mutation of a parameter is dropped"
        if p.key == key and value in placeholders and placeholders[value].kind == p.kind:
            return f"a write-back from {NAMES[p.kind]} to another is dropped"
        if p.key == key:
            return f"{NAMES[p.kind]} is not given {described(value)}"
    return "an input that nobody writes changes"


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


def end_to_end(program):
    """What ExecuTorch's runtime says: "different: ...", "the same", or why it cannot be asked."""
    try:
        found = endtoend.compare_graph(*program.graph())
        return f"different: {found}" if found else "the same"
    except BridgeError as e:
        return f"not run: {e}"


def hunt(write_back, first, count, nodes, progress=lambda text: None):
    """The smallest finding of each kind, in the order of their discovery."""
    hunter, kinds = Hunter(write_back), {}
    for seed in range(first, first + count):
        finding = hunter.find(seed, nodes)
        if finding and (finding.kind not in kinds or finding.size() < kinds[finding.kind].size()):
            if finding.kind not in kinds:
                progress(f"seed {seed}: {finding.kind}")
            kinds[finding.kind] = finding
    for finding in kinds.values():
        finding.end_to_end = end_to_end(finding.program)
    return list(kinds.values())


def page(findings):
    parts = []
    for number, f in enumerate(findings, 1):
        parts += [f"### {number}. {f.kind[0].upper()}{f.kind[1:]}", "", "```", f.program.text().rstrip(), "```", "",
                  f"Eager PyTorch{' (in the pipeline)' if f.pipeline else ''}: {f.said}. ExecuTorch's runtime: {f.end_to_end}.", "",
                  f"Reproduce: `python -m writeback_executorch.confirm impl/python/findings/{number:02}.json --end-to-end`", ""]
    return "\n".join(parts)


def write(findings, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for number, f in enumerate(findings, 1):
        (folder / f"{number:02}.txt").write_text(f.program.text())
        (folder / f"{number:02}.json").write_text(json.dumps(programs.write_json(*f.program.graph())) + "\n")
    (folder / "page.md").write_text(page(findings))


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
    findings = hunt(write_back, given.seed, given.programs, given.nodes, lambda text: print(text, file=sys.stderr))
    if given.out:
        write(findings, given.out)
    print(page(findings))
    print(f"{len(findings)} kinds of findings in {given.programs} programs")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
