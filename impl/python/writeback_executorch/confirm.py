"""python -m writeback_executorch.confirm PROGRAM: is a finding true? Eager PyTorch's answer, before and after a write-back pass.

The program before is evaluated as its meaning says (all values and outputs first, then the targets in output order); the program
after as a machine would run it: node by node, its copy_ nodes where they stand, outputs last; once as it is, once with view_copy lowered
exactly as ExecuTorch's passes do. Targets and user outputs, matched by their specs, must agree. Ops without a kernel are tried with several
of the things that an opaque op may do (opaque.py). PROGRAM is anything that `writeback` reads, or a
request of the line protocol in JSON. Exit status 1 where something differs, 0 where nothing does.
"""

import argparse
import itertools
import json
import pathlib
import sys

import torch
from torch.export.graph_signature import InputKind, OutputKind

from . import opaque, program as programs, serve, tool
from .effects import is_view_copy
from .errors import BridgeError, first_line, main_of
from .placement import MUTATIONS


class Refused(BridgeError):
    """PyTorch does not run the program after."""


class Overlap(RuntimeError):
    """A copy whose source is another part of its target."""


def contents_for(signature, module, seed, alias=()):
    """Real tensors for the placeholders; those of an alias group share a storage. Integers stay small, floats are whole numbers, so
    that equality is exact. Every other seed draws zeros and ones only, which index whatever there is."""
    generator = torch.Generator().manual_seed(seed)
    by_name = {}
    for node in module.graph.find_nodes(op="placeholder"):
        value = node.meta["val"]
        low, high = (0, 2) if value.dtype is torch.bool or seed % 2 else (0 if value.dtype is torch.uint8 else -4, 5)
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
    """Runs a graph with its view_copy nodes lowered: an alias of the chain's root, a copy of it where an output returns it. A result
    that shares the storage of an argument (share: node name -> index of the argument) is written there. Ops without a kernel do
    what `behaviour` says (opaque.py)."""

    def __init__(self, module, behaviour, lowered=False, share=None):
        super().__init__(module)
        self.behaviour, self.lowered, self.share = behaviour, lowered, share or {}

    def run_node(self, node):
        if self.lowered and node.name in self.share:
            return self.env[node.args[self.share[node.name]]].copy_(self.called(node))
        if not (self.lowered and is_view_copy(node)):
            return self.called(node)
        root = node.args[0]
        while is_view_copy(root):
            root = root.args[0]
        value = self.env[root].view(node.args[1])
        return value.clone() if any(user.op == "output" for user in node.users) else value

    def called(self, node):
        if opaque.is_without_kernel(node):
            return self.behaviour(node, self.env)
        try:
            return super().run_node(node)
        except RuntimeError as e:
            copies = node.target is torch.ops.aten.copy_.default and "single memory location" in str(e)
            if copies and not self._are_the_same_cells(node.args):
                raise Overlap(first_line(e)) from e
            raise

    def _are_the_same_cells(self, args):
        """In another shape, [1, 4] and [4] say: torch refuses the copy, no device minds."""
        a, b = (self.env[arg] for arg in args[:2])
        return a.data_ptr() == b.data_ptr() and a.numel() == b.numel() and a.is_contiguous() and b.is_contiguous()


def meaning(module, signature, tensors, behaviour):
    """{"key": final tensor} and the user outputs, as the program's meaning says."""
    with torch.no_grad():
        results = _Lowering(module, behaviour).run(*tensors, enable_io_processing=False)
    taken = [r.clone() if isinstance(r, torch.Tensor) else r for r in results]
    by_key = _keys(signature, tensors)
    for spec, value in zip(signature.output_specs, taken):
        if spec.kind in MUTATIONS:
            by_key[spec.target].copy_(value)
    return by_key, [v for s, v in zip(signature.output_specs, taken) if s.kind is OutputKind.USER_OUTPUT]


def as_run(module, signature, tensors, before, behaviour, lowered, share):
    """The same for a program whose copies are nodes. Its outputs are read last; how many are user outputs says the signature of the
    program before it (a pass must not move a mutation among them)."""
    with torch.no_grad():
        results = _Lowering(module, behaviour, lowered, share).run(*tensors, enable_io_processing=False)
    kinds = [s.kind for s in signature.output_specs]
    return _keys(before, tensors), [v for k, v in zip(kinds, results) if k is OutputKind.USER_OUTPUT]


def returned_views(module, signature, tensors, behaviour, lowered, share=None):
    """The numbers of the user outputs that lie in an input."""
    try:
        with torch.no_grad():
            results = _Lowering(module, behaviour, lowered, share).run(*tensors, enable_io_processing=False)
    except RuntimeError as e:
        raise Refused(first_line(e)) from e
    inputs = {t.untyped_storage()._cdata for t in tensors}
    outputs = [v for s, v in zip(signature.output_specs, results) if s.kind is OutputKind.USER_OUTPUT]
    return {i for i, v in enumerate(outputs) if isinstance(v, torch.Tensor) and v.untyped_storage()._cdata in inputs}


