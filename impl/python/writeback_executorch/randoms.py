"""Random programs of integers, for PyTorch to judge.

A generator of its own, on purpose: it shares nothing with the fuzzer's, and every program has been run by PyTorch while it was drawn, so
shapes, aliasing and refusals are PyTorch's. Covers true views, in-place ops, out= and list arguments, multi-result ops, storages
that placeholders share, view_copy and chains of it, write-backs that cast, broadcast, overlap their target or go to several targets,
outputs that alias a target. A Program prints itself as PyTorch prints programs and runs itself with real tensors (`execute`).
"""

import dataclasses
import operator
import random

import torch
from torch.export.graph_signature import ExportGraphSignature, InputKind, InputSpec, OutputKind, OutputSpec, TensorArgument

from . import program as programs

aten = torch.ops.aten
SHORT = {torch.int64: "i64", torch.int32: "i32", torch.int8: "i8", torch.uint8: "u8", torch.bool: "b8"}


class Refused(Exception):
    """PyTorch refuses to run a node: its operands overlap in a way that they do not as written."""


@dataclasses.dataclass(frozen=True)
class Ref:
    """A use of a value."""
    name: str


@dataclasses.dataclass
class Placeholder:
    name: str
    kind: str                # BUFFER, PARAMETER or USER_INPUT
    dtype: torch.dtype
    sizes: tuple
    base: str = ""           # placeholder whose storage it shares
    offset: int = 0          # place in that storage, elements
    strides: tuple = ()

    @property
    def key(self):
        return self.name[2:] if self.kind != "USER_INPUT" else self.name


@dataclasses.dataclass
class Node:
    name: str
    op: str                  # "aten.add.Tensor", or "getitem"
    args: tuple
    kwargs: dict
    value: object = None     # sizes and dtype as drawn: a tensor, or a list of them

    def refs(self):
        return [a.name for a in flat([self.args, list(self.kwargs.values())]) if isinstance(a, Ref)]


def flat(value):
    if isinstance(value, (list, tuple)):
        return [x for v in value for x in flat(v)]
    return [value]


def substitute(value, env):
    if isinstance(value, Ref):
        return env[value.name]
    if isinstance(value, (list, tuple)):
        return type(value)(substitute(v, env) for v in value)
    return value


def call(op, args, kwargs):
    if op == "getitem":
        return args[0][args[1]]
    namespace, name, overload = op.split(".")
    return getattr(getattr(getattr(torch.ops, namespace), name), overload)(*args, **kwargs)


