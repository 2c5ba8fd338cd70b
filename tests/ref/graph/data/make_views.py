"""Writes views.txt: view ops called in PyTorch with random arguments, and the geometry of what came out.

    python tests/ref/graph/data/make_views.py > tests/ref/graph/data/views.txt

(A number as argument asks for so many rounds instead of 50.) A line is `base | sizes of o | call | results`: geometries are offset;sizes;strides, results `error` where torch raises and `copy`
where the result has a storage of its own. `x` is the base, `o` another tensor.
"""

import random
import sys

import torch

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 50
STORAGE = torch.arange(4096, dtype=torch.float32)
BIG = 9223372036854775807
R = random.Random(20744)


def join(numbers):
    return ",".join(map(str, numbers))


def geometry(t):
    return f"{t.storage_offset()};{join(t.shape)};{join(t.stride())}"


def base():
    rank = R.choice([0, 1, 1, 2, 2, 2, 3, 3, 4])
    sizes = [R.choice([0, 1, 1, 2, 2, 3, 3, 4]) if R.random() < 0.9 else R.randint(1, 6) for _ in range(rank)]
    kind = R.choice(["contiguous", "contiguous", "permuted", "sliced", "expanded", "strided"])
    t = STORAGE.as_strided(sizes, torch.empty(sizes).stride(), R.choice([0, 0, 1, 5]))
    if kind == "permuted":
        order = list(range(rank))
        R.shuffle(order)
        t = t.permute(order)
    elif kind == "sliced" and rank:
        wide = [s * 2 for s in sizes]
        t = STORAGE.as_strided(wide, torch.empty(wide).stride(), 3)
        for d in range(rank):
            t = t.narrow(d, 0, sizes[d]) if R.random() < 0.5 else torch.ops.aten.slice.Tensor(t, d, 0, wide[d], 2)
    elif kind == "expanded" and rank:
        d = R.randrange(rank)
        t = t.narrow(d, 0, min(1, t.shape[d])).expand(sizes) if t.numel() else t
    elif kind == "strided":
        t = STORAGE.as_strided(sizes, [R.randint(0, 7) for _ in sizes], R.randint(0, 9))
    return t


def dim(t, extra=0):
    n = max(t.dim() + extra, 1)
    return R.randint(-n, n - 1) if R.random() < 0.95 else R.choice([n, -n - 1])


def dims(t):
    chosen = R.sample(range(t.dim()), R.randint(0, t.dim()))
    return [d - t.dim() if R.random() < 0.3 else d for d in chosen]


def size_of(t, d):
    return t.shape[d] if -t.dim() <= d < t.dim() else 1


def factors(n):
    """Sizes whose product is n, sometimes with a -1, seldom wrong."""
    sizes = []
    rest = n
    while rest > 1 and len(sizes) < 4:
        divisors = [k for k in range(1, rest + 1) if rest % k == 0]
        sizes.append(R.choice(divisors))
        rest //= sizes[-1]
    sizes.append(rest)
    if R.random() < 0.3:
        sizes.insert(R.randint(0, len(sizes)), 1)
    R.shuffle(sizes)
    if R.random() < 0.3:
        sizes[R.randrange(len(sizes))] = -1
    if R.random() < 0.05:
        sizes[R.randrange(len(sizes))] += 1
    return sizes


def index(n):
    return R.choice([R.randint(-n - 1, n + 1), 0, R.randint(-2 * n - 3, 2 * n + 3), BIG, -BIG - 1])


def broadcastable(t):
    sizes = [s if s != 1 or R.random() < 0.5 else R.randint(0, 4) for s in t.shape]
    sizes = [R.randint(0, 3) for _ in range(R.randint(0, 2))] + sizes
    if R.random() < 0.05 and sizes:
        sizes[R.randrange(len(sizes))] += 1
    return sizes


def other_shape(t):
    kind = R.random()
    if kind < 0.4:
        return broadcastable(t)
    return [abs(s) for s in factors(t.numel())]


