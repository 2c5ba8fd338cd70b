"""What an op without a kernel may do, so that PyTorch can be asked about programs that call one.

Such an op is declared by a schema line alone (program.define_ops). Where its namespace is trusted it does what its annotations say. Else it
is opaque: it may write any argument, and a result may be new or lie in an argument. `behaviours` lists some of that: no argument is
written, one is, or all are; the results are new, or lie in one of the arguments. A new result is made of all arguments' cells.
"""

import dataclasses

import torch

from .effects import TRUSTED, arguments_of
from .program import is_declared, overload_of


@dataclasses.dataclass(frozen=True)
class Behaviour:
    writes: frozenset | None    # indices of tensor arguments; None: all as the schema says
    lies_in: int | None         # the tensor argument that results lie in; None: they are new

    def __call__(self, node, env):
        """The value of a node; the arguments that it writes are changed."""
        given = _tensors(node, env)
        writes, lies_in = self._of_schema(node, env) if self.writes is None else (self.writes, self.lies_in)
        seen = int(sum((i + 1) * torch.nan_to_num(t.double()).sum().clamp(-99, 99) for i, t in enumerate(given))) % 5 + 1
        made = torch.utils._pytree.tree_map_only(torch.Tensor, lambda val: torch.full(val.shape, seen, dtype=val.dtype), node.meta.get("val"))
        for i in writes:
            if i < len(given):
                given[i].copy_(given[i] + 1 if given[i].dtype is not torch.bool else ~given[i])
        if lies_in is None or lies_in >= len(given):
            return made
        return torch.utils._pytree.tree_map_only(torch.Tensor, lambda fresh: _placed_in(given[lies_in], fresh), made)

    @staticmethod
    def _of_schema(node, env):
        writes, lies_in, index = set(), None, 0
        aliased = {s for r in overload_of(node.target)._schema.returns if r.alias_info for s in r.alias_info.before_set}
        for argument, value in arguments_of(node):
            count = len(_leaves(value, env))
            if argument.alias_info is not None:
                writes |= set(range(index, index + count)) if argument.alias_info.is_write else set()
                lies_in = index if aliased & argument.alias_info.before_set else lies_in
            index += count
        return writes, lies_in


def _leaves(value, env):
    return [env[n] for n in torch.utils._pytree.tree_leaves(value) if isinstance(n, torch.fx.Node) and isinstance(env[n], torch.Tensor)]


def _tensors(node, env):
    return [t for _, value in arguments_of(node) for t in _leaves(value, env)]


def _placed_in(tensor, fresh):
    """The first cells of `tensor` in the shape of `fresh`, which comes back where it does not fit."""
    if tensor.dtype != fresh.dtype or tensor.numel() < fresh.numel() or not tensor.is_contiguous():
        return fresh
    return tensor.as_strided(fresh.shape, fresh.stride())


def is_without_kernel(node):
    return node.op == "call_function" and is_declared(node.target)


def behaviours(module, trusted=()):
    """Those that a program's ops without kernels are to be tried with; one is enough where there is none or all are trusted."""
    untrusted = [n for n in module.graph.nodes if is_without_kernel(n) and overload_of(n.target).namespace not in {*TRUSTED, *trusted}]
    if not untrusted:
        return [Behaviour(None, None)]
    arguments = range(max(len(arguments_of(n)) for n in untrusted))
    writes = [frozenset(), *(frozenset({i}) for i in arguments), frozenset(arguments)]
    return [Behaviour(w, a) for w in writes for a in (None, *arguments)]
