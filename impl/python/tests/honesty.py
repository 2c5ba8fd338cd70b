"""Do the effects tell the truth? Calls every operator of the table with real tensors and compares what it reads, writes and aliases
with the effect that `writeback effects` derives.

    python impl/python/tests/honesty.py [--effects FILE] [--only aten::view] [--report FILE]

Arguments come from torch's own sample inputs (OpInfo) and, for what those do not reach, at random by the types of the schema. The
operators run in a child process, since random arguments may crash or hang one: the child is started again behind such an operator, which
counts as one that could not be called. What is compared, on every call that torch accepts:

  writes     contents or version counters change only where the effect says "writes"
  aliases    a result shares a storage only with what its effect names; `same` and `alias` results do share it
  reads      changing the contents of an argument that is not read changes nothing that the call makes or writes
  random     two calls differ only where the effect says "random" or "uninitialized" (on guessed arguments a kernel may read beyond its
             tensors: if the generator has not moved, that is noted, not held against the effect)

An effect may claim too much (a read that does not matter); it must not claim too little. The first is counted, the second a lie.
"""

import argparse
import collections
import faulthandler
import functools
import importlib
import json
import multiprocessing
import random
import sys
import warnings

import torch

TRIES = 40  # random calls an operator, until six were accepted
ENOUGH = 4
SKIPPED_PARTS = ("cudnn", "miopen", "mps", "mkldnn", "mkl_", "cuda", "quantized", "fbgemm", "sparse", "nested", "vulkan", "xpu", "flash_attention", "efficient_attention", "cufft", "nnpack", "cslt", "triton")


def register():
    """Ops of trusted namespaces that torch and ExecuTorch register on first use."""
    for module in ("torch.ao.quantization.fx._decomposed", "torch._inductor.inductor_prims", "executorch.exir.passes.dim_order_ops_registry"):
        try:
            importlib.import_module(module)
        except ImportError:
            continue


def operator(name):
    namespace, rest = name.split("::")
    packet, _, overload = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), packet), overload or "default")


# --- arguments ---


def samples_of_opinfo():
    """operator name -> sample inputs, by torch's own tests. Positional and keyword arguments as for the public function."""
    from torch.testing._internal.common_methods_invocations import op_db

    by_name = collections.defaultdict(list)
    for info in op_db:
        by_name[info.aten_name or info.name].append(info)
    return by_name


def is_declared(op, args, kwargs):
    """False where a tensor stands for a number: torch's samples are for the public functions, which take both."""
    of_tensors = {a.name: "Tensor" in str(a.type) for a in op._schema.arguments}
    return all(of_tensors.get(name, False) or not tensors_in(value) for name, value in bind(op, args, kwargs).items())


def opinfo_calls(op, infos):
    name = op._schema.name.split("::")[1]
    base = name[:-1] if name.endswith("_") and not name.endswith("__") else name
    for info in infos.get(base, []):
        dtypes = [d for d in (torch.float32, torch.int64, torch.bool, torch.complex64) if d in info.dtypes]
        for dtype in dtypes[:2]:
            try:
                for k, sample in enumerate(info.sample_inputs("cpu", dtype)):
                    if k >= 8:
                        break
                    yield (sample.input, *sample.args), dict(sample.kwargs)
            except Exception:  # noqa: BLE001  some samples need a device or a library
                continue


