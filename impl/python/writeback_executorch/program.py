"""Programs to PyTorch and back.

`read_json` makes a torch.fx graph with its ExportGraphSignature out of export-schema JSON, `write_json` is the inverse; both know
the ATen dialect and ExecuTorch's edge dialect (targets `executorch.exir.dialects.edge.ops.NS.OP.OVERLOAD`). They handle programs of
static shape without subgraphs themselves, in about a millisecond, because the fuzzer asks for thousands; all others go
through torch's own serializer, with edge ops replaced by their ATen ops on the way. `text_of` prints any ExportedProgram for
`writeback`, strides included, with what text cannot say in comment lines: shared storages, shared allocations, custom schemas.
"""

import copy
import functools
import json as json_module
import math
import operator
import re

import torch
from torch._export.serde import schema as serde
from torch._export.serde import serialize
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import graph_signature as signature_of

from .errors import BridgeError, first_line

EDGE = "executorch.exir.dialects.edge.ops."
_MODE = FakeTensorMode(allow_non_fake_inputs=True)
_DTYPES = serialize._SERIALIZE_TO_TORCH_DTYPE
_DTYPE_NUMBERS = {dtype: int(number) for number, dtype in _DTYPES.items()}
_LAYOUTS = serialize._SERIALIZE_TO_TORCH_LAYOUT
_MEMORY_FORMATS = serialize._SERIALIZE_TO_TORCH_MEMORY_FORMAT
_LIBRARIES = []  # keeps custom ops alive
_DECLARED = set()  # their names and overloads: they have no kernels


# ---------------------------------------------------------------------------------------------------------------- operators

def edge_ops():
    try:
        from executorch.exir.dialects._ops import ops
    except ImportError as e:
        raise BridgeError(f"executorch is not installed: {first_line(e)}") from e
    return ops.edge


@functools.lru_cache(maxsize=None)
def target_of(name):
    """The callable that a target string of the export schema names."""
    if ".dialects.edge." in name:
        parts = re.split(r"\.dialects\.edge\._?ops\.", name)[-1].split(".")
        module = edge_ops()
    elif name.startswith("torch.ops."):
        parts, module = name.split(".")[2:], torch.ops
    elif name.startswith(("_operator.", "operator.")):
        parts, module = name.split(".")[1:], operator
    elif name.startswith("math."):
        parts, module = name.split(".")[1:], math
    elif name.startswith("torch."):
        parts, module = name.split(".")[1:], torch
    else:
        raise BridgeError(f"the target {name} is of no kind that this bridge knows")
    found = module
    try:
        for part in parts:
            found = getattr(found, part)
    except (AttributeError, RuntimeError) as e:
        raise BridgeError(f"the op {name} is not installed in this torch ({torch.__version__})") from e
    return found


def edge_targets(names):
    """The edge ops of names like aten.add.Tensor, as a set."""
    return frozenset(target_of(EDGE + name) for name in names)


def is_edge(target):
    return hasattr(target, "_op") and type(target).__name__.endswith("EdgeOpOverload")


def overload_of(target):
    """The ATen OpOverload under a target of either dialect, None for anything else."""
    if isinstance(target, torch._ops.OpOverload):
        return target
    inner = getattr(target, "_op", None)
    return inner if isinstance(inner, torch._ops.OpOverload) else None


def _is_memory_view(target):
    return getattr(target, "__module__", "") == "executorch.exir.memory" and target.__name__ == "view"


def name_of_target(target):
    """The target string of the export schema. A memory.view of ExecuTorch is what it does: aten.view."""
    op = overload_of(target)
    if op is not None:
        namespace, name = op._schema.name.split("::")
        overload = op._schema.overload_name or "default"
        return (EDGE if is_edge(target) else "torch.ops.") + f"{namespace}.{name}.{overload}"
    if isinstance(target, torch._ops.HigherOrderOperator):
        return f"torch.ops.higher_order.{target.name()}"
    if _is_memory_view(target):
        return "torch.ops.aten.view.default"
    return f"{target.__module__}.{target.__name__}"


