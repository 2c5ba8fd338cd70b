"""Measures what the installed ExecuTorch (1.4.1) plans for the models, and writes executorch/NAME.json.

    PYTHONPATH=impl/python python tests/impl/plan/measure_executorch.py [NAME ...]     (all models; `writeback` must be found)

Each file holds the edge program as printed, and for three ways to place the copies the bufsizes and each storage that was planned, in
the planner's order: name, bytes, first and last step, offset.
    (top level)   ExecuTorch's own pass
    early         our placement in that pass's place, nothing else changed
    corrected     the same, with lifetimes and the output node's specs put right (writeback_executorch/early.py)
`early` has a text of its own where a mutated parameter becomes a buffer first.
"""

import copy
import json
import logging
import pathlib
import re
import sys
import warnings

from writeback_executorch import early, endtoend

HERE = pathlib.Path(__file__).parent
MODELS = HERE.parents[1] / "models"
UNCHANGED = {"correct_specs": False, "correct_lifetimes": False, "forward": False, "coalesce": False}
CORRECTED = {"forward": False, "coalesce": False}


def planned(edge, choice):
    _, planning, _ = early.executorch_modules()
    exported = endtoend.lower(edge, choice)[0].exported_program()
    nodes, names = exported.graph_module.graph.nodes, {}
    for node in nodes:
        for spec in planning.get_node_tensor_specs(node):
            names.setdefault(id(spec), node.name)
    specs = planning.collect_specs_from_nodes(nodes, exported.graph_signature, do_assertion=False, ignore_const=False)
    return {"bufsizes": exported.graph_module.meta["non_const_buffer_sizes"],
            "specs": [[names[id(s)], s.allocated_memory, *s.lifetime, s.mem_offset] for s in specs if s.mem_offset is not None]}


def without_parameters(edge):
    exported = copy.deepcopy(edge).exported_program()
    early.parameters_to_buffers(exported)
    return exported


def measured(name):
    edge = endtoend.to_edge_manager(endtoend.load(MODELS / f"{name}.pt2"))
    text, early_text = str(edge.exported_program()), str(without_parameters(edge))
    own_text = {"edge_text": early_text} if early_text != text else {}
    return {"name": name, "edge_text": text, **planned(edge, None), "early": {**own_text, **planned(edge, UNCHANGED)},
            "corrected": planned(edge, CORRECTED)}


def main():
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    for name in sys.argv[1:] or sorted(p.stem for p in MODELS.glob("*.edge.txt")):
        name = name.split(".")[0]
        try:
            text = json.dumps(measured(name), indent=1)
        except early.BridgeError as e:
            print(f"{name}: {e}", file=sys.stderr)
            continue
        in_a_line = re.sub(r"\[\s+([^\[\]{}]*?)\s+\]", lambda m: "[" + re.sub(r",\s+", ", ", m[1]) + "]", text)
        (HERE / "executorch" / f"{name}.json").write_text(in_a_line + "\n")


if __name__ == "__main__":
    main()