class Guess:
    """Random arguments by type."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.shape = self.r.choice([(2, 3), (4,), (3, 3), (2, 3, 4), (1, 2, 4, 4), (), (4, 4)])
        self.dtype = self.r.choice([torch.float32] * 4 + [torch.int64, torch.bool, torch.complex64])

    def tensor(self, name):
        shape = self.shape
        if self.r.random() < 0.25:
            shape = self.r.choice([(2, 3), (3,), (4,), (2, 3, 4), (), (1,), (1, 2, 4, 4)])
        if name in ("indices", "index", "target", "offsets") and self.r.random() < 0.8:
            return torch.randint(0, 2, shape)
        if name in ("mask", "condition", "found_inf") and self.r.random() < 0.8:
            return torch.rand(shape) > 0.5
        if name in ("weight", "bias", "running_mean", "running_var", "mean", "var", "invstd", "save_mean", "save_invstd"):
            channels = self.shape[1] if len(self.shape) > 1 else 3
            return torch.rand(channels) + 0.1
        if self.dtype == torch.bool:
            return torch.rand(shape) > 0.5
        if self.dtype == torch.int64:
            return torch.randint(0, 3, shape)
        return torch.rand(shape, dtype=self.dtype) + 0.1

    def of(self, argument):
        kind = str(argument.real_type)
        name = argument.name
        if kind.startswith("Optional["):
            if self.r.random() < 0.4:
                return None
            kind = kind[len("Optional[") : -1]
        if kind.startswith("List["):
            inner = kind[len("List[") : -1]
            if inner in ("int", "SymInt"):
                if name in ("size", "shape", "output_size") and self.r.random() < 0.7:
                    return list(self.shape)
                return [self.r.choice([0, 1, 1, 2]) for _ in range(argument.N or self.r.randint(1, max(len(self.shape), 1)))]
            if inner == "float":
                return [1.0] * (argument.N or 2)
            if inner == "bool":
                return [True] * (argument.N or 2)
            return [self.simple(inner, name) for _ in range(argument.N or 2)]
        return self.simple(kind, name)

    def simple(self, kind, name):
        if kind.startswith("Optional["):
            kind = kind[len("Optional[") : -1]
        if kind == "Tensor":
            return self.tensor(name)
        if kind in ("int", "SymInt", "number", "Scalar"):
            return self.r.choice([0, 1, 1, 2, 3]) if not name.startswith("dim") else self.r.choice([0, 0, 1, -1])
        if kind in ("float",):
            return self.r.choice([0.0, 0.5, 0.25, 1.0])
        if kind == "bool":
            return self.r.random() < 0.5
        if kind == "str":
            return {"equation": "ij->ji", "reduce": "sum", "indexing": "ij", "approximate": "none", "mode": "constant"}.get(name, "none")
        if kind == "ScalarType":
            return self.r.choice([torch.float32, torch.int64, self.dtype])
        if kind == "Device":
            return torch.device("cpu")
        if kind == "Layout":
            return torch.strided
        if kind == "MemoryFormat":
            return torch.contiguous_format
        if kind == "Generator":
            return torch.default_generator
        raise NotImplementedError(kind)


def guessed_call(op, seed):
    guess = Guess(seed)
    args, kwargs = [], {}
    for a in op._schema.arguments:
        if a.has_default_value() and guess.r.random() < 0.7 and str(a.type) != "Tensor":
            continue
        value = guess.of(a)
        if a.kwarg_only or len(args) < [b.name for b in op._schema.arguments].index(a.name):
            kwargs[a.name] = value
        else:
            args.append(value)
    return tuple(args), kwargs


def outs_for(op, args, kwargs):
    """Fills the missing out= arguments with tensors that have the result's shape."""
    missing = [a for a in op._schema.arguments if a.kwarg_only and a.alias_info and a.alias_info.is_write and a.name not in kwargs]
    if not missing:
        return kwargs
    packet = operator_packet(op)
    with torch.no_grad():
        results = packet(*args, **{k: v for k, v in kwargs.items()})
    results = list(results) if isinstance(results, (tuple, list)) else [results]
    if str(missing[0].type).startswith("List"):
        return {**kwargs, missing[0].name: [torch.full_like(r, 1) for r in results]}
    return {**kwargs, **{a.name: torch.full_like(r, 1) for a, r in zip(missing, results)}}


def operator_packet(op):
    namespace, name = op._schema.name.split("::")
    return getattr(getattr(torch.ops, namespace), name)


# --- one call ---