def calls(t):
    """One random argument text for every op: name -> text behind x."""
    d, e = dim(t), dim(t)
    n = size_of(t, d)
    moved = dims(t)
    places = R.sample(range(max(t.dim(), 1)), len(moved)) if moved else []
    order = list(range(t.dim()))
    R.shuffle(order)
    cuts = [R.randint(-n - 1, n + 2) for _ in range(R.randint(0, 3))]
    parts = []
    rest = n
    while rest > 0:
        parts.append(R.randint(0, rest))
        rest -= parts[-1]
    if R.random() < 0.1:
        parts.append(1)
    some = [R.randint(0, 3) for _ in range(R.randint(0, 3))]
    rows = {
        "view.default": factors(t.numel()), "reshape.default": factors(t.numel()), "_unsafe_view.default": factors(t.numel()),
        "select.int": (d, R.randint(-n - 1, n)), "slice.Tensor": (d, R.choice([None, index(n)]), R.choice([None, index(n)]), R.choice([1, 1, 2, 3, 7, 0])),
        "narrow.default": (d, R.randint(-n, n), R.randint(0, n)), "transpose.int": (d, e), "swapaxes.default": (d, e), "swapdims.default": (d, e),
        "transpose_.default": (d, e), "permute.default": [o - t.dim() if R.random() < 0.3 else o for o in order], "t.default": (), "t_.default": (), "numpy_T.default": (), "mT.default": (),
        "mH.default": (), "adjoint.default": (), "matrix_H.default": (), "movedim.int": (d, e), "movedim.intlist": (moved, places), "moveaxis.int": (d, e),
        "expand.default": [-1 if R.random() < 0.2 and i else s for i, s in enumerate(broadcastable(t))], "broadcast_to.default": broadcastable(t),
        "unsqueeze.default": (dim(t, 1),), "unsqueeze_.default": (dim(t, 1),), "squeeze.default": (), "squeeze.dim": (d,), "squeeze.dims": (moved,), "squeeze_.dim": (d,),
        "squeeze_.default": (), "squeeze_.dims": (moved,), "as_strided.default": (some, [R.randint(0, 5) for _ in some], R.choice([None, R.randint(0, 9)])),
        "diagonal.default": (R.randint(-3, 3), d, e), "unfold.default": (d, R.randint(0, n + 1), R.randint(1, 3)),
        "split.Tensor": (R.randint(0, n + 1), d), "split.sizes": (parts, d), "split_with_sizes.default": (parts, d), "chunk.default": (R.randint(1, 5), d),
        "unsafe_split.Tensor": (R.randint(0, n + 1), d), "unsafe_chunk.default": (R.randint(1, 5), d), "unsafe_split_with_sizes.default": (parts, d),
        "tensor_split.sections": (R.randint(1, 5), d), "tensor_split.indices": (cuts, d), "hsplit.int": (R.randint(1, 3),), "hsplit.array": (cuts,),
        "vsplit.int": (R.randint(1, 3),), "vsplit.array": (cuts,), "dsplit.int": (R.randint(1, 3),), "dsplit.array": (cuts,), "unbind.int": (d,),
        "flatten.using_ints": (d, e), "unflatten.int": (d, factors(n)), "ravel.default": (), "contiguous.default": (), "alias.default": (), "detach.default": (),
        "atleast_1d.default": (), "atleast_2d.default": (), "atleast_3d.default": (), "lift_fresh.default": (), "conj.default": (), "resolve_conj.default": (),
        "positive.default": (), "sum_to_size.default": list(t.shape) if R.random() < 0.7 else broadcastable(t),
        "swapaxes_.default": (d, e), "as_strided_.default": (some, [R.randint(0, 5) for _ in some], R.choice([None, R.randint(0, 9)])),
        "_reshape_alias.default": (some, [R.randint(0, 5) for _ in some]),
    }
    for name, arguments in rows.items():
        if isinstance(arguments, list):
            arguments = (arguments,)
        yield name, "x" + "".join(f", {a}" for a in arguments)
    yield "linalg_diagonal.default", f"x, offset = {R.randint(-3, 3)}, dim1 = {d}, dim2 = {e}"
    yield "slice.Tensor", f"x, {d}, end = {BIG}, step = 2"
    yield "prims.transpose.default", f"x, {[o % max(t.dim(), 1) for o in order]}"
    yield "prims.squeeze.default", f"x, {[i for i in range(t.dim()) if t.shape[i] == 1 and R.random() < 0.7]}"
    if t.dim():
        start = R.randrange(t.dim())
        yield "prims.collapse_view.default", f"x, {start}, {R.randrange(start, t.dim())}"
        yield "prims.split_dim.default", f"x, {R.randrange(t.dim())}, {R.randint(1, 4)}"
    wide = broadcastable(t)
    yield "prims.broadcast_in_dim.default", f"x, {wide}, {list(range(len(wide) - t.dim(), len(wide)))}"
    yield "expand_as.default", "x, o"
    yield "view_as.default", "x, o"
    yield "reshape_as.default", "x, o"
    yield "broadcast_tensors.default", "[x, o]"
    if t.dim() <= 1:
        yield "meshgrid.default", "[x, o]"
        yield "meshgrid.indexing", "[x, o], indexing = 'xy'"
        yield "meshgrid.indexing", "[o, x], indexing = 'ij'"


def result_text(t, result):
    if isinstance(result, (tuple, list)):
        return " ".join(result_text(t, r) for r in result) or "empty"
    shared = result.untyped_storage().data_ptr() == t.untyped_storage().data_ptr()
    return geometry(result) if shared else "copy"


def run(t, name, text):
    namespace, op, overload = name.split(".") if name.startswith("prims.") else ("aten", *name.split("."))
    x = t.as_strided(t.shape, t.stride(), t.storage_offset())
    o = torch.empty(other_shape(t) if not op.startswith("meshgrid") else [R.randint(0, 3)])
    before = geometry(x)
    scope = {"x": x, "o": o, "f": getattr(getattr(getattr(torch.ops, namespace), op), overload)}
    try:
        result = eval(f"f({text})", scope)
        results = result_text(t, result)
    except (RuntimeError, IndexError, ValueError, AssertionError, TypeError):
        results = "error"
    print(f"{before} | {join(o.shape)} | {namespace}.{op}.{overload}({text}) | {results}")


def main():
    print(f"# torch {torch.__version__.split('+')[0]}")
    for _ in range(ROUNDS):
        t = base()
        for name, text in calls(t):
            run(t, name, text)


if __name__ == "__main__":
    main()
