"""python -m writeback_executorch.honesty: do ATen's ops do what our effects say?

Calls every overload of ATen that the dispatcher knows and that takes or gives tensors, with real CPU tensors and arguments made up from its
schema, and looks at what happened: which arguments were written (version counters, contents, geometry), which results share a storage
with which argument. `writeback effects` says what is derived for the very same calls. An observed write or alias that the effect does
not allow is a lie; a claimed alias that was never seen to alias is listed as overstated. Ops are called in child processes, because some
crash on arguments that they do not expect. What cannot be called that way (sparse, quantised, other devices' kernels) is
counted by reason. Exit status 1 where an op lies.
"""

import argparse
import collections
import json
import os
import pathlib
import signal
import sys
import warnings

import torch

from . import randoms, tool
from .errors import BridgeError, first_line, main_of

SKIPPED = ("from_file", "_debug", "backward", "record_stream", "set_data", "_nested", "nested_", "to_padded", "cudnn", "miopen", "mkldnn", "mps",
           "_test_", "_sparse", "sparse_", "_cuda", "xpu", "_thnn", "hsplit_", "_use_", "_c10d", "rename", "align_", "refine_names",
           "_dimI", "_dimV", "to_sparse", "coalesce", "quantize", "fbgemm", "q_", "qscale", "_validate", "_pin_memory", "pin_memory")


def overloads():
    """Every aten OpOverload with a tensor somewhere in its schema."""
    names = sorted(n for n in torch._C._dispatch_get_all_op_names() if n.startswith("aten::"))
    for name in names:
        base, _, overload = name[6:].partition(".")
        try:
            op = getattr(getattr(torch.ops.aten, base), overload or "default")
        except (AttributeError, RuntimeError):
            continue
        if any("Tensor" in str(a.type) for a in [*op._schema.arguments, *op._schema.returns]):
            yield op


# ------------------------------------------------------------------------------------------------------------------- arguments

SHAPES = [(4, 4), (2, 3, 4, 4), (4,), (3, 4, 4), (1, 1, 4, 4), (2, 2), (16, 4), (1, 2, 3, 4, 4), ()]
DTYPES = [torch.float32, torch.int64, torch.bool, torch.float64, torch.complex64]
INTEGERS = {"dim": 0, "dim0": 0, "dim1": 1, "axis0": 0, "axis1": 1, "n": 2, "k": 1, "chunks": 2, "sections": 2, "split_size": 2, "groups": 1,
            "start": 0, "end": 2, "step": 1, "length": 2, "size": 2, "num_classes": 5, "steps": 3, "high": 5, "dim_1": 0,
            "normalized_shape": 4, "repeats": 2, "upscale_factor": 2, "downscale_factor": 2, "num_samples": 2, "window_length": 4, "diagonal": 0}
LISTS = {"dims": [0, 1], "dim": [0], "kernel_size": [2, 2], "stride": [1, 1], "padding": [0, 0], "dilation": [1, 1], "output_padding": [0, 0],
         "output_size": [2, 2], "size": [4, 4], "shape": [4, 4], "repeats": [1, 1], "split_sizes": [2, 2], "normalized_shape": [4],
         "pad": [1, 1], "shifts": [1], "source": [0], "destination": [1], "indices": [1, 3], "tensor_indices_or_sections": [2],
         "perm": [1, 0], "dims_self": [0], "dims_other": [0], "block_size": [1, 1], "storage_offset": [0]}


