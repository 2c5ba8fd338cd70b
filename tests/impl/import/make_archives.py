"""Makes the archives in archives/: what torch 2.13 writes, and the same programs as older writers laid them out.

    python make_archives.py            (torch 2.13 and executorch 1.4 installed)

The old layouts are made from their description: torch 2.7 (`flat_8_7`), 2.8 (`folder_8_10`), 2.3 (`flat_2`: unions with all keys,
integer version). The files are kept, as the old versions cannot be installed beside a new one.
"""

import copy
import io
import json
import pathlib
import zipfile

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

OUT = pathlib.Path(__file__).parent / "archives"

UNION_TAGS = {
    "argument": "as_none as_tensor as_tensors as_int as_ints as_float as_floats as_string as_strings as_sym_int as_sym_ints "
    "as_scalar_type as_memory_format as_layout as_device as_bool as_bools as_sym_bool as_sym_bools as_graph as_optional_tensors "
    "as_custom_obj as_operator".split(),
    "sym": ["as_expr", "as_int"],
    "input": "user_input parameter buffer tensor_constant custom_obj".split(),
    "output": "user_output loss_output buffer_mutation gradient_to_parameter gradient_to_user_input user_input_mutation".split(),
}


class TwoViews(torch.nn.Module):
    """Two buffers that overlap in one storage, and a third that does not."""

    def __init__(self):
        super().__init__()
        base = torch.arange(8.0)
        self.register_buffer("whole", base)
        self.register_buffer("part", base[2:6])
        self.register_buffer("apart", torch.zeros(4))

    def forward(self, x):
        y = self.part.add_(x)
        self.apart.copy_(y)
        return self.whole.sum() + y.sum()


class TwoTables(torch.nn.Module):
    """A persistent and a transient buffer of one size, which an archive keeps apart."""

    def __init__(self):
        super().__init__()
        self.register_buffer("kept", torch.zeros(4))
        self.register_buffer("transient", torch.zeros(4), persistent=False)

    def forward(self, x):
        return self.kept.add_(x) + self.transient.mul_(x)


class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.count.add_(1)
        low, high = torch.split(x, 2)
        return low * self.count, torch.topk(high, 1)[0]


def anonymous(program):
    """The program without what tells of the machine that made it."""
    for node in program.graph.nodes:
        for key in ("stack_trace", "from_node", "nn_module_stack"):
            node.meta.pop(key, None)
    return program


def saved(program):
    stream = io.BytesIO()
    torch.export.save(program, stream)
    return zipfile.ZipFile(stream)


def program_json(archive):
    (name,) = [n for n in archive.namelist() if "/models/" in n]
    return json.loads(archive.read(name))


def torch_saved(value):
    stream = io.BytesIO()
    torch.save(value, stream)
    return stream.getvalue()


