"""What the bridge itself must know of a graph: which values may share a storage, which node writes what.

Conservative and small: only forwarding and coalescing ask it, and both give up on any doubt. A view_copy may become an alias of its
base; an op of a namespace without trust, a higher-order op or a delegate may do anything with its arguments. The placement does not
come from here: that is `writeback`'s.
"""

import operator

import torch

from .program import overload_of

TRUSTED = {"aten", "prims", "prim", "dim_order_ops", "quantized_decomposed"}


def nodes_in(value):
    """The fx nodes in an argument, lists included."""
    return [n for n in torch.utils._pytree.tree_leaves(value) if isinstance(n, torch.fx.Node)]


def arguments_of(node):
    """(schema argument or None, value) for every argument of a call."""
    op = overload_of(node.target)
    if op is None:
        return [(None, value) for value in [*node.args, *node.kwargs.values()]]
    by_name = {a.name: a for a in op._schema.arguments}
    return list(zip(op._schema.arguments, node.args)) + [(by_name.get(k), v) for k, v in node.kwargs.items()]


def is_opaque(node):
    if node.op != "call_function" or node.target is operator.getitem:
        return False
    op = overload_of(node.target)
    return op is None or op.namespace not in TRUSTED


def is_view_copy(node):
    op = overload_of(node.target)
    return op is not None and op._schema.name == "aten::view_copy"


def shares_with(node):
    """The argument whose storage a later pass lets the result take, as a list of at most one node."""
    index = node.meta.get("_share_alloc_with_arg_idx")
    return nodes_in(node.args[index]) if index is not None and index < len(node.args) else []


def written_by(node):
    """The nodes whose cells this node may write."""
    if node.op != "call_function":
        return []
    if shares_with(node):
        return shares_with(node)
    if is_opaque(node):
        return nodes_in([node.args, dict(node.kwargs)])
    return [n for argument, value in arguments_of(node)
            if argument is not None and argument.alias_info is not None and argument.alias_info.is_write for n in nodes_in(value)]


def roots_of(graph):
    """For each node the set of nodes whose storage its value may be: itself where it may be fresh."""
    roots = {}
    for node in graph.nodes:
        if node.op in ("placeholder", "get_attr"):
            roots[node] = {node}
        elif node.op == "output":
            roots[node] = set()
        elif node.target is operator.getitem:
            roots[node] = set(roots[node.args[0]])
        elif is_opaque(node):
            roots[node] = {node}.union(*(roots[n] for n in nodes_in([node.args, dict(node.kwargs)])))
        elif is_view_copy(node):
            roots[node] = roots[node.args[0]] | {node}
        else:
            aliased = shares_with(node) + [n for argument, value in arguments_of(node) if argument is not None and argument.alias_info is not None
                       for n in nodes_in(value)]
            roots[node] = {node}.union(*(roots[n] for n in aliased))
    return roots


def same_geometry(a, b):
    """True where two nodes hold tensors of the same dtype, sizes and strides, all of them numbers."""
    x, y = a.meta.get("val"), b.meta.get("val")
    if not isinstance(x, torch.Tensor) or not isinstance(y, torch.Tensor):
        return False
    numbers = all(isinstance(s, int) for s in [*x.shape, *x.stride(), *y.shape, *y.stride()])
    return numbers and x.dtype == y.dtype and x.shape == y.shape and x.stride() == y.stride()