def define_ops(schemas):
    """Registers the custom ops of these schema lines, once each, so that a graph can call them. They have no kernels."""
    for line in schemas:
        head = line.split("(")[0].strip()
        if "::" not in head:
            raise BridgeError(f"a schema was expected to start with namespace::name, got {line!r}")
        namespace, name = head.split("::")
        base, _, overload = name.partition(".")
        packet = getattr(getattr(torch.ops, namespace), base, None)
        if packet is not None and (overload or "default") in packet.overloads():
            continue
        library = torch.library.Library(namespace, "FRAGMENT")
        try:
            library.define(line.split("::", 1)[1])
            _DECLARED.add((f"{namespace}::{base}", overload))
        except RuntimeError as e:
            raise BridgeError(f"torch does not take the schema {line!r}: {first_line(e)}") from e
        _LIBRARIES.append(library)
    target_of.cache_clear()


def is_declared(target):
    """Whether the op is one that define_ops registered."""
    op = overload_of(target)
    return op is not None and (op._schema.name, op._schema.overload_name) in _DECLARED


# ----------------------------------------------------------------------------------------------------------------- from JSON

def _number(value):
    """A size or stride: as_int, or a bare number. None where it is symbolic."""
    if isinstance(value, int):
        return value
    return value.get("as_int") if isinstance(value, dict) else None


def _fake(meta):
    """A fake tensor of the schema's TensorMeta."""
    return _fake_of(tuple(_number(s) for s in meta["sizes"]), tuple(_number(s) for s in meta["strides"]), meta["dtype"])


@functools.lru_cache(maxsize=4096)
def _fake_of(sizes, strides, dtype):
    """Making one takes longer than the rest of a node, and nobody looks at its identity."""
    with _MODE:
        return torch.empty_strided(sizes, strides, dtype=_DTYPES[dtype], device="cpu")


def fake_like(tensor):
    """A fake tensor of a real one's metadata; anything else as it is."""
    if not isinstance(tensor, torch.Tensor):
        return tensor
    return _fake_of(tuple(tensor.shape), tuple(tensor.stride()), _DTYPE_NUMBERS[tensor.dtype])


def _is_plain(program):
    """Static shapes and no subgraphs: what this file reads itself."""
    graph = program["graph_module"]["graph"]
    sized = all(_number(n) is not None for m in graph["tensor_values"].values() for n in [*m["sizes"], *m["strides"]])
    plain = all("as_graph" not in i["arg"] for n in graph["nodes"] for i in n["inputs"])
    return sized and plain and not graph.get("sym_int_values") and not graph.get("sym_bool_values")


