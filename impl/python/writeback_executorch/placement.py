"""Puts a placement into a graph: the copies and temporaries that `writeback place --json` answers become nodes.

`apply` changes the program's graph and signature in place and returns what ExecuTorch's own pass returns. Two savings can follow,
each by the rules of the project's design and each giving up on any doubt (effects.py):
`forward`: a read of a value after its copy reads the target instead, so that the value dies at its copy;
`coalesce`: the value is born in the target's storage and needs no copy at all.
"""

import torch
from torch.export.graph_signature import ExportGraphSignature, InputKind, OutputKind, TensorArgument

from .effects import arguments_of, is_opaque, nodes_in, roots_of, same_geometry, written_by
from .errors import BridgeError
from .program import overload_of

MUTATIONS = (OutputKind.BUFFER_MUTATION, OutputKind.USER_INPUT_MUTATION, OutputKind.PARAMETER_MUTATION)
BORN_IN = "_writeback_born_in"  # node meta: the name of the placeholder in whose storage the value is born

# Each cell of the result depends on the same cell of the operands only, so that the result may overwrite an operand of its own shape.
ELEMENTWISE = {"aten::" + name for name in (
    "add.Tensor add.Scalar sub.Tensor sub.Scalar mul.Tensor mul.Scalar div.Tensor div.Scalar div.Tensor_mode div.Scalar_mode "
    "neg abs exp log sqrt rsqrt reciprocal sin cos tan tanh sigmoid relu relu6 silu erf floor ceil round trunc sign square "
    "clamp clamp.Tensor minimum maximum where.self pow.Tensor_Scalar pow.Tensor_Tensor remainder.Scalar remainder.Tensor fmod.Tensor "
    "fmod.Scalar bitwise_and.Tensor bitwise_or.Tensor bitwise_xor.Tensor bitwise_not logical_and logical_or logical_not").split()}
# The result is the first operand with some cells replaced by another operand's: the kernel copies, then writes. The first operand alone
# may be the target.
REPLACES_CELLS = {"aten::" + name for name in "index_put slice_scatter select_scatter".split()}


def _target_nodes(program):
    """The placeholder of each mutation target, by the key that an output spec uses."""
    found = {}
    for spec, node in zip(program.graph_signature.input_specs, program.graph.find_nodes(op="placeholder")):
        found[spec.target if spec.kind is not InputKind.USER_INPUT else spec.arg.name] = node
    return found


def _find(by_name, name, what):
    if name not in by_name:
        raise BridgeError(f"the placement names {name} as {what}, but the graph has no such value")
    return by_name[name]


def _insert_after(graph, anchor, target, args, value, name=None):
    with graph.inserting_after(anchor):
        node = graph.create_node("call_function", target, args, name=name)
    node.meta["val"] = value
    return node


def apply(program, placement):
    """Inserts the copies; mutation outputs become the copies' results, outputs that are read first their temporaries."""
    graph, signature = program.graph, program.graph_signature
    by_name = {node.name: node for node in graph.nodes}
    targets = _target_nodes(program)
    output = graph.output_node()
    outputs = list(output.args[0])
    written = [i for i, spec in enumerate(signature.output_specs) if spec.kind in MUTATIONS]
    if len(written) != len(placement["copies"]):
        raise BridgeError(f"the placement has {len(placement['copies'])} copies for {len(written)} write-backs")

    placeholders = graph.find_nodes(op="placeholder")
    at_start = placeholders[-1] if placeholders else graph._root
    anchors, temporaries = {}, {}
    events = [("temporary", t) for t in placement.get("temporaries", [])]
    events += [("copy", c) for c in placement["copies"] if not c["in_place"]]
    for kind, event in sorted(events, key=lambda e: (e[1]["slot"], e[1]["order"])):
        after = at_start if event["after"] == "start" else _find(by_name, event["after"], "the node before a copy")
        anchor = anchors.get(after, after)
        if kind == "temporary":
            source = _find(by_name, event["of"], "the value of a temporary")
            made = _insert_after(graph, anchor, torch.ops.aten.clone.default, (source,), source.meta["val"], event["name"])
            temporaries[event["name"]] = made
        else:
            spec = signature.output_specs[written[event["index"]]]
            target = _find(targets, spec.target, "a target")
            value = temporaries[event["temporary"]] if event["temporary"] else _find(by_name, event["value"], "a value")
            made = _insert_after(graph, anchor, torch.ops.aten.copy_.default, (target, value), target.meta["val"])
            outputs[written[event["index"]]] = made
        anchors[after] = made

    first = {t["of"]: temporaries[t["name"]] for t in placement.get("temporaries", [])}
    for i, spec in enumerate(signature.output_specs):
        if spec.kind not in MUTATIONS and isinstance(outputs[i], torch.fx.Node) and outputs[i].name in placement["outputs_read_first"]:
            outputs[i] = _find(first, outputs[i].name, "an output that is read first")
    return _finish(program, output, outputs)