class Maker:
    """Arguments for one attempt at a call: a shape and a dtype for everything, corrected by what arguments are called."""

    def __init__(self, shape, dtype, contiguous=True, truth=None):
        self.shape, self.dtype, self.contiguous, self.truth = shape, dtype, contiguous, truth

    def tensor(self, name):
        if name in ("index", "indices", "target") or "indices" in name or name.endswith("offsets"):
            return torch.zeros(self.shape[:1] if name != "index" else self.shape, dtype=torch.int64)
        if name in ("mask", "condition", "found_inf"):
            return torch.ones(self.shape, dtype=torch.bool)
        if name in ("running_mean", "running_var", "weight", "bias") and len(self.shape) > 1:
            return torch.ones(self.shape[1], dtype=self.dtype)
        made = (torch.arange(torch.Size(self.shape).numel()) % 5 + 1).reshape(self.shape).to(self.dtype)
        if not self.contiguous and made.dim() > 1:
            made = made.transpose(0, 1).contiguous().transpose(0, 1)
        return made

    def value(self, argument):
        kind, name = str(argument.real_type if hasattr(argument, "real_type") else argument.type), argument.name
        if "Optional" in kind or kind.endswith("?"):
            inner = kind.removeprefix("Optional[").removesuffix("]").removesuffix("?")
            if "Tensor" not in inner or not (argument.alias_info or name.startswith(("running_", "weight", "bias", "save_"))):
                return None
            kind = inner
        if kind == "Tensor":
            return self.tensor(name)
        if "Tensor" in kind:
            return [self.tensor(name), self.tensor(name)]
        if argument.has_default_value() and not (self.truth is not None and kind == "bool"):
            return argument.default_value
        if "List[int]" in kind or "List[SymInt]" in kind or "int[" in kind:
            wanted = LISTS.get(name, [1, 1])
            return list(self.shape) if name in ("size", "shape") else wanted
        return {"int": INTEGERS.get(name, 1), "SymInt": INTEGERS.get(name, 1), "float": 0.5, "bool": bool(self.truth), "number": 2, "Scalar": 2,
                "str": "mean", "ScalarType": torch.float32}.get(kind, INTEGERS.get(name, 1) if "int" in kind.lower() else None)

    def arguments(self, op):
        args, kwargs = [], {}
        for a in op._schema.arguments:
            value = self.value(a)
            if a.kwarg_only:
                kwargs[a.name] = value
            else:
                args.append(value)
        return args, kwargs


def attempts():
    for shape in SHAPES:
        for dtype in DTYPES[:3] if shape != (4, 4) else DTYPES:
            yield Maker(shape, dtype)
    yield Maker((4, 4), torch.float32, contiguous=False)
    yield Maker((2, 3, 4, 4), torch.float32, truth=True)
    yield Maker((4, 4), torch.float32, truth=True)


# ------------------------------------------------------------------------------------------------------------------ observing

def tensors_in(value):
    return [t for t in randoms.flat(value) if isinstance(t, torch.Tensor)]


def observe(op, args, kwargs):
    """What one call did: indices of the tensor leaves that were written or changed their geometry, and for each result tensor the
    leaves whose storage it has."""
    leaves = tensors_in([args, list(kwargs.values())])
    before = [(t.clone(), t._version, t.shape, t.stride()) for t in leaves]
    result = op(*args, **kwargs)
    written, reshaped = [], []
    for i, (t, (content, version, shape, stride)) in enumerate(zip(leaves, before)):
        if (t.shape, t.stride()) != (shape, stride):
            reshaped.append(i)
        if t.shape != shape or not torch.equal(torch.nan_to_num(t.to(torch.complex128)), torch.nan_to_num(content.to(torch.complex128))):
            written.append(i)
        elif t._version != version and i not in reshaped:
            written.append(i)
    results = []
    for r in result if isinstance(result, (tuple, list)) else [result]:
        for t in tensors_in(r):
            results.append([i for i, leaf in enumerate(leaves) if t.numel() and t.untyped_storage()._cdata == leaf.untyped_storage()._cdata])
    return {"written": written, "reshaped": reshaped, "aliases": results}


def call_all(op):
    """Up to five calls of an op that PyTorch took: the nodes' text and what was observed."""
    calls, refusal = [], "no arguments"
    for maker in attempts():
        try:
            args, kwargs = maker.arguments(op)
            text = as_text(op, args, kwargs)
            seen = observe(op, args, kwargs)
        except Exception as e:  # kernels refuse with any kind
            refusal = first_line(e)
            continue
        calls.append({"text": text, "seen": seen})
        if len(calls) >= 6:
            break
    return {"op": str(op), "calls": calls, "refusal": refusal if not calls else None}


def as_text(op, args, kwargs):
    """A program of this one call, its tensors placeholders in order."""
    names, placeholders = iter(f"p{i}" for i in range(1000)), []

    def replaced(value):
        if isinstance(value, torch.Tensor):
            name = next(names)
            short = {torch.float32: "f32", torch.float64: "f64", torch.complex64: "c64"}.get(value.dtype) or randoms.SHORT[value.dtype]
            placeholders.append(f'{name}: "{short}[{randoms.numbers(value.shape)}][{randoms.numbers(value.stride())}]"')
            return randoms.Ref(name)
        if isinstance(value, (list, tuple)):
            return [replaced(v) for v in value]
        return value

    node = randoms.Node("t", f"aten.{op._schema.name[6:]}.{op._schema.overload_name or 'default'}", tuple(replaced(a) for a in args),
                        {k: replaced(v) for k, v in kwargs.items() if v is not None})
    head = ["class GraphModule(torch.nn.Module):", f"    def forward(self{''.join(', ' + p for p in placeholders)}):"]
    return "\n".join([*head, "        " + randoms.statement(node), "        return ()", ""])