class _Reader:
    def __init__(self, program):
        self.module = program["graph_module"]
        self.json = self.module["graph"]
        self.graph = torch.fx.Graph()
        self.values = {}
        self.fakes = {name: _fake(meta) for name, meta in self.json["tensor_values"].items()}

    def add(self, name, node, value):
        if name in self.values:
            raise BridgeError(f"two values are named {name}")
        if node.name != name:
            node.name = name
        node.meta["val"] = value
        self.values[name] = node
        return node

    def value(self, name):
        if name not in self.values:
            raise BridgeError(f"the value {name} is used before it is defined")
        return self.values[name]

    def argument(self, union):
        (tag, value), = ((t, v) for t, v in union.items() if len(union) == 1 or v is not None)
        match tag:
            case "as_none":
                return None
            case "as_tensor" | "as_custom_obj":
                return self.value(value["name"])
            case "as_tensors":
                return [self.value(v["name"]) for v in value]
            case "as_optional_tensor":
                return self.argument(value)
            case "as_optional_tensors":
                return [self.argument(v) for v in value]
            case "as_nested_tensors":
                return [[self.value(v["name"]) for v in row] for row in value]
            case "as_sym_int" | "as_sym_bool" | "as_sym_float":
                return self.value(value["as_name"]) if "as_name" in value else next(iter(value.values()))
            case "as_sym_ints" | "as_sym_bools" | "as_sym_floats":
                return [self.argument({"as_sym_int": v}) for v in value]
            case "as_scalar_type":
                return _DTYPES[value]
            case "as_layout":
                return _LAYOUTS[value]
            case "as_memory_format":
                return _MEMORY_FORMATS[value]
            case "as_device":
                return torch.device(value["type"], *([] if value["index"] is None else [value["index"]]))
            case "as_float":
                return float(value)
            case "as_complex":
                return complex(value["real"], value["imag"])
            case "as_string_to_argument":
                return {k: self.argument(v) for k, v in value.items()}
            case "as_operator":
                return target_of(value)
            case "as_int" | "as_bool" | "as_string" | "as_ints" | "as_bools" | "as_strings" | "as_floats" | "as_int_lists" | \
                    "as_float_lists":
                return value
        raise BridgeError(f"an argument of the unknown kind {tag}")

    def arguments(self, node, target):
        """Positional and keyword arguments. One that is positional but stands behind an omitted default is passed by name."""
        op = overload_of(target)
        order = [a.name for a in op._schema.arguments] if op else []
        keyword_only = {a.name for a in op._schema.arguments if a.kwarg_only} if op else set()
        args, kwargs = [], {}
        for given in node["inputs"]:
            name, value = given["name"], self.argument(given["arg"])
            in_place = not order or len(args) < len(order) and order[len(args)] == name
            if given.get("kind") == 2 or name in keyword_only or not in_place:
                kwargs[name] = value
            else:
                args.append(value)
        return tuple(args), kwargs

    def pick(self, source, value, names):
        """getitem nodes for the named elements of a result."""
        for i, (name, element) in enumerate(zip(names, value)):
            if isinstance(name, list):
                inner = self.graph.call_function(operator.getitem, (source, i))
                inner.meta["val"] = element
                self.pick(inner, element, name)
            elif name and not re.search(r"_unused_\d+$", name):
                self.add(name, self.graph.call_function(operator.getitem, (source, i)), element)

    def node(self, node):
        target = target_of(node["target"])
        args, kwargs = self.arguments(node, target)
        names = [self.names_of_output(o) for o in node["outputs"]]
        single = len(names) == 1 and isinstance(names[0], str)
        name = names[0] if single else node.get("name") or node["target"].split(".")[-2]
        made = self.graph.create_node("call_function", target, args, kwargs, name=name)
        if single:
            return self.add(name, made, self.fakes.get(name))
        if len(names) == 1 and isinstance(names[0], list):
            names = names[0]
        made.meta["val"] = self.fakes_of(names) or None
        self.pick(made, made.meta["val"] or (), names)

    def fakes_of(self, names):
        return tuple(self.fakes_of(n) if isinstance(n, list) else self.fakes.get(n) for n in names)

    @staticmethod
    def names_of_output(union):
        (tag, value), = ((t, v) for t, v in union.items() if len(union) == 1 or v is not None)
        if tag == "as_tensors":
            return [v["name"] for v in value]
        if tag in ("as_sym_int", "as_sym_bool", "as_sym_float"):
            return value["as_name"]
        return value["name"] if tag == "as_tensor" else None

    def read(self):
        for given in self.json["inputs"]:
            name = self.names_of_output(given)
            if name is None:
                raise BridgeError("inputs that are no tensors are read by torch only")
            self.add(name, self.graph.placeholder(name), self.fakes[name])
        for node in self.json["nodes"]:
            self.node(node)
        outputs = self.graph.output(tuple(self.argument(o) for o in self.json["outputs"]))
        outputs.meta["val"] = tuple(o.meta["val"] if isinstance(o, torch.fx.Node) else o for o in outputs.args[0])
        module = torch.fx.GraphModule({}, self.graph)
        return module, read_signature(self.module["signature"])


