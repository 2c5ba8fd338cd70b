#!/usr/bin/env python3
# Shows with PyTorch alone what became of a program whose write-back copies were placed. Needs nothing but torch.
import itertools
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
CHOICES = {  # what the program leaves open
}
ARGUMENTS = {}
SIZES = {}
SHARED = {}
SEQUENTIAL = False
PLACED = """
ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, b_a: "f32[4]", x_c: "f32[4]"):
            copy_: "f32[4]" = torch.ops.aten.copy_.default(x_c, b_a);  b_a = None
    
            # No stacktrace found for following nodes
            t7: "f32[4]" = torch.ops.aten.neg.default(x_c);  x_c = None
            return (t7, copy_)
    
Graph signature: 
    # inputs
    b_a: BUFFER target='a' persistent=True
    x_c: USER_INPUT
    
    # outputs
    t7: USER_OUTPUT
    copy_: USER_INPUT_MUTATION target='x_c'
    
Range constraints: {}
"""

PLACED_OUTPUTS = ["t7", ]
BORN = {}  # results that a target's storage takes, by ops that work cell by cell or not
LOWERING = True

DTYPES = {"f32": torch.float32, "i64": torch.int64, "b8": torch.bool}
VIEW_COPY = re.compile(r"torch\.ops\.aten\.view_copy\.default\((\w+), (\[.*\])\)")


def nodes(program):
    """Name and expression of each node, in order."""
    pattern = r'^ {12}(\w+)(?:: ".*?")? = (.*?)(?:;  .*)?$'
    return {m[1]: m[2] for m in re.finditer(pattern, program.split("Graph signature")[0], re.M)}


def root(name, program):
    """The value that a chain of view_copy starts from: a later pass makes each link a view of that."""
    while (link := VIEW_COPY.fullmatch(program.get(name, ""))):
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
    return inside(args[ARGUMENTS[name][choice.rsplit(" ", 1)[1]]], sizes, choice.startswith("all"))


def inside(whole, sizes, all):
    """A tensor of these sizes in another: all of it, or along its last dimension, or one cell many times."""
    shape = torch.empty(sizes)
    if all and whole.shape == shape.shape:
        return whole
    if all and whole.is_contiguous() and whole.numel() == shape.numel():
        return whole.view(sizes)
    fits = shape.numel() <= (whole.shape or [1])[-1] and shape.numel() < whole.numel()
    step = whole.stride()[-1] if fits else 0
    return whole.as_strided(sizes, [s * step for s in shape.stride()], whole.storage_offset())


def write_over(target, cell_by_cell, result):
    """The result is born in the target: each cell is written before the next is computed, or all before anything is read."""
    if not cell_by_cell:
        target.fill_(77)
        return target.copy_(result())
    for place in itertools.product(*map(range, target.shape)):
        target[place] = result()[place]
    return target


def evaluate(name, program, values, placed):
    text = program[name]
    lowered = placed and LOWERING
    link = VIEW_COPY.fullmatch(text)
    if link and lowered:
        op = "view" if CHOICES.get(f"{name}: lowering") == "lowered" else "view_copy"
        text = f"torch.ops.aten.{op}.default({root(name, program)}, {link.group(2)})"
    if "torch.ops.my." in text:
        text = re.sub(r"torch\.ops\.my\.\w+\.\w+\(", f"custom({name!r}, {SIZES.get(name)}, ", text)
    run = lambda: eval(text, {"torch": torch, "custom": custom, "self": Branches()}, values)
    if placed and name in BORN:
        target, cell_by_cell = BORN[name]
        return write_over(values[target], cell_by_cell, run)
    result = run()
    if CHOICES.get(name) == "copy":
        result = result.clone()
    if lowered and CHOICES.get(f"{name}: allocation") == "shared storage":
        values[SHARED[name]].copy_(result)
        result = values[SHARED[name]]
    return result


def outcome(values, outputs):
    return [o.tolist() for o in outputs] + [values[name].tolist() for name, *_ in INPUTS]


def views(values, outputs):
    """Which outputs lie in the storage of which inputs."""
    where = lambda v: values[v].untyped_storage().data_ptr()
    return {(i, name) for i, v in enumerate(outputs) for name, *_ in INPUTS if where(v) == where(name)}


def meaning(seed):
    """All values and outputs are read, then the targets are written."""
    values = inputs(seed)
    program = nodes(PROGRAM)
    for name in program:
        values[name] = evaluate(name, program, values, False)
    read = [values[v].clone() for _, v in WRITE_BACKS]
    outputs = [values[v].clone() for v in OUTPUTS]
    for (target, value), old in zip(WRITE_BACKS, read):
        values[target].copy_(values[value] if SEQUENTIAL else old)
    return outcome(values, [values[v] for v in OUTPUTS] if SEQUENTIAL else outputs), views(values, OUTPUTS)


def placed(seed):
    """The copies are nodes; later passes have made aliases of what they may."""
    values = inputs(seed)
    program = nodes(PLACED)
    for name in program:
        try:
            values[name] = evaluate(name, program, values, True)
        except (RuntimeError, NameError) as error:  # a copy between tensors that overlap; a value that is not computed yet
            return [str(error).split("\n")[0]], set()
    return outcome(values, [values[v] for v in PLACED_OUTPUTS]), views(values, PLACED_OUTPUTS)


def same(seed):
    (expected, of_inputs), (got, found_of_inputs) = meaning(seed), placed(seed)
    for i, name in found_of_inputs - of_inputs:
        print(f"! output {OUTPUTS[i]} has become a view of {name}")
    if expected != got:
        names = [f"output {v}" for v in OUTPUTS] + [name for name, *_ in INPUTS]
        for name, e, g in zip(names, expected, got):
            print(("  " if e == g else "! ") + f"{name}: expected {e}, got {g}")
    return expected == got and found_of_inputs <= of_inputs


for seed in range(20):
    if not same(seed):
        print("DIFFERENT: the placement changes what the program computes")
        sys.exit(0)
sys.exit("no difference found in 20 runs")