@dataclasses.dataclass
class Program:
    placeholders: list
    nodes: list
    write_backs: list        # (placeholder, value name)
    outputs: list            # value names
    may_alias: object = None  # whether the results of reshape, contiguous and to are aliases, all of them; None: there is none

    # ----------------------------------------------------------------------------------------------------------- as text

    def text(self):
        lines = [f"# alias: {p.name} = {p.base}[{p.offset}; {numbers(p.sizes)}; {numbers(p.strides)}]" for p in self.placeholders if p.base]
        arguments = "".join(f', {p.name}: "{annotation(p.dtype, p.sizes)}"' for p in self.placeholders)
        lines += ["ExportedProgram:", "    class GraphModule(torch.nn.Module):", f"        def forward(self{arguments}):",
                  "            # No stacktrace found for following nodes"]
        lines += ["            " + statement(n) for n in self.nodes]
        returned = [v for _, v in self.write_backs] + self.outputs
        lines += ["            return (" + ", ".join(returned) + ("," if len(returned) == 1 else "") + ")", "    ",
                  "Graph signature: ", "    # inputs"]
        lines += [f"    {p.name}: {p.kind}" + (f" target='{p.key}'" if p.kind != "USER_INPUT" else "")
                  + (" persistent=True" if p.kind == "BUFFER" else "") for p in self.placeholders]
        lines += ["    ", "    # outputs"]
        lines += [f"    {v}: {p.kind}_MUTATION target='{p.key}'" for p, v in self.write_backs]
        lines += [f"    {v}: USER_OUTPUT" for v in self.outputs]
        return "\n".join([*lines, "    ", "Range constraints: {}", ""])

    # ------------------------------------------------------------------------------------------------------------ running

    def storages(self, inputs):
        """Tensors for the placeholders, those of one storage sharing it. inputs: name -> tensor (contents)."""
        made = {}
        for p in self.placeholders:
            if p.base:
                root = made[p.base]
                made[p.name] = root.as_strided(p.sizes, p.strides, p.offset)
            else:
                made[p.name] = inputs[p.name].clone().reshape(p.sizes)
        return made

    def graph(self):
        """(GraphModule, ExportGraphSignature): the program as torch.fx has it."""
        graph, nodes, fake = torch.fx.Graph(), {}, programs.fake_like
        inputs, outputs = [], []
        for p in self.placeholders:
            nodes[p.name] = graph.placeholder(p.name)
            nodes[p.name].meta["val"] = fake(torch.empty_strided(p.sizes, p.strides, dtype=p.dtype) if p.base else torch.empty(p.sizes, dtype=p.dtype))
            persistent = True if p.kind == "BUFFER" else None
            inputs.append(InputSpec(InputKind[p.kind], TensorArgument(p.name), p.key if p.kind != "USER_INPUT" else None, persistent))
        for n in self.nodes:
            target = operator.getitem if n.op == "getitem" else programs.target_of("torch.ops." + n.op)
            nodes[n.name] = graph.create_node("call_function", target, substitute(n.args, nodes),
                                              {k: substitute(v, nodes) for k, v in n.kwargs.items()}, name=n.name)
            nodes[n.name].meta["val"] = torch.utils._pytree.tree_map(fake, n.value)
        graph.output(tuple(nodes[v] for v in [v for _, v in self.write_backs] + self.outputs))
        for p, v in self.write_backs:
            outputs.append(OutputSpec(OutputKind[p.kind + "_MUTATION"], TensorArgument(v), p.key))
        outputs += [OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(v), None) for v in self.outputs]
        return torch.fx.GraphModule({}, graph), ExportGraphSignature(inputs, outputs)

    def execute(self, inputs, events=None, reads_first=None, lowered=False):
        """Runs the program with real tensors; (values at birth, outputs, final placeholders).

        events None: the meaning, all values and outputs read after the last node, then the targets written in output order.
        Else: event lists by the name of the node after which they stand ("start": before the first): ("copy", target, source) and
        ("temporary", name, source). reads_first: output name -> temporary. lowered: view_copy is an alias of its chain's root,
        or, where it is an output, a copy of it."""
        env = self.storages(inputs)
        born = {}
        self._happen(events, "start", env)
        for node in self.nodes:
            if lowered and node.op == "aten.view_copy.default":
                value = self._root(node, env).view(node.args[1])
                env[node.name] = value.clone() if node.name in self.outputs else value
            else:
                try:
                    env[node.name] = call(node.op, substitute(node.args, env), {k: substitute(v, env) for k, v in node.kwargs.items()})
                except RuntimeError as e:
                    raise Refused(f"{node.name}: {e}") from e
            if isinstance(env[node.name], torch.Tensor):
                born[node.name] = env[node.name].clone()
            self._happen(events, node.name, env)
        if events is None:
            values = [env[v].clone() for _, v in self.write_backs]
            outputs = [env[v].clone() for v in self.outputs]
            for (p, _), value in zip(self.write_backs, values):
                env[p.name].copy_(value)
        else:
            outputs = [env[(reads_first or {}).get(v, v)].clone() for v in self.outputs]
        return born, outputs, {p.name: env[p.name].clone() for p in self.placeholders}

    def _root(self, node, env):
        by_name = {n.name: n for n in self.nodes}
        name = node.args[0].name
        while name in by_name and by_name[name].op == "aten.view_copy.default":
            name = by_name[name].args[0].name
        return env[name]

    @staticmethod
    def _happen(events, where, env):
        for kind, name, source in (events or {}).get(where, []):
            if kind == "temporary":
                env[name] = env[source].clone()
            else:
                env[name].copy_(env[source])


def numbers(values):
    return ", ".join(str(int(v)) for v in values)


def annotation(dtype, sizes):
    return f"{SHORT[dtype]}[{numbers(sizes)}]"


def statement(node):
    def show(value):
        if isinstance(value, Ref):
            return value.name
        if isinstance(value, list):
            return "[" + ", ".join(show(v) for v in value) + "]"
        return str(value)

    typed = f': "{annotation(node.value.dtype, node.value.shape)}"' if isinstance(node.value, torch.Tensor) else ""
    if node.op == "getitem":
        return f"{node.name}{typed} = {node.args[0].name}[{node.args[1]}]"
    words = [show(a) for a in node.args] + [f"{k} = {show(v)}" for k, v in node.kwargs.items()]
    return f"{node.name}{typed} = torch.ops.{node.op}({', '.join(words)})"


# ----------------------------------------------------------------------------------------------------------------- drawing

