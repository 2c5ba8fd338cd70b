"""What ExecuTorch planned: bytes, and the lower bound of the same lifetimes.

`planned(manager)` is the sum of bufsizes; `bound(manager)` the largest sum of bytes alive at one step, over the storages that were
planned. No plan of these lifetimes is smaller than the bound.
"""

from .early import executorch_modules


def graph_of(manager):
    return manager.exported_program().graph_module


def planned(manager):
    """Bytes of all planned buffers."""
    return sum(graph_of(manager).meta["non_const_buffer_sizes"])


def storages(manager):
    """(bytes, first step, last step) of every planned storage; values born in another's storage do not count."""
    _, planning, _ = executorch_modules()
    exported = manager.exported_program()
    specs = planning.collect_specs_from_nodes(exported.graph_module.graph.nodes, exported.graph_signature, do_assertion=False,
                                              ignore_const=False)  # initialised buffers are marked const by the emitter
    return [(spec.allocated_memory, *spec.lifetime) for spec in specs if spec.inplace_base is None and spec.mem_offset is not None]


def bound(manager):
    rows = storages(manager)
    changes = sorted([(first, size) for size, first, _ in rows] + [(last + 1, -size) for size, _, last in rows])
    alive = most = 0
    for _, size in changes:
        alive += size
        most = max(most, alive)
    return most


def state_bytes(manager):
    """Bytes of the mutable buffers and mutated user inputs: what no placement can save."""
    exported = manager.exported_program()
    signature = exported.graph_signature
    mutated = set(signature.buffers_to_mutate.values()) | set(signature.user_inputs_to_mutate.values())
    total = 0
    for spec, node in zip(signature.input_specs, exported.graph.find_nodes(op="placeholder")):
        if spec.target in mutated or spec.arg.name in mutated:
            total += node.meta["spec"].allocated_memory
    return total