def leak(before, after, contents, behaviour, lowered, share):
    """A sentence where a user output has become a view of an input, which the lowering of the program before does not make of it."""
    new = returned_views(*after, copied(contents), behaviour, lowered, share)
    for as_lowered in (False, True) if new else ():
        new -= returned_views(*before, copied(contents), behaviour, as_lowered, share)
    return f"user output {min(new)} has become a view of an input" if new else None


def contradiction(module, signature):
    """A sentence where an output spec names another value than stands in its place."""
    for i, (spec, value) in enumerate(zip(signature.output_specs, module.graph.output_node().args[0])):
        if isinstance(value, torch.fx.Node) and spec.arg.name != value.name:
            return f"the signature names {spec.arg.name} as output {i}, which is {value.name}"
    return None


def same(a, b):
    return a.shape == b.shape and torch.allclose(a, b, rtol=0, atol=0, equal_nan=True)


def run_before(module, signature, contents, behaviour):
    """The meaning; None where PyTorch does not take these contents (an index out of range)."""
    try:
        return meaning(module, signature, contents, behaviour)
    except NotImplementedError as e:
        raise BridgeError(f"PyTorch has no kernel for an op of the program: {first_line(e)}") from e
    except (RuntimeError, IndexError):
        return None


def first_difference(before, after, lowered=False, seeds=range(6), alias=(), share=None, trusted=()):
    """A sentence for the first thing that the program after does otherwise, None where nothing was seen."""
    module, signature = programs.read_json(before)
    changed, changed_signature = programs.read_json(after)
    ran = None
    for behaviour, seed in itertools.product(opaque.behaviours(module, trusted), seeds):
        contents = contents_for(signature, module, seed, alias)
        torch.manual_seed(0)
        expected = run_before(module, signature, copied(contents), behaviour)
        if expected is None:
            continue
        ran = contents, behaviour
        torch.manual_seed(0)
        try:
            got = as_run(changed, changed_signature, copied(contents), signature, behaviour, lowered, share)
        except Overlap as e:
            return f"a copy overlaps what it reads: {first_line(e)}"
        except RuntimeError as e:
            raise Refused(first_line(e)) from e  # a copy between shapes of the same cells: no device minds, so it is no finding
        said = difference(got, expected)
        if said:
            return said
    if not ran:
        raise BridgeError("PyTorch does not run the program on any contents that were tried")
    return leak((module, signature), (changed, changed_signature), *ran, lowered, share) or contradiction(changed, changed_signature)


def difference(got, expected):
    """The same for two runs, each the final tensors by key and the user outputs."""
    (state, outputs), (wanted_state, wanted) = got, expected
    if len(outputs) != len(wanted):
        return f"{len(wanted)} user outputs expected, got {len(outputs)}"
    for i, (a, b) in enumerate(zip(outputs, wanted)):
        if isinstance(b, torch.Tensor) and not same(a, b):
            return f"user output {i}: expected {b.flatten().tolist()}, got {a.flatten().tolist()}"
    for key, b in wanted_state.items():
        if not same(state[key], b):
            return f"{key} afterwards: expected {b.flatten().tolist()}, got {state[key].flatten().tolist()}"
    return None


def asked(path):
    """The request of the line protocol for a program."""
    try:
        text = pathlib.Path(path).read_text(errors="replace")
        json_object = json.loads(text) if text.startswith("{") else {}
    except (OSError, ValueError) as e:
        raise BridgeError(f"{path} cannot be read: {e}") from e
    return json_object if "program" in json_object else json.loads(tool.run(["place", str(path), "--emit", "request"], accept=(0, 1)))


def confirmed(request, reply):
    """(what differs, whether only with view_copy lowered) of a reply to a request, else None. Its custom ops are defined already."""
    if "error" in reply:
        raise BridgeError(reply["error"])
    for lowered in (False, True):
        said = first_difference(request["program"], reply["program"], lowered, alias=request.get("alias", ()),
                                share=request.get("share_alloc"), trusted=request.get("options", {}).get("trust", ()))
        if said:
            return said, lowered
    return None


@main_of
def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m writeback_executorch.confirm", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--end-to-end", action="store_true", help="ask ExecuTorch's runtime too")
    serve.add_arguments(parser)
    given = parser.parse_args(arguments)
    request = asked(given.program)
    found = confirmed(request, serve.server_of(given).reply(request))
    print(f"eager PyTorch: {'the same' if not found else found[0] + (' (view_copy lowered)' if found[1] else '')}")
    if given.end_to_end:
        from . import endtoend, findings, passes
        choice = passes.pass_from(given.pass_name, given.pass_file)
        said = findings.end_to_end(*programs.read_json(request["program"]), choice, **endtoend.reinplacing(given.reinplace))
        print(f"ExecuTorch's runtime: {said}")
        return 1 if found or said.startswith("different") else 0
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
