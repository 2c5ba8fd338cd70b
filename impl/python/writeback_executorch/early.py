"""The drop-in: ExecuTorch's pipeline with our placement.

    with writeback_executorch.early_write_back():
        program = edge.to_executorch()

Within the context `to_executorch` places every copy where `writeback place` says. What ExecuTorch 1.4 gets wrong around early copies is
put right as well, each with a switch (see EarlyWriteBack): the output node's stale specs, lifetimes of mutated user inputs and of
in-place results, views of in-place results. Two savings go further: `forward` and `coalesce` (placement.py).

What cannot be kept is refused with a BridgeError, never silently wrong: a program whose lowering changes a value wherever the copies
stand, and a coalesced value without a planned target. Mutated parameters become initialised mutable buffers, which is what they are on the
device. The context runs without gradients, because a copy_ into a parameter that wants gradients is refused by torch.
"""

import contextlib
import dataclasses
import logging
from unittest import mock

import torch
from torch.export.graph_signature import InputKind, OutputKind
from torch.utils import _pytree as pytree

from . import placement, program, tool
from .errors import BridgeError, first_line


def executorch_modules():
    """(program, memory planning, memory planning pass) of the installed ExecuTorch; BridgeError where the pass is not there."""
    try:
        from executorch.exir import memory_planning
        from executorch.exir.passes import memory_planning_pass
        from executorch.exir.program import _program
    except ImportError as e:
        raise BridgeError(f"executorch is not installed: {first_line(e)}") from e
    if not hasattr(_program, "insert_write_back_for_buffers_pass"):
        raise BridgeError("this executorch has no insert_write_back_for_buffers_pass; versions seen to work: 1.4.1")
    return _program, memory_planning, memory_planning_pass


@dataclasses.dataclass
class EarlyWriteBack:
    """What the drop-in does; each switch can be turned off to see what it brings.

    correct_specs:      the output node does not plan stale copies of mutated buffers, views of in-place results share their storage
    correct_lifetimes:  mutated user inputs live to the end, in-place results as long as they are read
    forward:            reads of a value after its copy read the target
    coalesce:           values are born in their targets where the op allows
    trust:              namespaces of custom ops whose schemas are believed
    """

    correct_specs: bool = True
    correct_lifetimes: bool = True
    forward: bool = True
    coalesce: bool = True
    trust: tuple = ()
    placements: list = dataclasses.field(default_factory=list)  # what `writeback` answered, a program each
    moved_reads: int = 0
    born_in_target: list = dataclasses.field(default_factory=list)

    def write_back(self, exported):
        """Takes the place of insert_write_back_for_buffers_pass."""
        parameters_to_buffers(exported)
        trust = [word for namespace in self.trust for word in ("--trust", namespace)]
        answer = tool.place(program.text_of(exported), trust, accept=(0, 1))
        if answer["lowering_hazards"]:
            raise BridgeError(f"no placement is safe under ExecuTorch's lowering: {answer['lowering_hazards']}")
        self.placements.append(answer)
        result = placement.apply(exported, answer)
        if self.coalesce:
            self.born_in_target += placement.coalesce(exported)
        if self.forward:
            self.moved_reads += placement.forward(exported)
        return result


def parameters_to_buffers(exported):
    """A mutated parameter is a mutable buffer with an initial value: ExecuTorch plans and emits it as that, a parameter it would
    silently leave as it is."""
    signature = exported.graph_signature
    mutated = {spec.target for spec in signature.output_specs if spec.kind is OutputKind.PARAMETER_MUTATION}
    for spec in signature.output_specs:
        if spec.kind is OutputKind.PARAMETER_MUTATION:
            spec.kind = OutputKind.BUFFER_MUTATION
    for spec, node in zip(signature.input_specs, exported.graph.find_nodes(op="placeholder")):
        if spec.kind is InputKind.PARAMETER and spec.target in mutated:
            spec.kind, spec.persistent = InputKind.BUFFER, True
            node.meta["et_init_buffer"] = True
            node.meta["val"].requires_grad_(False)
            exported.state_dict[spec.target] = exported.state_dict[spec.target].detach()