def read_signature(json):
    """An ExportGraphSignature of the schema's GraphSignature."""
    inputs, outputs = [], []
    for spec in json["input_specs"]:
        (kind, value), = spec.items()
        arg = _spec_argument(value.get("arg"))
        match kind:
            case "user_input":
                inputs.append(signature_of.InputSpec(signature_of.InputKind.USER_INPUT, arg, None))
            case "parameter":
                inputs.append(signature_of.InputSpec(signature_of.InputKind.PARAMETER, arg, value["parameter_name"]))
            case "buffer":
                inputs.append(signature_of.InputSpec(signature_of.InputKind.BUFFER, arg, value["buffer_name"],
                                                     value.get("persistent", True)))
            case "tensor_constant":
                inputs.append(signature_of.InputSpec(signature_of.InputKind.CONSTANT_TENSOR, arg, value["tensor_constant_name"]))
            case _:
                raise BridgeError(f"an input of the kind {kind}")
    kinds = {"user_output": None, "loss_output": None, "buffer_mutation": "buffer_name", "parameter_mutation": "parameter_name",
             "user_input_mutation": "user_input_name", "gradient_to_parameter": "parameter_name",
             "gradient_to_user_input": "user_input_name"}
    for spec in json["output_specs"]:
        (kind, value), = spec.items()
        if kind not in kinds:
            raise BridgeError(f"an output of the kind {kind}")
        target = value[kinds[kind]] if kinds[kind] else None
        outputs.append(signature_of.OutputSpec(signature_of.OutputKind[kind.upper()], _spec_argument(value["arg"]), target))
    return signature_of.ExportGraphSignature(inputs, outputs)


def _spec_argument(value):
    if "name" in value:
        return signature_of.TensorArgument(value["name"])
    (tag, inner), = value.items()
    if tag == "as_tensor":
        return signature_of.TensorArgument(inner["name"])
    if tag in ("as_sym_int", "as_sym_bool", "as_sym_float") and "as_name" in inner:
        return signature_of.SymIntArgument(inner["as_name"])
    return signature_of.ConstantArgument("", None if tag == "as_none" else inner if not isinstance(inner, dict) else inner.get("as_int"))


def _map_targets(graph, change):
    """Changes the target strings of a graph in JSON, subgraphs included."""
    for node in graph["nodes"]:
        node["target"] = change(node)
        for given in node["inputs"]:
            if "as_graph" in given["arg"]:
                _map_targets(given["arg"]["as_graph"]["graph"], change)


def _read_by_torch(program):
    program = copy.deepcopy(program)
    edge = {}

    def to_aten(node):
        if ".dialects.edge." not in node["target"]:
            return node["target"]
        aten = "torch.ops." + re.split(r"\.dialects\.edge\._?ops\.", node["target"])[-1]
        edge[aten] = node["target"]
        return aten

    _map_targets(program["graph_module"]["graph"], to_aten)
    module = serialize._dict_to_dataclass(serde.GraphModule, program["graph_module"])
    ranges = {name: torch.utils._sympy.value_ranges.ValueRanges(r["min_val"] if r["min_val"] is not None else 0,
                                                                r["max_val"] if r["max_val"] is not None else 2 ** 31)
              for name, r in program.get("range_constraints", {}).items()}
    result = serialize.GraphModuleDeserializer().deserialize(module, {}, {}, None, ranges)
    for inner in result.graph_module.modules():
        for node in getattr(inner, "graph", torch.fx.Graph()).nodes:
            if node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload):
                name = name_of_target(node.target)
                if name in edge:
                    node.target = target_of(edge[name])
    return result.graph_module, result.signature


def read_json(program):
    """(GraphModule, ExportGraphSignature) of a program in export-schema JSON (an object). BridgeError where it cannot be rebuilt."""
    try:
        if _is_plain(program):
            return _Reader(program).read()
        return _read_by_torch(program)
    except BridgeError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RuntimeError, serialize.SerializeError) as e:
        raise BridgeError(f"the program cannot be rebuilt: {type(e).__name__} {first_line(e)}") from e


class _AcceptAll(torch._export.verifier.Verifier):
    """Programs under test may break a dialect's rules; the passes, not the verifier, are what is asked."""
    dialect = "WRITEBACK"


_AcceptAll.check = lambda self, program: None  # torch forbids the override inside the class


def to_edge_dialect(module):
    """The graph with every ATen op as ExecuTorch's edge op, in place."""
    edge = edge_ops()
    for node in module.graph.nodes:
        if node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload):
            namespace, name = node.target._schema.name.split("::")
            node.target = getattr(getattr(getattr(edge, namespace), name), node.target._overloadname)
    module.recompile()
    return module


