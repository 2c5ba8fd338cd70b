"""Is a finding true? Eager PyTorch's answer for a program before and after somebody's write-back pass, both in export-schema JSON.

The program before is evaluated as its meaning says (all values and outputs first, then the targets in output order); the program
after as a machine would run it: node by node, its copy_ nodes where they stand, outputs last. View_copy nodes of the program
after are lowered on request exactly as ExecuTorch's passes do. Targets and user outputs, matched by their specs, must agree.
"""

import argparse
import json
import pathlib
import sys

import torch
from torch.export.graph_signature import InputKind, OutputKind

from . import program as programs
from .effects import is_view_copy
from .errors import BridgeError, main_of
from .placement import MUTATIONS


class Refused(BridgeError):
    """PyTorch does not run the program after."""


def contents_for(signature, module, seed, alias=()):
    """Real tensors for the placeholders; those of an alias group share a storage. Integers stay small, floats are whole numbers, so
    that equality is exact."""
    generator = torch.Generator().manual_seed(seed)
    by_name = {}
    for node in module.graph.find_nodes(op="placeholder"):
        value = node.meta["val"]
        low, high = (0, 2) if value.dtype is torch.bool else (0 if value.dtype is torch.uint8 else -4, 5)
        tensor = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype)
        by_name[node.name] = tensor.copy_(torch.randint(low, high, value.shape, generator=generator))
    for group in alias:
        first = by_name[group[0]["name"]]
        cells = max((m.get("offset", 0) + sum((s - 1) * t for s, t in zip(m["sizes"], m["strides"])) + 1 if m.get("sizes") is not None
                     else first.numel()) for m in group)
        storage = torch.randint(-4, 5, (max(cells, first.numel()),), generator=generator).to(first.dtype)
        for member in group:
            like = by_name[member["name"]]
            sizes, strides = member.get("sizes", like.shape), member.get("strides", like.stride())
            by_name[member["name"]] = storage.as_strided(sizes, strides, member.get("offset", 0))
    return [by_name[spec.arg.name] for spec in signature.input_specs]


def copied(tensors):
    """Copies that share storages where the originals do."""
    made = {}
    result = []
    for t in tensors:
        key = t.untyped_storage()._cdata
        if key not in made:
            made[key] = t.untyped_storage().clone()
        result.append(torch.empty(0, dtype=t.dtype).set_(made[key], t.storage_offset(), t.shape, t.stride()))
    return result



def _keys(signature, tensors):
    return {(s.target if s.kind is not InputKind.USER_INPUT else s.arg.name): t for s, t in zip(signature.input_specs, tensors)}


class _Lowering(torch.fx.Interpreter):
    """Runs a graph with its view_copy nodes lowered: an alias of the chain's root, a copy of it where an output returns it."""

    def __init__(self, module, lowered):
        super().__init__(module)
        self.lowered = lowered

    def run_node(self, node):
        if not (self.lowered and is_view_copy(node)):
            return super().run_node(node)
        root = node.args[0]
        while is_view_copy(root):
            root = root.args[0]
        value = self.env[root].view(node.args[1])
        return value.clone() if any(user.op == "output" for user in node.users) else value


def meaning(module, signature, tensors):
    """{"key": final tensor} and the user outputs, as the program's meaning says."""
    with torch.no_grad():
        results = _Lowering(module, False).run(*tensors, enable_io_processing=False)
    taken = [r.clone() if isinstance(r, torch.Tensor) else r for r in results]
    by_key = _keys(signature, tensors)
    for spec, value in zip(signature.output_specs, taken):
        if spec.kind in MUTATIONS:
            by_key[spec.target].copy_(value)
    return by_key, [v for s, v in zip(signature.output_specs, taken) if s.kind is OutputKind.USER_OUTPUT]


def as_run(module, signature, tensors, lowered, before):
    """The same for a program whose copies are nodes. Its outputs are read last; how many are user outputs says the signature of the
    program before it (a pass must not move a mutation among them)."""
    with torch.no_grad():
        results = _Lowering(module, lowered).run(*tensors, enable_io_processing=False)
    kinds = [s.kind for s in signature.output_specs]
    return _keys(before, tensors), [v for k, v in zip(kinds, results) if k is OutputKind.USER_OUTPUT]


def first_difference(before, after, lowered=False, seeds=range(4), alias=()):
    """A sentence for the first thing that the program after does otherwise, None where nothing was seen."""
    module, signature = programs.read_json(before)
    changed, changed_signature = programs.read_json(after)
    for seed in seeds:
        contents = contents_for(signature, module, seed, alias)
        wanted_state, wanted = meaning(module, signature, copied(contents))
        try:
            state, outputs = as_run(changed, changed_signature, copied(contents), lowered, signature)
        except RuntimeError as e:  # a copy between shapes of the same cells: no device minds, so it is no finding
            raise Refused(str(e).splitlines()[0]) from e
        if len(outputs) != len(wanted):
            return f"{len(wanted)} user outputs expected, got {len(outputs)}"
        for i, (a, b) in enumerate(zip(outputs, wanted)):
            if isinstance(b, torch.Tensor) and not torch.equal(a, b):
                return f"user output {i}: expected {b.flatten().tolist()}, got {a.flatten().tolist()}"
        for key, b in wanted_state.items():
            if not torch.equal(state[key], b):
                return f"{key} afterwards: expected {b.flatten().tolist()}, got {state[key].flatten().tolist()}"
    return None


@main_of
def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m writeback_executorch.confirm", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", help="a program in export-schema JSON")
    parser.add_argument("after", nargs="?", help="what a pass made of it; default: what the installed pass makes of it")
    parser.add_argument("--pass-file", metavar="FILE", help="use the pass in this file instead of the installed one")
    parser.add_argument("--pipeline", action="store_true", help="run the passes around it too")
    parser.add_argument("--end-to-end", action="store_true", help="ask ExecuTorch's runtime too")
    given = parser.parse_args(arguments)
    from .passes import installed_pass, pass_from  # serve needs this file's neighbours, not this file
    from .serve import Server
    before = _json_file(given.before)
    write_back = pass_from(None, given.pass_file) or installed_pass()
    after = _json_file(given.after) if given.after else Server(write_back, given.pipeline).reply({"program": before})
    if "error" in after:
        raise BridgeError(after["error"])
    said = first_difference(before, after.get("program", after))
    print(f"eager PyTorch: {said or 'the same'}")
    if given.end_to_end:
        from . import endtoend
        found = endtoend.compare_graph(*programs.read_json(before), pass_from(None, given.pass_file))
        print(f"ExecuTorch's runtime: {found or 'the same'}")
        said = said or found
    return 1 if said else 0


def _json_file(path):
    try:
        return json.loads(pathlib.Path(path).read_text())
    except (OSError, ValueError) as e:
        raise BridgeError(f"{path} is no program in JSON: {e}") from e


if __name__ == "__main__":
    sys.exit(main())