def pack(name, entries, method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(OUT / name, "w", method) as archive:
        for entry, data in entries.items():
            archive.writestr(zipfile.ZipInfo(entry, (1980, 1, 1, 0, 0, 0)), data, method)


def older(program, minor):
    """The JSON as a writer of schema 8.`minor` without node names."""
    program = copy.deepcopy(program)
    program["schema_version"] = {"major": 8, "minor": minor}
    program.pop("guards_code", None)
    for node in program["graph_module"]["graph"]["nodes"]:
        node.pop("name", None)
    return program


def with_all_keys(value, tags):
    (tag,) = value
    return {t: value.get(t) for t in tags} | ({} if tag in tags else value)


def oldest(program):
    """The JSON as torch 2.3 wrote it: integer version, all keys of each union, plain integers as offsets and hints."""
    program = older(program, 0)
    program["schema_version"] = 2
    program["dialect"] = "ATEN"
    del program["verifiers"]
    argument = lambda a: with_all_keys(a, UNION_TAGS["argument"])
    graph = program["graph_module"]["graph"]
    graph["inputs"] = [argument(a) for a in graph["inputs"]]
    graph["outputs"] = [argument(a) for a in graph["outputs"]]
    for node in graph["nodes"]:
        node["outputs"] = [argument(a) for a in node["outputs"]]
        node.pop("is_hop_single_tensor_return", None)
        for named in node["inputs"]:
            named.pop("kind", None)
            named["arg"] = argument(named["arg"])
    for meta in graph["tensor_values"].values():
        meta["sizes"] = [with_all_keys(s, UNION_TAGS["sym"]) for s in meta["sizes"]]
        meta["strides"] = [with_all_keys(s, UNION_TAGS["sym"]) for s in meta["strides"]]
        meta["storage_offset"] = 0
    signature = program["graph_module"]["signature"]
    for kind in ("input", "output"):
        specs = signature[f"{kind}_specs"]
        for spec in specs:
            (body,) = spec.values()
            if "as_tensor" in body["arg"]:
                body["arg"] = argument(body["arg"])
        signature[f"{kind}_specs"] = [with_all_keys(s, UNION_TAGS[kind]) for s in specs]
    return program


def main():
    OUT.mkdir(exist_ok=True)
    module = TwoViews()
    program = anonymous(torch.export.export(module, (torch.ones(4),)))
    archive = saved(program)
    state = dict(module.state_dict())
    new = program_json(archive)
    inside = {n.split("/", 1)[1]: archive.read(n) for n in archive.namelist()}

    pack("folder_8_20.pt2", {f"two_views/{n}": d for n, d in inside.items()})
    pack("deflated.pt2", {f"two_views/{n}": d for n, d in inside.items()}, zipfile.ZIP_DEFLATED)
    pack("repacked.pt2", {"./": b"", "./two_views/": b""} | {f"./two_views/{n}": d for n, d in reversed(list(inside.items()))})
    with FakeTensorMode():
        fake = anonymous(torch.export.export(TwoViews(), (torch.ones(4),)))
    torch.export.save(fake, OUT / "no_bytes.pt2")
    torch.export.save(anonymous(torch.export.export(TwoTables(), (torch.ones(4),))), OUT / "two_tables.pt2")
    pack("aotinductor_only.pt2", {"code/archive_format": "pt2", "code/archive_version": "0", "code/data/aotinductor/model/m.so": "ELF"})
    pack(
        "folder_8_10.pt2",
        {
            "two_views/archive_format": "pt2",
            "two_views/models/model.json": json.dumps(older(new, 10)),
            "two_views/archive_version": "0",
            "two_views/byteorder": "little",
            "two_views/data/weights/model.pt": torch_saved(state),
            "two_views/data/constants/model.pt": torch_saved({}),
        },
    )
    flat = {
        "serialized_exported_program.json": json.dumps(older(new, 7)),
        "serialized_state_dict.pt": torch_saved(state),
        "serialized_constants.pt": torch_saved({}),
        "serialized_example_inputs.pt": b"",
        "version": "8.7",
    }
    pack("flat_8_7.pt2", flat)
    pack("flat_8_7_deflated.pt2", flat, zipfile.ZIP_DEFLATED)
    pack("flat_8_7_odd_pickle.pt2", flat | {"serialized_state_dict.pt": torch_saved({"part": torch.device("cpu"), "apart": 1})})

    counter = anonymous(torch.export.export(Counter(), (torch.ones(4),)).run_decompositions())
    (OUT / "counter.json").write_text(json.dumps(program_json(saved(counter))))
    (OUT / "counter_8_10.json").write_text(json.dumps(older(program_json(saved(counter)), 10)))
    pack(
        "flat_2.pt2",
        {
            "serialized_exported_program.json": json.dumps(oldest(program_json(saved(counter)))),
            "serialized_state_dict.json": torch_saved(dict(Counter().state_dict())),
            "serialized_constants.json": torch_saved({}),
            "version": "2",
        },
    )
    from torch.export.pt2_archive._package import package_pt2

    package_pt2(OUT / "two_models.pt2", exported_programs={"first": program, "second": counter})

    from executorch.exir import to_edge
    from executorch.exir.serde.serialize import serialize

    edge = anonymous(to_edge(torch.export.export(Counter(), (torch.ones(4),))).exported_program())
    (OUT / "executorch_5_4.json").write_bytes(serialize(edge).exported_program)
    (OUT / "executorch_5_4.txt").write_text(str(edge))


if __name__ == "__main__":
    main()