def exported_program(module, signature):
    """A whole ExportedProgram around a graph, its state small whole numbers, not all alike."""
    state = {}
    for spec, node in zip(signature.input_specs, module.graph.find_nodes(op="placeholder")):
        if spec.target is not None:
            value = node.meta["val"]
            shape = [int(s) for s in value.shape]
            start = ((torch.arange(math.prod(shape)) + len(state)).remainder(5) - 2).reshape(shape).to(value.dtype)
            parameter = spec.kind is signature_of.InputKind.PARAMETER
            state[spec.target] = torch.nn.Parameter(start, requires_grad=False) if parameter else start
    user_inputs = sum(s.kind is signature_of.InputKind.USER_INPUT for s in signature.input_specs)
    user_outputs = sum(s.kind is signature_of.OutputKind.USER_OUTPUT for s in signature.output_specs)
    structure = torch.utils._pytree.tree_structure
    call = torch.export.ModuleCallSignature([], [], structure((tuple(range(user_inputs)), {})), structure(tuple(range(user_outputs))))
    return torch.export.ExportedProgram(root=module, graph=module.graph, graph_signature=signature, state_dict=state,
                                        range_constraints={}, module_call_graph=[torch.export.ModuleCallEntry("", call)],
                                        verifiers=[_AcceptAll])


# ------------------------------------------------------------------------------------------------------------------- to JSON

def _meta_json(value):
    number = {v: int(k) for k, v in _LAYOUTS.items()}
    return {"dtype": _DTYPE_NUMBERS[value.dtype], "sizes": [{"as_int": int(s)} for s in value.shape],
            "requires_grad": False, "device": {"type": value.device.type, "index": value.device.index},
            "strides": [{"as_int": int(s)} for s in value.stride()], "storage_offset": {"as_int": int(value.storage_offset())},
            "layout": number[value.layout]}


def _argument_json(value):
    if isinstance(value, torch.fx.Node):
        return {"as_tensor": {"name": value.name}}
    if value is None:
        return {"as_none": True}
    if isinstance(value, (list, tuple)):
        return _list_json(list(value))
    for kind, tag in ((bool, "as_bool"), (int, "as_int"), (float, "as_float"), (str, "as_string")):
        if isinstance(value, kind):
            return {tag: value if not isinstance(value, float) or math.isfinite(value) else str(value)}
    if isinstance(value, torch.dtype):
        return {"as_scalar_type": _DTYPE_NUMBERS[value]}
    if isinstance(value, torch.device):
        return {"as_device": {"type": value.type, "index": value.index}}
    for table, tag in ((_LAYOUTS, "as_layout"), (_MEMORY_FORMATS, "as_memory_format")):
        for number, known in table.items():
            if known == value:
                return {tag: int(number)}
    raise BridgeError(f"an argument of type {type(value).__name__} cannot be written")


def _list_json(values):
    if values and all(isinstance(v, torch.fx.Node) for v in values):
        return {"as_tensors": [{"name": v.name} for v in values]}
    if any(isinstance(v, torch.fx.Node) for v in values):
        return {"as_optional_tensors": [{"as_none": True} if v is None else {"as_tensor": {"name": v.name}} for v in values]}
    for kind, tag in ((bool, "as_bools"), (int, "as_ints"), (float, "as_floats"), (str, "as_strings")):
        if all(isinstance(v, kind) for v in values):
            return {"as_ints" if not values else tag: values}
    raise BridgeError(f"a list of mixed arguments cannot be written: {values}")