def tensors_in(value):
    return [t for t in torch.utils._pytree.tree_leaves(value) if isinstance(t, torch.Tensor)]


def copied(value):
    """The same arguments over storages of their own (an argument keeps its strides)."""
    def copy(t):
        if not isinstance(t, torch.Tensor):
            return t
        t = t.detach()
        if t.layout != torch.strided:
            return t.clone()
        storage = t.untyped_storage().clone()
        return torch.empty(0, dtype=t.dtype).set_(storage, t.storage_offset(), t.shape, t.stride())
    return torch.utils._pytree.tree_map(copy, value)


def same(a, b):
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.layout != torch.strided or b.layout != torch.strided:
        return a.layout == b.layout
    a, b = a.detach().resolve_conj().resolve_neg().contiguous(), b.detach().resolve_conj().resolve_neg().contiguous()
    return a.numel() == 0 or torch.equal(a.reshape(-1).view(torch.uint8), b.reshape(-1).view(torch.uint8))


def alike(a, b):
    """The same up to rounding: where a storage lies decides how a kernel vectorises."""
    return same(a, b) or a.shape == b.shape and a.dtype == b.dtype and (a.is_floating_point() or a.is_complex()) and \
        a.layout == torch.strided and torch.allclose(a, b, rtol=1e-4, atol=1e-6, equal_nan=True)


def storage(t):
    return t.untyped_storage()._cdata if t.layout == torch.strided else id(t)


def cells(t):
    """All bytes of the storage of a tensor, whatever its geometry."""
    return torch.empty(0, dtype=torch.uint8).set_(t.untyped_storage().clone()) if t.layout == torch.strided else None


def bind(op, args, kwargs):
    """name -> value, arguments by position included."""
    names = [a.name for a in op._schema.arguments]
    return {**dict(zip(names, args)), **kwargs}


def rule_of(row, bound, op):
    defaults = {a.name: a.default_value for a in op._schema.arguments if a.has_default_value()}
    holding = 0
    for bit, alternatives in enumerate(row["conditions"]):
        for c in alternatives:
            value = bound.get(c["argument"], defaults.get(c["argument"]))
            known = isinstance(value, (bool, int, float))
            if float(value) == c["value"] if known else not c["must_be_known"]:
                holding |= 1 << bit
    return row["rules"][holding]


class Call:
    """Runs an operator on fresh copies and keeps what there was to see."""

    def __init__(self, op, args, kwargs, change=()):
        args, kwargs = copied((args, kwargs))
        self.bound = bind(op, args, kwargs)
        for name in change:
            for t in tensors_in(self.bound.get(name)):
                with torch.no_grad():
                    t.logical_not_() if t.dtype == torch.bool else t.add_(1)
        self.inputs = [(name, t) for name, value in self.bound.items() for t in tensors_in(value)]
        self.before = [(t.detach().clone(), t._version, storage(t), cells(t)) for _, t in self.inputs]
        torch.manual_seed(0)
        with torch.no_grad():
            result = op(*args, **kwargs)
        # A tuple of returns, or one return that may be a list.
        many = len(op._schema.returns) > 1
        self.returns = [tensors_in(r) for r in result] if many else [tensors_in(result)]
        self.no_tensor = [not str(r.type).endswith("Tensor") and "Tensor" not in str(r.type) for r in op._schema.returns]

    def state(self):
        return [t for r in self.returns for t in r]