def observe_all(ops, seconds=10):
    """call_all of every op, in children: one that crashes or hangs is its op's answer."""
    rows, next_op = [], 0
    while next_op < len(ops):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            with os.fdopen(writing, "w") as out:
                torch.set_num_threads(1)
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
                for op in ops[next_op:]:
                    signal.alarm(seconds)
                    out.write(json.dumps(call_all(op)) + "\n")
                    out.flush()
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as lines:
            answers = [json.loads(line) for line in lines]
        os.waitpid(child, 0)
        rows += answers
        next_op += len(answers)
        if next_op < len(ops):
            rows.append({"op": str(ops[next_op]), "calls": [], "refusal": "crashes or hangs"})
            next_op += 1
    return rows


# ------------------------------------------------------------------------------------------------------------------- comparing

ALIASING = {"same", "alias", "may_alias", "opaque"}


def lies_of(seen, effect):
    """Sentences on what was observed against the effect of the node."""
    lies = []
    writes = [o["writes"] for o in effect["operands"]]
    rebinds = "rebinds" in effect["traits"]
    for i in seen["written"]:
        if not (i < len(writes) and writes[i]) and not rebinds:
            lies.append(f"writes argument {i}")
    for i in seen["reshaped"]:
        if not rebinds and not (i < len(writes) and writes[i]):
            lies.append(f"changes the geometry of argument {i}")
    for number, leaves in enumerate(seen["aliases"]):
        allowed = allowed_aliases(effect["results"], number)
        lies += [f"result {number} shares the storage of argument {i}" for i in leaves if i not in allowed]
    return lies


def allowed_aliases(results, number):
    """The operands whose storage the number-th result tensor may have."""
    if not results:
        return set()
    if len(results) == 1 or results[0]["list"]:
        result = results[0]
    else:
        result = results[min(number, len(results) - 1)]
    return set(result["operands"]) if result["kind"] in ALIASING else set()


def overstated(calls, effects):
    """True where an alias is claimed to be sure and no call showed one."""
    sure = any(r["kind"] in ("same", "alias") and r["operands"] for e in effects for r in e["results"])
    return sure and not any(leaves for c in calls for leaves in c["seen"]["aliases"])


def judge(rows):
    """(lies, overstated ops, counts)."""
    lies, over, counts = {}, [], collections.Counter(overloads=len(rows))
    for row in rows:
        if not row["calls"]:
            counts["not callable here"] += 1
            continue
        counts["called"] += 1
        counts["calls"] += len(row["calls"])
        effects = []
        for call in row["calls"]:
            try:
                (effect,) = json.loads(tool.run(["effects", "-"], call["text"]))["nodes"]
            except BridgeError as e:
                counts["refused by writeback"] += 1
                lies.setdefault(row["op"], set()).update(() if "resize" in row["op"] or "set_" in row["op"] else {f"refused: {e}"[:300]})
                continue
            effects.append(effect)
            said = lies_of(call["seen"], effect)
            if said:
                lies.setdefault(row["op"], set()).update(f"{s} ({effect['source']})" for s in said)
        if effects and overstated(row["calls"], effects):
            over.append(row["op"])
    return {op: sorted(said) for op, said in lies.items() if said}, over, counts


@main_of
def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m writeback_executorch.honesty", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="only ops whose name holds one of these words")
    parser.add_argument("--table", type=pathlib.Path, help="write one line per op to FILE")
    given = parser.parse_args(arguments)
    warnings.filterwarnings("ignore")
    ops = [op for op in overloads() if not any(s in str(op) for s in SKIPPED)
           and (not given.words or any(w in str(op) for w in given.words))]
    rows = observe_all(ops)
    lies, over, counts = judge(rows)
    if given.table:
        given.table.write_text("".join(f"{r['op']}\t{len(r['calls'])} calls\t{r['refusal'] or 'called'}\n" for r in rows))
    for op, said in sorted(lies.items()):
        print(f"{op}: {'; '.join(said)}")
    print("claimed to alias, never seen to: " + (", ".join(over) or "none"))
    print(", ".join(f"{n} {what}" for what, n in counts.items()) + f", {len(lies)} that lie")
    return 1 if lies else 0


if __name__ == "__main__":
    sys.exit(main())