class _Writer:
    def __init__(self, module, signature):
        self.graph, self.signature = module.graph, signature
        self.tensors = {}

    def tensor(self, node):
        self.tensors[node.name] = _meta_json(node.meta["val"])
        return {"as_tensor": {"name": node.name}}

    def inputs_of(self, node):
        op = overload_of(node.target)
        names = [a.name for a in op._schema.arguments] if op else ["self", "size"]
        given = [(name, value, 1) for name, value in zip(names, node.args)] + [(name, value, 2) for name, value in node.kwargs.items()]
        return [{"name": name, "arg": _argument_json(value), "kind": kind} for name, value, kind in given]

    def element(self, node, index, value):
        """The output that stands for element `index` of a result: its getitem's name, or a name for nobody."""
        for user in node.users:
            if user.target is operator.getitem and user.args[1] == index:
                if isinstance(value, (list, tuple)):
                    return {"as_tensors": [self.element(user, i, v)["as_tensor"] for i, v in enumerate(value)]}
                return self.tensor(user)
        name = f"{node.name}_unused_{index}"
        if isinstance(value, (list, tuple)):
            return {"as_tensors": []}
        if isinstance(value, torch.Tensor):
            self.tensors[name] = _meta_json(value)
        return {"as_tensor": {"name": name}}

    def outputs_of(self, node):
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor):
            return [self.tensor(node)]
        if not isinstance(value, (list, tuple)):
            return []
        elements = [self.element(node, i, v) for i, v in enumerate(value)]
        op = overload_of(node.target)
        is_list = op is not None and len(op._schema.returns) == 1
        return [{"as_tensors": [e["as_tensor"] for e in elements]}] if is_list else elements

    def write(self):
        graph = {"inputs": [], "outputs": [], "nodes": [], "tensor_values": self.tensors, "sym_int_values": {}, "sym_bool_values": {},
                 "is_single_tensor_return": False, "custom_obj_values": {}, "sym_float_values": {}}
        for node in self.graph.nodes:
            if node.op == "placeholder":
                graph["inputs"].append(self.tensor(node))
            elif node.op == "output":
                graph["outputs"] = [_argument_json(v) for v in node.args[0]]
            elif node.target is not operator.getitem:
                graph["nodes"].append({"target": name_of_target(node.target), "inputs": self.inputs_of(node),
                                       "outputs": self.outputs_of(node), "metadata": {}, "is_hop_single_tensor_return": None,
                                       "name": node.name})
        return _program_json(graph, write_signature(self.signature))


def _program_json(graph, signature):
    return {"graph_module": {"graph": graph, "signature": signature, "module_call_graph": [{"fqn": "", "signature": None}],
                             "metadata": {}, "treespec_namedtuple_fields": {}},
            "opset_version": {"aten": 10}, "range_constraints": {}, "schema_version": {"major": 8, "minor": 20},
            "verifiers": ["ATEN"], "torch_version": torch.__version__, "guards_code": []}


def write_signature(signature):
    """The schema's GraphSignature of an ExportGraphSignature."""
    def union(arg):
        if isinstance(arg, signature_of.TensorArgument):
            return {"as_tensor": {"name": arg.name}}
        return _argument_json(arg.value)

    inputs, outputs = [], []
    for spec in signature.input_specs:
        name = spec.kind.name.lower()
        match name:
            case "user_input":
                inputs.append({name: {"arg": union(spec.arg)}})
            case "parameter":
                inputs.append({name: {"arg": {"name": spec.arg.name}, "parameter_name": spec.target}})
            case "buffer":
                inputs.append({name: {"arg": {"name": spec.arg.name}, "buffer_name": spec.target, "persistent": bool(spec.persistent)}})
            case "constant_tensor":
                inputs.append({"tensor_constant": {"arg": {"name": spec.arg.name}, "tensor_constant_name": spec.target}})
            case _:
                raise BridgeError(f"an input of the kind {name} cannot be written")
    fields = {"buffer_mutation": "buffer_name", "parameter_mutation": "parameter_name", "user_input_mutation": "user_input_name",
              "gradient_to_parameter": "parameter_name", "gradient_to_user_input": "user_input_name"}
    for spec in signature.output_specs:
        name = spec.kind.name.lower()
        if name in fields:
            outputs.append({name: {"arg": {"name": spec.arg.name}, fields[name]: spec.target}})
        elif name == "loss_output":
            outputs.append({name: {"arg": {"name": spec.arg.name}}})
        else:
            outputs.append({"user_output": {"arg": union(spec.arg)}})
    return {"input_specs": inputs, "output_specs": outputs}


def _write_by_torch(module, signature):
    module = copy.deepcopy(module)
    edge = {}
    for inner in module.modules():
        for node in getattr(inner, "graph", torch.fx.Graph()).nodes:
            if is_edge(node.target):
                aten = overload_of(node.target)
                edge[node.name] = name_of_target(node.target)
                node.target = aten
            elif _is_memory_view(node.target):
                node.target = torch.ops.aten.view.default
    serializer = serialize.GraphModuleSerializer(signature, [torch.export.ModuleCallEntry("", None)])
    unions = serialize._dataclass_to_dict(serializer.serialize(module))
    json = json_module.loads(json_module.dumps(unions))  # torch's unions are objects of its own until they are written
    _map_targets(json["graph"], lambda node: edge.get(node.get("name"), node["target"]))
    program = _program_json(json["graph"], json["signature"])
    program["graph_module"] = json
    return program


