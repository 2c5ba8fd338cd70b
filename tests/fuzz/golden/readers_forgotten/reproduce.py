#!/usr/bin/env python3
# Shows with PyTorch alone that a placement of write-back copies changes what a program computes. Needs nothing but torch.
import re
import sys
import torch

PROGRAM = """
ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, b_a: "f32[4]", x_c: "f32[4]"):
            # No stacktrace found for following nodes
            t7: "f32[4]" = torch.ops.aten.neg.default(x_c);  x_c = None
            return (t7, b_a)
    
Graph signature: 
    # inputs
    b_a: BUFFER target='a' persistent=True
    x_c: USER_INPUT
    
    # outputs
    t7: USER_OUTPUT
    b_a: USER_INPUT_MUTATION target='x_c'
    
Range constraints: {}
"""

# x_c <- b_a: reads_target (t7), seen at node t7
INPUTS = [  # name, dtype, sizes, (whose storage, offset, strides)
    ("b_a", "f32", [4], None),
    ("x_c", "f32", [4], None),
]
WRITE_BACKS = [("x_c", "b_a"), ]  # target, value
OUTPUTS = ["t7", ]
EVENTS = {  # after so many nodes: (clone, new name, value) or (copy, target, value)
    0: [("copy", "x_c", "b_a")],
}
READ_FIRST = {}  # outputs that are temporaries
CHOICES = {  # what the program leaves open
}
ARGUMENTS = {}
SIZES = {}
SHARED = {}
LOWERING = True
SEQUENTIAL = False

DTYPES = {"f32": torch.float32, "i64": torch.int64, "b8": torch.bool}
NODES = [m.groups() for m in re.finditer(r'^ {12}(\w+)(?:: ".*?")? = (.*?)(?:;  .*)?$', PROGRAM.split("Graph signature")[0], re.M)]
LOOKUP = dict(NODES)
VIEW_COPY = re.compile(r"torch\.ops\.aten\.view_copy\.default\((\w+), (\[.*\])\)")


def root(name):
    """The value that a chain of view_copy starts from: a later pass makes each link a view of that."""
    while (link := VIEW_COPY.fullmatch(LOOKUP.get(name, ""))):
        name = link.group(1)
    return name


class Branches:
    """`self` of the program: an attribute is a branch of a cond, a function made of the text of its class."""

    def __getattr__(self, name):
        text = re.search(rf"class {name}\(torch.nn.Module\):\n +def forward\(self, (.*)\):\n((?: {{16}}.*\n)+)", PROGRAM)
        names = re.findall(r"(\w+): \"", text.group(1))
        body = [line.split(";  ")[0].strip() for line in text.group(2).splitlines() if not line.strip().startswith("#")]

        def branch(*args):
            values = dict(zip(names, args), torch=torch)
            for line in body[:-1]:
                target, code = re.fullmatch(r"(\w+)(?:: \".*?\")? = (.*)", line).groups()
                values[target] = eval(code, {}, values)
            return eval(body[-1].removeprefix("return "), {}, values)

        return branch


def inputs(seed):
    torch.manual_seed(seed)
    made = {}
    for name, dtype, sizes, host in INPUTS:
        if host is None:
            made[name] = torch.randint(-9, 10, sizes).to(DTYPES[dtype])
        else:
            made[name] = made[host[0]].as_strided(sizes, host[2], host[1])
    return made


def custom(name, sizes, *args):
    """An op of which nothing is known: it may write its arguments, and its result may lie in one of them."""
    values = sum((i + 3) * (a.double().flatten() * torch.arange(1, a.numel() + 1)).sum() for i, a in enumerate(args)) % 97
    for i, a in enumerate(args):
        if CHOICES.get(f"{name}: argument {i}", "").startswith("writes"):
            a.copy_(a * 2 + values.to(a.dtype) + i + 1)
    choice = CHOICES.get(name, "fresh")
    if sizes is None:
        return None
    if choice == "fresh":
        return torch.full(sizes, float(values))
    base = ARGUMENTS[name][choice.rsplit(" ", 1)[1]]
    return args[base].as_strided(sizes, torch.empty(sizes).stride(), args[base].storage_offset())


def evaluate(name, text, values, lowered):
    link = VIEW_COPY.fullmatch(text)
    if link and lowered and LOWERING:
        op = "view" if CHOICES.get(f"{name}: lowering") == "lowered" else "view_copy"
        text = f"torch.ops.aten.{op}.default({root(name)}, {link.group(2)})"
    if "torch.ops.my." in text:
        text = re.sub(r"torch\.ops\.my\.\w+\.\w+\(", f"custom({name!r}, {SIZES.get(name)}, ", text)
    result = eval(text, {"torch": torch, "custom": custom, "self": Branches()}, values)
    if CHOICES.get(name) == "copy":
        result = result.clone()
    if lowered and CHOICES.get(f"{name}: allocation") == "shared storage":
        values[SHARED[name]].copy_(result)
        result = values[SHARED[name]]
    return result


def outcome(values, outputs):
    return [o.tolist() for o in outputs] + [values[name].tolist() for name, *_ in INPUTS]


def meaning(seed):
    """All values and outputs are read, then the targets are written."""
    values = inputs(seed)
    for name, text in NODES:
        values[name] = evaluate(name, text, values, False)
    read = [values[v].clone() for _, v in WRITE_BACKS]
    outputs = [values[v].clone() for v in OUTPUTS]
    for (target, value), old in zip(WRITE_BACKS, read):
        values[target].copy_(values[value] if SEQUENTIAL else old)
    return outcome(values, [values[v] for v in OUTPUTS] if SEQUENTIAL else outputs)


def placed(seed):
    """Each copy runs where the implementation put it; later passes have made aliases of what they may."""
    values = inputs(seed)
    for slot, (name, text) in enumerate([(None, None)] + NODES):
        if name:
            values[name] = evaluate(name, text, values, True)
        for kind, to, source in EVENTS.get(slot, []):
            if kind == "clone":
                values[to] = values[source].clone()
            else:
                values[to].copy_(values[source])
    return outcome(values, [values[READ_FIRST.get(i, v)] for i, v in enumerate(OUTPUTS)])


for seed in range(20):
    expected = meaning(seed)
    try:
        got = placed(seed)
    except RuntimeError as error:  # torch refuses a copy between tensors that overlap
        got = [str(error).split("\n")[0]]
    except KeyError as error:
        got = [f"{error} is copied before it is computed"]
    if expected != got:
        names = [f"output {v}" for v in OUTPUTS] + [name for name, *_ in INPUTS]
        for name, e, g in zip(names, expected, got):
            print(("  " if e == g else "! ") + f"{name}: expected {e}, got {g}")
        print("DIFFERENT: the placement changes what the program computes")
        sys.exit(0)
sys.exit("no difference found in 20 runs")