def _finish(program, output, outputs):
    """The output node and the signature agree on names again."""
    output.args = (tuple(outputs),)
    for spec, value in zip(program.graph_signature.output_specs, outputs):
        if isinstance(value, torch.fx.Node) and isinstance(spec.arg, TensorArgument):
            spec.arg = TensorArgument(value.name)
    program.graph.lint()
    program.graph.eliminate_dead_code()
    program.graph_module.recompile()
    signature = ExportGraphSignature(input_specs=program.graph_signature.input_specs,
                                     output_specs=program.graph_signature.output_specs)
    return program.graph_module, signature


def _write_back_copies(program):
    """(output index, copy node) of every mutation output that is a copy_ into a placeholder."""
    outputs = program.graph.output_node().args[0]
    return [(i, outputs[i]) for i, spec in enumerate(program.graph_signature.output_specs)
            if spec.kind in MUTATIONS and isinstance(outputs[i], torch.fx.Node) and outputs[i].target is torch.ops.aten.copy_.default]


def _nodes_after(graph, node):
    order = list(graph.nodes)
    return order[order.index(node) + 1:]


def forward(program):
    """Lets readers of a value read the target after its copy. Gives the number of reads that were moved."""
    moved = 0
    for _, copy in _write_back_copies(program):
        target, value = copy.args
        if value.op == "placeholder" or not same_geometry(target, value):
            continue
        roots = roots_of(program.graph)
        later = _nodes_after(program.graph, copy)
        if any(target in roots[w] or value in roots[w] for n in later for w in written_by(n)):
            continue
        for reader in later:
            if reader.op == "call_function" and value in reader.all_input_nodes and not is_opaque(reader):
                reader.replace_input_with(value, copy)
                moved += 1
    program.graph_module.recompile()
    return moved


def coalesce(program):
    """Lets values be born in their targets. Gives the names of the targets that need no copy any more."""
    born = []
    for index, copy in _write_back_copies(program):
        if _may_be_born_in_target(program, index, copy):
            target, value = copy.args
            copy.replace_all_uses_with(value)
            program.graph.erase_node(copy)
            program.graph_signature.output_specs[index].arg = TensorArgument(value.name)
            value.meta[BORN_IN] = target.target
            born.append(target.name)
    program.graph_module.recompile()
    return born


def _may_be_born_in_target(program, index, copy):
    target, value = copy.args
    if program.graph_signature.output_specs[index].kind is not OutputKind.BUFFER_MUTATION:
        return False  # the caller owns an input's storage; a parameter's is constant
    op = overload_of(value.target) if value.op == "call_function" else None
    name = f"{op._schema.name}{'.' + op._schema.overload_name if op._schema.overload_name else ''}" if op else ""
    if name not in ELEMENTWISE | REPLACES_CELLS or not same_geometry(target, value) or BORN_IN in value.meta:
        return False
    outputs = program.graph.output_node().args[0]
    if value in outputs or sum(user.target is torch.ops.aten.copy_.default for user in value.users) != 1:
        return False
    roots = roots_of(program.graph)
    for position, (_, argument) in enumerate(arguments_of(value)):
        overlapping = [n for n in nodes_in(argument) if target in roots[n]]
        if any(n is not target for n in overlapping) or overlapping and name in REPLACES_CELLS and position > 0:
            return False
    later = [n for n in _nodes_after(program.graph, value) if n is not copy]
    readers = [a for n in later for a in (n.all_input_nodes if n.op != "output" else outputs) if isinstance(a, torch.fx.Node) and a is not copy]
    if any(target in roots[a] and value not in roots[a] and copy not in roots[a] for a in readers):
        return False
    return not any(target in roots[w] or value in roots[w] for n in later for w in written_by(n))
