"""Writes aten_schemas.txt: the schemas of every operator of the namespaces that writeback trusts, one a line, sorted, as the
installed torch and executorch register them. The first line names their versions. Behind a schema stand those of its tags that
say something of its effect.

    python ref/graph/data/make_table.py > ref/graph/data/aten_schemas.txt
"""

import importlib.metadata

import torch
import executorch.exir  # noqa: F401  registers dim_order_ops
import executorch.exir.passes._quant_patterns_and_replacements  # noqa: F401  registers quantized_decomposed

NAMESPACES = ("aten", "prims", "dim_order_ops", "quantized_decomposed")
TAGS = ("inplace_view", "maybe_aliasing_or_mutating", "nondeterministic_seeded", "view_copy")


def tags_of(schema):
    namespace, name = schema.name.split("::")
    overload = getattr(getattr(getattr(torch.ops, namespace), name), schema.overload_name or "default")
    return [tag for tag in TAGS if getattr(torch.Tag, tag) in overload.tags]


def row(schema):
    tags = tags_of(schema)
    return f"{schema}  # {' '.join(tags)}" if tags else str(schema)


def main():
    schemas = [s for s in torch._C._jit_get_all_schemas() if s.name.split("::")[0] in NAMESPACES]
    torch_version = torch.__version__.split("+")[0]
    print(f"# torch {torch_version}, executorch {importlib.metadata.version('executorch')}: {len(schemas)} schemas")
    print("\n".join(sorted(map(row, schemas))))


if __name__ == "__main__":
    main()