def compare(row, op, args, kwargs, guessed):
    """The lies that one call shows, and what it shows of claims that are too strong."""
    call = Call(op, args, kwargs)
    rule = rule_of(row, call.bound, op)
    lies, notes = set(), set()
    traits = set(rule["traits"])
    if "opaque" in traits or "refused" in traits:
        return lies, {"opaque"}
    for (name, t), (content, version, store, kept) in zip(call.inputs, call.before):
        wrote = t._version != version or (t.shape == content.shape and storage(t) == store and not same(t, content))
        if "rebinds" in traits:
            wrote = storage(t) == store and kept is not None and not torch.equal(kept, cells(t))
        if wrote and name not in rule["writes"]:
            lies.add(f"writes {name}")
        if not wrote and name in rule["writes"]:
            notes.add(f"did not write {name}")
    if "rebinds" not in traits and any(t.shape != content.shape for (name, t), (content, *_) in zip(call.inputs, call.before)
                                       if name in rule["writes"]):
        return lies, notes | {"resized an argument"}  # such a program is refused, so no effect speaks of it
    for effect, tensors in zip(rule["results"], call.returns):
        for t in tensors:
            owners = {name for (name, i), (_, _, store, _) in zip(call.inputs, call.before) if storage(t) in (storage(i), store) and i.layout == torch.strided}
            if owners and (effect["kind"] in ("fresh", "none") or not owners & set(effect["of"])):
                lies.add(f"result ({effect['kind']}) shares the storage of {'/'.join(sorted(owners))}")
            if not owners and effect["kind"] in ("same", "alias") and t.numel() > 0:
                lies.add(f"result ({effect['kind']}) has a storage of its own")
            if owners and effect["kind"] == "fresh":
                notes.add("alias")
    if len(call.returns) == 1 and not rule["results"] and call.returns[0]:
        lies.add("returns a tensor")
    first = call.state()
    firsts = [t.clone() for t in first]
    written = {n for n in rule["writes"]}
    final = {n: [t.clone() for t in tensors_in(call.bound.get(n))] for n in written}
    again = Call(op, args, kwargs)
    uncertain = "uninitialized" in traits
    if "random" not in traits and not uncertain and generator_moved(op, args, kwargs):
        lies.add("draws random numbers")
    if not all(alike(a, b) for a, b in zip(firsts, again.state())) and not uncertain:
        return (lies, notes | {"unsteady"}) if guessed else (lies | {"two seeded calls differ"}, notes)
    views = {n for r in rule["results"] for n in r["of"] if r["kind"] in ("same", "alias")}
    for name in {n for n, _ in call.inputs}:
        claimed = name in rule["reads"]
        if name in views and name not in written:
            continue
        try:
            changed = Call(op, args, kwargs, change=[name])
        except Exception:  # noqa: BLE001  the changed argument is not accepted
            continue
        depends = not all(alike(a, b) for a, b in zip(firsts, changed.state()))
        for n in written:
            depends = depends or not all(alike(a, b) for a, b in zip(final[n], tensors_in(changed.bound.get(n))))
        if depends and not claimed and not uncertain:
            lies.add(f"reads {name}")
        if depends and claimed:
            notes.add(f"read {name}")
        if not depends and claimed:
            notes.add(f"did not read {name}")
    return lies, notes


def generator_moved(op, args, kwargs):
    torch.manual_seed(0)
    before = torch.get_rng_state()
    args, kwargs = copied((args, kwargs))
    with torch.no_grad():
        op(*args, **kwargs)
    return not torch.equal(before, torch.get_rng_state())


# --- all operators ---


def calls_for(op, infos):
    """Functions that make the arguments of a call, each with whether they are guessed."""
    for args, kwargs in opinfo_calls(op, infos):
        if is_declared(op, args, kwargs):
            yield functools.partial(tuple, (args, kwargs)), False
    for seed in range(TRIES):
        yield functools.partial(guessed_call, op, seed), True


def why_not(error):
    """The kind of reason for which a call was not made."""
    said = str(error)
    if isinstance(error, NotImplementedError) and said.isidentifier():
        return "takes what is not drawn here"
    if "Could not run" in said or "not implemented" in said.lower() or "not supported" in said or "not compiled" in said:
        return "has no kernel here"
    return "accepts none of the arguments drawn"


