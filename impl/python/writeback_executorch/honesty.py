"""python -m writeback_executorch.honesty: do ATen's ops do what our effects say?

Calls every overload of ATen that the dispatcher knows and that takes or gives tensors, with real CPU tensors and arguments made up from its
schema, and looks at what happened: which arguments were written (version counters, contents, geometry), which results share a storage
with which argument. `writeback effects` says what is derived for each op. An observed write or alias that no rule of the op
allows is a lie; a claimed alias that was never seen to alias is listed as overstated. Ops are called in child processes, because some
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
from .errors import first_line, main_of

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
    """What one call did: names of the arguments that were written or changed their geometry, and for each result the
    arguments whose storage a tensor of it has."""
    given = [(a.name, v) for a, v in zip(op._schema.arguments, args)] + list(kwargs.items())
    names = [name for name, value in given for _ in tensors_in(value)]
    leaves = tensors_in([value for _, value in given])
    before = [(t.clone(), t._version, t.shape, t.stride()) for t in leaves]
    result = op(*args, **kwargs)
    written, reshaped = set(), set()
    for name, t, (content, version, shape, stride) in zip(names, leaves, before):
        if (t.shape, t.stride()) != (shape, stride):
            reshaped.add(name)
        if t.shape == shape and not same_numbers(t, content) or t._version != version and name not in reshaped:
            written.add(name)
    results = [sorted({name for t in tensors_in(r) if t.numel() for name, leaf in zip(names, leaves)
                       if t.untyped_storage()._cdata == leaf.untyped_storage()._cdata})
               for r in (result if isinstance(result, tuple) else [result])]
    return {"written": sorted(written), "reshaped": sorted(reshaped), "aliases": results}


def same_numbers(a, b):
    return torch.equal(torch.nan_to_num(a.to(torch.complex128)), torch.nan_to_num(b.to(torch.complex128)))


def call_all(op):
    """What was observed in up to six calls that PyTorch took, and why it took none."""
    calls, refusal = [], "no arguments"
    for maker in attempts():
        try:
            args, kwargs = maker.arguments(op)
            calls.append(observe(op, args, kwargs))
        except Exception as e:  # kernels refuse with any kind
            refusal = first_line(e)
        if len(calls) >= 6:
            break
    return {"op": name_of(op), "calls": calls, "refusal": refusal if not calls else None}


def name_of(op):
    return op._schema.name + (f".{op._schema.overload_name}" if op._schema.overload_name else "")


def observe_all(ops, seconds=3):
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
            rows.append({"op": name_of(ops[next_op]), "calls": [], "refusal": "crashes or hangs"})
            next_op += 1
    return rows


# ------------------------------------------------------------------------------------------------------------------- comparing

ALIASING = {"same", "alias", "may_alias", "opaque"}


def lies_of(seen, effect):
    """Sentences on what one call did that no rule of the op allows."""
    writes = {name for rule in effect["rules"] for name in rule["writes"]}
    rebinds = any("rebinds" in rule["traits"] for rule in effect["rules"])
    lies = [f"writes {name}" for name in seen["written"] if name not in writes and not rebinds]
    lies += [f"changes the geometry of {name}" for name in seen["reshaped"] if name not in writes and not rebinds]
    for number, names in enumerate(seen["aliases"]):
        allowed = {name for rule in effect["rules"] for r in rule["results"][number:number + 1] if r["kind"] in ALIASING for name in r["of"]}
        lies += [f"result {number} shares the storage of {name}" for name in names if name not in allowed]
    return lies


def is_overstated(calls, effect):
    """True where an alias is claimed to be sure and no call showed one."""
    sure = all(any(r["kind"] in ("same", "alias") and r["of"] for r in rule["results"]) for rule in effect["rules"])
    return sure and not any(names for c in calls for names in c["aliases"])


def judge(rows, effects):
    """({op: lies}, overstated ops, counts). effects: what `writeback effects` prints, by op."""
    lies, over, counts = {}, [], collections.Counter(overloads=len(rows))
    for row in rows:
        effect = effects.get(row["op"])
        if effect is None:
            counts["not in the table"] += 1
            continue
        counts[effect["source"].split(":")[0]] += 1
        if any("refused" in rule["traits"] for rule in effect["rules"]):
            counts["refused by writeback"] += 1
            continue
        if not row["calls"]:
            counts["not callable here"] += 1
            continue
        counts["called"] += 1
        counts["calls"] += len(row["calls"])
        said = {s for seen in row["calls"] for s in lies_of(seen, effect)}
        if said:
            lies[row["op"]] = sorted(said)
        if is_overstated(row["calls"], effect):
            over.append(row["op"])
    return lies, over, counts


def derived_effects():
    return {effect["op"]: effect for effect in json.loads(tool.run(["effects"]))}


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
    lies, over, counts = judge(rows, derived_effects())
    if given.table:
        given.table.write_text("".join(f"{r['op']}\t{len(r['calls'])} calls\t{r['refusal'] or 'called'}\n" for r in rows))
    for op, said in sorted(lies.items()):
        print(f"{op}: {'; '.join(said)}")
    print("claimed to alias, never seen to: " + (", ".join(over) or "none"))
    print(", ".join(f"{n} {what}" for what, n in counts.items()) + f", {len(lies)} that lie")
    return 1 if lies else 0


if __name__ == "__main__":
    sys.exit(main())