def fill_values(module):
    """Gives a `val` to nodes that a pass left without: an in-place op's is its argument's, others are evaluated on fake tensors."""
    value_of = functools.partial(torch.fx.node.map_arg, fn=lambda n: n.meta["val"])
    for node in module.graph.nodes:
        op = overload_of(node.target) if node.op == "call_function" and "val" not in node.meta else None
        if op is None:
            continue
        if op._schema.name.endswith("_") and isinstance(node.args[0], torch.fx.Node):
            node.meta["val"] = node.args[0].meta["val"]
        else:
            node.meta["val"] = op(*value_of(node.args), **value_of(node.kwargs))


def write_json(module, signature):
    """Export-schema JSON (an object) of a graph and its signature, in either dialect."""
    try:
        with torch.no_grad():  # a parameter may be written
            fill_values(module)
    except Exception as e:  # fake kernels raise any kind
        raise BridgeError(f"a node that the pass made cannot be evaluated: {first_line(e)}") from e
    values = [v for n in module.graph.nodes for v in torch.utils._pytree.tree_leaves(n.meta.get("val"))]
    plain = all(n.op != "get_attr" for n in module.graph.nodes) and all(
        v is None or isinstance(v, torch.Tensor) and all(isinstance(s, int) for s in [*v.shape, *v.stride()]) for v in values)
    try:
        return _Writer(module, signature).write() if plain else _write_by_torch(module, signature)
    except (KeyError, TypeError, AttributeError, serialize.SerializeError) as e:
        raise BridgeError(f"the program cannot be written: {type(e).__name__} {first_line(e)}") from e


# ------------------------------------------------------------------------------------------------------------------- to text

def alias_lines(program):
    """`# alias:` lines: placeholders whose tensors in the state share a storage, with their place in it, counted from the first."""
    groups = {}
    state = {**program.constants, **program.state_dict}
    for spec in program.graph_signature.input_specs:
        tensor = state.get(spec.target)
        if isinstance(tensor, torch.Tensor) and tensor.untyped_storage().nbytes():
            groups.setdefault(tensor.untyped_storage()._cdata, []).append((spec.arg.name, tensor))
    lines = []
    for members in groups.values():
        members.sort(key=lambda m: (m[1].storage_offset(), -m[1].numel()))
        base, whole = members[0]
        for name, tensor in members[1:]:
            sizes, strides = (", ".join(map(str, numbers)) for numbers in (tensor.shape, tensor.stride()))
            lines.append(f"# alias: {name} = {base}[{tensor.storage_offset() - whole.storage_offset()}; {sizes}; {strides}]")
    return lines


def share_lines(program):
    return [f"# share_alloc: {n.name} {n.meta['_share_alloc_with_arg_idx']}" for n in program.graph.nodes
            if n.meta.get("_share_alloc_with_arg_idx") is not None]


def schema_lines(program):
    """`# schema:` lines of the custom ops."""
    known = ("aten", "prims", "prim", "dim_order_ops", "quantized_decomposed")
    ops = {overload_of(n.target) for n in program.graph.nodes if n.op == "call_function"} - {None}
    return sorted(f"# schema: {op._schema}" for op in ops if op.namespace not in known)


def text_of(program):
    """The text that `writeback` reads for an ExportedProgram of either dialect."""
    code = program.graph_module.print_readable(print_output=False, colored=False, include_stride=True)
    body = "\n".join("    " + line for line in code.splitlines())
    signature = "\n".join("    " + line for line in str(program.graph_signature).splitlines())
    ranges = "{" + ", ".join(f"{s}: {r}" for s, r in program.range_constraints.items()) + "}"
    lines = alias_lines(program) + share_lines(program) + schema_lines(program)
    return "\n".join([*lines, "ExportedProgram:", body, "Graph signature: " + signature.lstrip(" "), f"Range constraints: {ranges}", ""])