def _correct_specs(graph_module, planning):
    """In-place results take their argument's spec before anything is planned, views of them follow, and the output node forgets the specs
    that mutation outputs had before."""
    in_place_outputs = []
    for node in graph_module.graph.nodes:
        if planning._is_inplace_node(node):
            planning._alias_inplace_result_specs(node)
            in_place_outputs.append(node)
        elif node.target is planning.memory.view:
            base, spec = node.args[0].meta["spec"], node.meta["spec"]
            if spec._base is not base:
                node.meta["spec"] = type(spec)(base, spec.shape)
    output = graph_module.graph.output_node()
    known = {id(n) for n in in_place_outputs}
    output.meta["spec"] = pytree.tree_map(
        lambda n: None if id(n) in known or not isinstance(n, torch.fx.Node) else n.meta.get("spec"), output.args[0])


def _extend_lifetimes(graph_module, signature, planning):
    """Uses of in-place results count as uses of the storage; a mutated user input lives to the end."""
    nodes = list(graph_module.graph.nodes)
    last = len(nodes) - 1
    mutated = set((signature.user_inputs_to_mutate if signature else {}).values())
    for index, node in enumerate(nodes):
        if node.op == "placeholder" and node.target in mutated:
            for spec in planning.get_node_tensor_specs(node):
                spec.lifetime = [0, last]
        for argument in planning.filter_nodes([*node.args, *node.kwargs.values()]):
            if planning._is_inplace_node(argument):
                for spec in planning.get_node_tensor_specs(argument):
                    spec.lifetime = [spec.lifetime[0], max(spec.lifetime[1], index)]


def _place_born_values(graph_module, planning, plans_buffers):
    """A coalesced value has the offset of its target."""
    placeholders = {n.target: n for n in graph_module.graph.find_nodes(op="placeholder")}
    for node in graph_module.graph.nodes:
        target = node.meta.get(placement.BORN_IN)
        if target is None or node.target is planning.memory.alloc:
            continue
        if not plans_buffers:
            raise BridgeError("coalescing needs mutable buffers that are planned with the activations: early_write_back(coalesce=False)")
        node.meta["spec"].inplace_base = placeholders[target].meta["spec"]


@contextlib.contextmanager
def early_write_back(**switches):
    """ExecuTorch's `to_executorch` uses our placement within this context. Yields the EarlyWriteBack that tells what was done."""
    settings = EarlyWriteBack(**switches)
    to_executorch, planning, planning_pass = executorch_modules()
    apply_algo, update_lifetimes = planning.apply_algo, planning.update_all_tensors_lifetime

    def apply_corrected(algo, graph_module, alignment, graph_signature=None, alloc_graph_input=True, alloc_graph_output=True,
                        alloc_mutable_buffers=True, *rest, **named):
        if settings.correct_specs:
            _correct_specs(graph_module, planning)
        _place_born_values(graph_module, planning, alloc_mutable_buffers)
        return apply_algo(algo, graph_module, alignment, graph_signature, alloc_graph_input, alloc_graph_output, alloc_mutable_buffers,
                          *rest, **named)

    def update_corrected(graph_module, graph_signature=None):
        specs = update_lifetimes(graph_module, graph_signature)
        if settings.correct_lifetimes:
            _extend_lifetimes(graph_module, graph_signature, planning)
        return specs

    view_logger = logging.getLogger("executorch.exir.passes.replace_view_copy_with_view_pass")
    level = view_logger.level
    view_logger.setLevel(logging.ERROR)  # it warns whenever a planner looks at inplace_base of a view
    try:
        with mock.patch.object(to_executorch, "insert_write_back_for_buffers_pass", settings.write_back), \
                mock.patch.object(planning_pass, "apply_algo", apply_corrected), \
                mock.patch.object(planning, "update_all_tensors_lifetime", update_corrected), torch.no_grad():
            yield settings
    finally:
        view_logger.setLevel(level)