def judge(row, infos):
    try:
        op = operator(row["op"])
    except AttributeError:
        return {"op": row["op"], "calls": 0, "lies": {}, "notes": {}, "why": "is not registered in this torch"}
    accepted, lies, notes, refusals = 0, collections.Counter(), collections.Counter(), collections.Counter()
    enough = 2 * ENOUGH if opinfo_has(op, infos) else ENOUGH
    for arguments, guessed in calls_for(op, infos):
        if accepted >= enough:
            break
        try:
            args, kwargs = arguments()
            if sum(t.numel() for t in tensors_in((args, kwargs))) > 100_000:
                continue
            found, noted = compare(row, op, args, outs_for(op, args, kwargs), guessed)
        except Exception as e:  # noqa: BLE001  torch does not accept these arguments
            refusals[why_not(e)] += 1
            continue
        accepted += 1
        lies.update(found)
        notes.update(noted)
    why = None if accepted else (refusals.most_common(1) or [("accepts none of the arguments drawn", 0)])[0][0]
    return {"op": row["op"], "calls": accepted, "lies": dict(lies), "notes": dict(notes), "why": why}


def opinfo_has(op, infos):
    return op._schema.name.split("::")[1].rstrip("_") in infos


def work(rows, infos, start, sender):
    """Sends without a thread between, so that no verdict is lost where the next operator ends the process."""
    faulthandler.disable()  # a crash is an answer
    for i in range(start, len(rows)):
        sender.send(("done", judge(rows[i], infos)))
    sender.send(("end",))


def next_message(receiver, seconds):
    """None where the child is gone or gives no sign for so long."""
    try:
        return receiver.recv() if receiver.poll(seconds) else None
    except EOFError:
        return None


def run(rows, seconds_an_operator=40):
    """The verdicts as they come, by a child that is started again behind an operator that ends it or never returns."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    register()
    infos = samples_of_opinfo()
    fork = multiprocessing.get_context("fork")
    start = 0
    while start < len(rows):
        receiver, sender = fork.Pipe(duplex=False)
        child = fork.Process(target=work, args=(rows, infos, start, sender))
        child.start()
        sender.close()  # so that the end of the child is seen
        while (message := next_message(receiver, seconds_an_operator)) and message[0] == "done":
            yield message[1]
            start += 1
        if message is None:
            child.join(1)
            why = "does not return" if child.is_alive() else "crashes on an argument drawn"
            yield {"op": rows[start]["op"], "calls": 0, "lies": {}, "notes": {}, "why": why}
            start += 1
        child.kill()
        child.join()


def is_testable(row):
    return "Tensor" in row["schema"] and not any(part in row["op"].split("::")[1] for part in SKIPPED_PARTS)


def effects(path):
    if path:
        with open(path) as f:
            return json.load(f)
    from writeback_executorch import tool

    return json.loads(tool.run(["effects"]))


def summary(rows, verdicts):
    called = [v for v in verdicts if v["calls"]]
    return {"schemas": len(rows), "asked": len(verdicts), "compared": len(called), "calls": sum(v["calls"] for v in called),
            "not compared": dict(collections.Counter(v["why"] for v in verdicts if not v["calls"])),
            "no tensors, or another backend's": sum(not is_testable(r) for r in rows),
            "lies": {v["op"]: v["lies"] for v in called if v["lies"]}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--effects", help="the JSON of `writeback effects` (default: ask the program)")
    parser.add_argument("--only", help="operators whose name begins so")
    parser.add_argument("--report", help="every verdict as a line of JSON, written as it comes")
    options = parser.parse_args()
    rows = [r for r in effects(options.effects) if not options.only or r["op"].startswith(options.only)]
    report = open(options.report, "w") if options.report else None
    verdicts = []
    for verdict in run(sorted(filter(is_testable, rows), key=lambda r: "out" in r["op"].rpartition(".")[2])):
        verdicts.append(verdict)
        if report:
            print(json.dumps(verdict), file=report, flush=True)
    result = summary(rows, verdicts)
    print(json.dumps(result, indent=1))
    return 1 if result["lies"] else 0


if __name__ == "__main__":
    sys.exit(main())
