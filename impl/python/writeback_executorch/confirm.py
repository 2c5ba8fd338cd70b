"""Is a finding true? Eager PyTorch's answer for a program before and after somebody's write-back pass, both in export-schema JSON.

The program before is evaluated as its meaning says (all values and outputs first, then the targets in output order); the program
after as a machine would run it: node by node, its copy_ nodes where they stand, outputs last. View_copy nodes of the program
after are lowered on request exactly as ExecuTorch's passes do. Targets and user outputs, matched by their specs, must agree.
"""

import torch
from torch.export.graph_signature import InputKind, OutputKind

from . import program as programs
from .effects import is_view_copy
from .placement import MUTATIONS


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
        except RuntimeError as e:
            return f"PyTorch refuses to run it: {str(e).splitlines()[0]}"
        if len(outputs) != len(wanted):
            return f"{len(wanted)} user outputs expected, got {len(outputs)}"
        for i, (a, b) in enumerate(zip(outputs, wanted)):
            if isinstance(b, torch.Tensor) and not torch.equal(a, b):
                return f"user output {i}: expected {b.flatten().tolist()}, got {a.flatten().tolist()}"
        for key, b in wanted_state.items():
            if not torch.equal(state[key], b):
                return f"{key} afterwards: expected {b.flatten().tolist()}, got {state[key].flatten().tolist()}"
    return None