SIZES = [(4,), (4,), (4,), (2, 2), (2, 2), (1, 4), (2, 3), (6,), (1,), ()]
BINARY = ["aten.add.Tensor", "aten.sub.Tensor", "aten.mul.Tensor", "aten.maximum.default"]
UNARY = ["aten.neg.default", "aten.clone.default", "aten.abs.default", "aten.relu.default"]
COMPARE = ["aten.eq.Tensor", "aten.gt.Tensor", "aten.lt.Tensor", "aten.ne.Tensor"]


class Drawing:
    """One program in the making; `env` holds the real run so far."""

    def __init__(self, seed, nodes, functional=False):
        self.functional = functional
        self.random = random.Random(seed)
        self.generator = torch.Generator().manual_seed(seed)
        self.program = Program([], [], [], [])
        self.env = {}
        self.count = nodes

    def contents(self, dtype, sizes):
        if dtype is torch.bool:
            return torch.randint(0, 2, sizes, generator=self.generator).bool()
        return torch.randint(0 if dtype is torch.uint8 else -4, 5, sizes, generator=self.generator).to(dtype)

    def draw(self):
        self.draw_placeholders()
        for _ in range(self.count):
            self.draw_node()
        self.draw_outputs()
        return self.program

    # placeholders ----------------------------------------------------------------------------------------------------------

    def draw_placeholders(self):
        r = self.random
        kinds = ["BUFFER"] * r.randint(1, 3) + ["PARAMETER"] * (r.random() < 0.1) + ["USER_INPUT"] * r.randint(0, 2)
        inputs = {}
        for i, kind in enumerate(kinds):
            prefix = {"BUFFER": "b_", "PARAMETER": "p_", "USER_INPUT": ""}[kind]
            name = prefix + "abcdefgh"[i] if prefix else "xyzuvw"[i % 6]
            dtype = r.choice([torch.int64] * 6 + [torch.int32, torch.int8, torch.bool])
            p = Placeholder(name, kind, dtype, r.choice(SIZES))
            bases = [q for q in self.program.placeholders if not q.base and q.kind == kind and q.dtype == dtype and torch.Size(q.sizes).numel() >= 4]
            if bases and not self.functional and r.random() < 0.3:
                self.share(p, r.choice(bases))
            self.program.placeholders.append(p)
            inputs[name] = self.contents(dtype, p.sizes)
        self.inputs = inputs
        self.env = self.program.storages(inputs)

    def share(self, p, base):
        cells = torch.Size(base.sizes).numel()
        p.base = base.name
        p.offset, p.sizes, p.strides = self.random.choice([(0, (cells,), (1,)), (0, (2,), (1,)), (cells - 2, (2,), (1,)),
                                                           (0, (2,), (2,)), (1, (2,), (1,)), (0, (2, 2), (2, 1))])

    # nodes -----------------------------------------------------------------------------------------------------------------

    def tensors(self, test=lambda t: True):
        return [n for n, t in self.env.items() if isinstance(t, torch.Tensor) and test(t)]

    def pick(self, test=lambda t: True):
        """A random value, recent ones more often."""
        names = self.tensors(test)
        if not names:
            return None
        return names[-1 - min(int(self.random.expovariate(0.4)), len(names) - 1)] if self.random.random() < 0.6 else self.random.choice(names)

    def draw_node(self):
        families = [self.binary, self.binary, self.unary, self.view, self.view, self.view_copy, self.view_copy, self.in_place,
                    self.in_place, self.out, self.foreach, self.multi, self.list_op, self.scatter, self.metadata, self.compare,
                    self.reduce, self.cast, self.may_alias]
        if self.functional:
            families = [self.binary, self.unary, self.view_copy, self.view_copy, self.list_op, self.scatter, self.metadata, self.reduce]
        drawn = self.random.choice(families)()
        if drawn:
            self.emit(*drawn)

    def emit(self, op, args, kwargs=None):
        """Adds the node if PyTorch runs it; True where it did."""
        kwargs = kwargs or {}
        try:
            value = call(op, substitute(args, self.env), {k: substitute(v, self.env) for k, v in kwargs.items()})
        except (RuntimeError, IndexError, ValueError):
            return False
        if isinstance(value, torch.Tensor) and value.numel() == 0:
            return False
        node = Node(f"t{len(self.program.nodes)}", op, args, kwargs, value)
        self.program.nodes.append(node)
        self.env[node.name] = value
        if isinstance(value, (list, tuple)):
            for i in range(len(value)):
                if self.random.random() < 0.7:
                    self.emit("getitem", (Ref(node.name), i))
        return True

    def binary(self):
        a, b = self.pick(), self.pick()
        return self.random.choice(BINARY), (Ref(a), Ref(b))

    def unary(self):
        return self.random.choice(UNARY), (Ref(self.pick()),)

    def compare(self):
        return self.random.choice(COMPARE), (Ref(self.pick()), Ref(self.pick()))

    def reduce(self):
        a = self.pick(lambda t: t.dim() > 0)
        if a is not None:
            return "aten.sum.dim_IntList", (Ref(a), [self.random.randrange(self.env[a].dim())]), {}

    def cast(self):
        return "aten._to_copy.default", (Ref(self.pick()),), {"dtype": self.random.choice([torch.int64, torch.int32, torch.int8, torch.bool])}

    def view(self):
        a = self.pick(lambda t: t.dim() > 0)
        if a is None:
            return None
        t, r = self.env[a], self.random
        d = r.randrange(t.dim())
        choices = [("aten.slice.Tensor", (Ref(a), d, r.randint(0, 1), r.choice([2, 3, 9223372036854775807]), r.choice([1, 1, 2]))),
                   ("aten.select.int", (Ref(a), d, r.randrange(-1, t.shape[d]) if t.shape[d] > 1 else 0)),
                   ("aten.unsqueeze.default", (Ref(a), d)), ("aten.alias.default", (Ref(a),)), ("aten.detach.default", (Ref(a),)),
                   ("aten.permute.default", (Ref(a), r.sample(range(t.dim()), t.dim()))),
                   ("aten.view.default", (Ref(a), self.factors(t.numel()))),
                   ("aten.expand.default", (Ref(a), [2, *t.shape])),
                   ("aten.as_strided.default", (Ref(a), [2], [1], t.storage_offset()) if t.numel() > 1 else (Ref(a), [1], [1])),
                   ("aten.squeeze.dim", (Ref(a), d)), ("aten.unfold.default", (Ref(a), d, min(2, t.shape[d]), 1))]
        if t.dim() == 2:
            choices += [("aten.diagonal.default", (Ref(a),)), ("aten.t.default", (Ref(a),)), ("aten.transpose.int", (Ref(a), 0, 1))]
        return r.choice(choices)

    def factors(self, cells):
        options = {1: [[1], [], [1, 1]], 2: [[2], [1, 2]], 4: [[4], [2, 2], [1, 4], [4, 1]], 6: [[6], [2, 3], [3, 2]]}
        return list(self.random.choice(options.get(cells, [[cells]])))

    def view_copy(self):
        a = self.pick(lambda t: t.is_contiguous())
        return None if a is None else ("aten.view_copy.default", (Ref(a), self.factors(self.env[a].numel())))

    def may_alias(self):
        a = self.pick()
        op, args = self.random.choice([("aten.reshape.default", (Ref(a), self.factors(self.env[a].numel()))),
                                       ("aten.contiguous.default", (Ref(a),)), ("aten.to.dtype", (Ref(a), torch.int64))])
        result = call(op, substitute(args, self.env), {})
        aliases = result.untyped_storage()._cdata == self.env[a].untyped_storage()._cdata
        if self.program.may_alias not in (None, aliases):
            return None  # one choice for all, so that the interpreter can be told which
        self.program.may_alias = aliases
        return op, args

    def writable(self):
        return self.pick(lambda t: not overlaps_itself(t))

    def in_place(self):
        a = self.writable()
        b = a and self.pick(lambda t: not disturbs(self.env[a], t))
        return a and self.random.choice([("aten.add_.Tensor", (Ref(a), Ref(b))), ("aten.mul_.Tensor", (Ref(a), Ref(b))),
                                         ("aten.copy_.default", (Ref(a), Ref(b))), ("aten.fill_.Scalar", (Ref(a), self.random.randint(0, 3))),
                                         ("aten.neg_.default", (Ref(a),)), ("aten.zero_.default", (Ref(a),)),
                                         ("aten.add_.Scalar", (Ref(a), 1))])

    def out(self):
        a, b = self.pick(), self.pick()
        try:
            wanted = torch.broadcast_shapes(self.env[a].shape, self.env[b].shape)
        except RuntimeError:
            return None
        operands = self.env[a], self.env[b]
        c = self.pick(lambda t: t.shape == wanted and not overlaps_itself(t) and not any(disturbs(t, o) for o in operands))
        return c and (self.random.choice(["aten.add.out", "aten.mul.out", "aten.sub.out"]), (Ref(a), Ref(b)), {"out": Ref(c)})

    def foreach(self):
        names = [n for n in self.tensors(lambda t: not overlaps_itself(t) and t.dtype is not torch.bool)]
        chosen = self.random.sample(names, min(len(names), 2))
        if len({self.env[n].untyped_storage()._cdata for n in chosen}) < len(chosen):
            chosen = chosen[:1]  # what a kernel does with a list whose elements overlap differs by device
        refs = [Ref(n) for n in chosen]
        return chosen and self.random.choice([("aten._foreach_add_.Scalar", (refs, 1)), ("aten._foreach_mul_.Scalar", (refs, 2))])

    def multi(self):
        a = self.pick(lambda t: t.dim() > 0 and t.shape[0] > 1)
        return a and self.random.choice([("aten.split.Tensor", (Ref(a), max(1, self.env[a].shape[0] // 2))), ("aten.unbind.int", (Ref(a),)),
                                         ("aten.split_copy.Tensor", (Ref(a), 1)), ("aten.chunk.default", (Ref(a), 2))])

    def list_op(self):
        a = self.pick(lambda t: t.dim() > 0)
        b = a and self.pick(lambda t: t.shape == self.env[a].shape and t.dtype == self.env[a].dtype)
        return b and (self.random.choice(["aten.cat.default", "aten.stack.default"]), ([Ref(a), Ref(b)],))

    def scatter(self):
        # Of a tensor that overlaps itself torch makes a result that overlaps itself too, and what it then holds is an accident.
        a = self.pick(lambda t: t.dim() > 0 and t.shape[0] > 1 and not overlaps_itself(t))
        if a is None:
            return None
        t, r = self.env[a], self.random
        row = self.pick(lambda s: s.dtype == t.dtype and s.shape == t.shape[1:])
        part = self.pick(lambda s: s.dtype == t.dtype and s.shape[1:] == t.shape[1:] and s.dim() == t.dim() and s.shape[0] < t.shape[0])
        choices = []
        if row:
            choices.append(("aten.select_scatter.default", (Ref(a), Ref(row), 0, r.randrange(t.shape[0]))))
        if part:
            choices.append(("aten.slice_scatter.default", (Ref(a), Ref(part), 0, 0, self.env[part].shape[0])))
        index = self.pick(lambda s: s.dtype is torch.bool and s.shape == t.shape)
        if index and row:
            choices.append(("aten.where.self", (Ref(index), Ref(a), Ref(a))))
        return r.choice(choices) if choices else None

    def metadata(self):
        a = self.pick()
        return self.random.choice([("aten.zeros_like.default", (Ref(a),)), ("aten.full_like.default", (Ref(a), 2)),
                                   ("aten.ones_like.default", (Ref(a),))])

    # outputs ---------------------------------------------------------------------------------------------------------------

    def draw_outputs(self):
        r = self.random
        targets = [p for p in self.program.placeholders if not overlaps_itself(self.env[p.name])]
        for p in targets:
            if r.random() < 0.75:
                fits = self.tensors(lambda t: fits_into(t, self.env[p.name]))
                recent = fits[-4:] if r.random() < 0.6 else fits
                if recent:
                    self.program.write_backs.append((p, r.choice(recent)))
        for _ in range(r.randint(0, 2)):
            self.program.outputs.append(self.pick())
        if not self.program.write_backs and not self.program.outputs:
            self.program.outputs.append(self.pick())


def cells_of(t):
    """The place in its storage of each element."""
    cells = [t.storage_offset()]
    for size, stride in zip(t.shape, t.stride()):
        cells = [c + i * stride for c in cells for i in range(size)]
    return cells


def overlaps_itself(t):
    return len(set(cells_of(t))) < t.numel()


def disturbs(written, read):
    """Whether a kernel that writes one and reads the other may read what it has written: torch does not refuse all of these, and the
    order is the kernel's."""
    if written.untyped_storage()._cdata != read.untyped_storage()._cdata:
        return False
    ours, theirs = cells_of(written), cells_of(read)
    return ours != theirs and not set(ours).isdisjoint(theirs)


def fits_into(value, target):
    try:
        return torch.broadcast_shapes(value.shape, target.shape) == target.shape
    except RuntimeError:
        return False


def draw(seed, nodes=8, functional=False):
    """(Program, inputs by name) of a seed. functional: only what ExecuTorch's edge dialect has, no views, no writes."""
    drawing = Drawing(seed, nodes, functional)
    program = drawing.draw()
    return program, drawing.inputs
