#!/usr/bin/env python3
"""A write-back pass outside of writeback, to copy from: writeback fuzz --impl 'cmd:python3 fuzz/sample_implementation.py'

One request a line on stdin, one reply a line on stdout (fuzz/outside.h has the protocol). This one does what ExecuTorch does: all
copies at the end of the graph in output order. The campaign finds what that clobbers.
"""
import json
import sys

KINDS = {"buffer_mutation": "buffer_name", "parameter_mutation": "parameter_name", "user_input_mutation": "user_input_name"}


def targets(signature):
    """Placeholder names by (kind of input, name in the signature)."""
    names = {}
    for spec in signature["input_specs"]:
        for kind in ("buffer", "parameter"):
            if kind in spec:
                names[kind, spec[kind][kind + "_name"]] = spec[kind]["arg"]["name"]
    return names


def place(program):
    module = program["graph_module"]
    graph, signature = module["graph"], module["signature"]
    names = targets(signature)
    for i, spec in enumerate(signature["output_specs"]):
        for kind, field in KINDS.items():
            if kind not in spec:
                continue
            target, value = spec[kind][field], spec[kind]["arg"]["name"]
            target = names.get((kind.split("_")[0], target), target)
            copy = f"copy__{i}"
            tensor = lambda name, value: {"name": name, "arg": {"as_tensor": {"name": value}}, "kind": 1}
            graph["nodes"].append({"target": "torch.ops.aten.copy_.default", "inputs": [tensor("self", target), tensor("src", value)],
                                   "outputs": [{"as_tensor": {"name": copy}}], "metadata": {}})
            graph["tensor_values"][copy] = graph["tensor_values"][target]
            spec[kind]["arg"]["name"] = copy
            graph["outputs"][i] = {"as_tensor": {"name": copy}}
    return program


for line in sys.stdin:
    try:
        reply = {"program": place(json.loads(line)["program"])}
    except (KeyError, ValueError) as error:
        reply = {"error": repr(error)}
    print(json.dumps(reply), flush=True)
