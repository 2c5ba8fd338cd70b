"""python -m writeback_executorch.endtoend PROGRAM: ExecuTorch as judge.

Lowers a program with to_executorch, runs it in ExecuTorch's own runtime for several calls, and compares outputs, mutated inputs and the state
before every call with eager PyTorch. The state is seen through probes: clones of the buffers at the start of the program, added as
outputs to a second lowering (the first is run as it is). What eager PyTorch says: the program evaluated as a functional graph, all values
and outputs first, the targets afterwards, which is what torch.export promises; `ep.module()` is no oracle (it writes one after the other).

Exit status: 0 = same, 1 = different, 2 = cannot be lowered, read or run.
"""

import argparse
import contextlib
import copy
import functools
import logging
import sys
import warnings
from unittest import mock

import torch
from torch.export.graph_signature import InputKind, OutputKind, OutputSpec, TensorArgument

from . import program as programs
from .early import early_write_back, executorch_modules
from .errors import BridgeError, first_line, main_of
from .passes import pass_from


def load(path):
    """The ExportedProgram in a .pt2 file."""
    try:
        return torch.export.load(path)
    except Exception as e:  # torch raises any kind
        raise BridgeError(f"torch cannot load {path}: {first_line(e)}") from e


def is_edge_program(program):
    return any("EdgeOpOverload" in type(n.target).__name__ for n in program.graph.nodes)


def to_edge_manager(program):
    """An EdgeProgramManager for a program in ATen dialect (or already in edge dialect)."""
    executorch_modules()  # says so where there is no ExecuTorch
    from executorch.exir import EdgeCompileConfig, to_edge
    from executorch.exir.program._program import EdgeProgramManager
    config = EdgeCompileConfig(_check_ir_validity=False)
    try:
        if is_edge_program(program):
            return EdgeProgramManager(program, compile_config=config)
        with torch.no_grad():
            return to_edge(program, compile_config=config)
    except Exception as e:
        raise BridgeError(f"ExecuTorch's to_edge refuses the program: {first_line(e)}") from e


# -------------------------------------------------------------------------------------------------------------------- eager

@functools.lru_cache(maxsize=4)
def functional(program):
    """The program without in-place ops. Longer than all the rest of a comparison, hence kept for those that follow."""
    return program.run_decompositions() if program.dialect == "TRAINING" else program


class Eager:
    """The meaning of an ATen program, call by call: state, outputs, mutated inputs."""

    def __init__(self, program):
        self.program = functional(program)
        known = {**self.program.constants, **self.program.state_dict}
        self.state = {spec.target: known[spec.target].detach().clone() for spec in self.program.graph_signature.input_specs
                      if spec.kind in (InputKind.BUFFER, InputKind.PARAMETER, InputKind.CONSTANT_TENSOR)}

    def mutated_state(self):
        """The names of buffers and parameters that are written back."""
        return [s.target for s in self.program.graph_signature.output_specs
                if s.kind in (OutputKind.BUFFER_MUTATION, OutputKind.PARAMETER_MUTATION)]

    def call(self, inputs):
        """(outputs, mutated inputs) of one call; the state moves on."""
        given = iter(inputs)
        signature = self.program.graph_signature
        arguments = [self.state[s.target] if s.kind is not InputKind.USER_INPUT else next(given) for s in signature.input_specs]
        with torch.no_grad():
            results = torch.fx.Interpreter(self.program.graph_module).run(*arguments, enable_io_processing=False)
        outputs, mutated, writes = [], {}, []
        by_name = {s.arg.name: a for s, a in zip(signature.input_specs, arguments)}
        for spec, value in zip(signature.output_specs, results):
            value = value.clone() if isinstance(value, torch.Tensor) else value
            if spec.kind in (OutputKind.BUFFER_MUTATION, OutputKind.PARAMETER_MUTATION):
                writes.append((spec.target, value))
            elif spec.kind is OutputKind.USER_INPUT_MUTATION:
                mutated[spec.target] = by_name[spec.target].clone().copy_(value)
            else:
                outputs.append(value)
        for target, value in writes:
            self.state[target] = self.state[target].clone().copy_(value)
        return outputs, mutated


# ------------------------------------------------------------------------------------------------------------------- lowering

@contextlib.contextmanager
def write_back_by(choice):
    """choice: None = the released pass, a callable = that pass, a dict of switches = our placement."""
    if isinstance(choice, dict):
        with early_write_back(**choice) as settings:
            yield settings
        return
    to_executorch, _, _ = executorch_modules()
    if choice is None:
        yield None
    else:
        with mock.patch.object(to_executorch, "insert_write_back_for_buffers_pass", choice):
            yield None


def initialised(program):
    """Marks all mutable buffers as initialised, so that the first call starts from the values that eager starts from."""
    mutated = set(program.graph_signature.buffers_to_mutate.values())
    for spec, node in zip(program.graph_signature.input_specs, program.graph.find_nodes(op="placeholder")):
        if spec.kind is InputKind.BUFFER and spec.target in mutated:
            node.meta["et_init_buffer"] = True


def add_probes(program, names):
    """The program with a clone of each named buffer or parameter as it is at the start, as further outputs."""
    graph, signature = program.graph, program.graph_signature
    placeholders = graph.find_nodes(op="placeholder")
    anchor, clones = placeholders[-1], []
    for spec, node in zip(signature.input_specs, placeholders):
        if spec.target in names and spec.kind is not InputKind.USER_INPUT:
            with graph.inserting_after(anchor):
                anchor = graph.call_function(torch.ops.aten.clone.default, (node,))
            anchor.meta["val"] = node.meta["val"]
            clones.append((spec.target, anchor))
    output = graph.output_node()
    output.args = ((*output.args[0], *(c for _, c in clones)),)
    signature.output_specs.extend(OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(c.name), None) for _, c in clones)
    program.graph_module.recompile()
    return [name for name, _ in clones]


def lower(edge, choice=None, probes=(), **config):
    """(ExecutorchProgramManager, names of the probes, what the drop-in did) of an EdgeProgramManager, which stays as it is."""
    from executorch.exir import ExecutorchBackendConfig
    manager = copy.deepcopy(edge)
    exported = manager.exported_program()
    initialised(exported)
    probed = add_probes(exported, set(probes)) if probes else []
    try:
        with write_back_by(choice) as settings:
            return manager.to_executorch(ExecutorchBackendConfig(**config)), probed, settings
    except BridgeError:
        raise
    except Exception as e:
        raise BridgeError(f"ExecuTorch's to_executorch refuses the program: {first_line(e)}") from e


class Lowered:
    """A lowered program in ExecuTorch's runtime."""

    def __init__(self, manager):
        try:
            from executorch.runtime import Runtime
        except ImportError as e:
            raise BridgeError(f"this executorch has no runtime: {first_line(e)}") from e
        try:
            self.method = Runtime.get().load_program(manager.buffer).load_method("forward")
        except RuntimeError as e:
            raise BridgeError(f"ExecuTorch's runtime cannot load the program: {first_line(e)}") from e

    def call(self, inputs):
        try:
            return [o.clone() if isinstance(o, torch.Tensor) else o for o in self.method.execute([i.clone() if isinstance(i, torch.Tensor) else i for i in inputs])]
        except RuntimeError as e:
            raise BridgeError(f"ExecuTorch's runtime fails: {first_line(e)}") from e


# ------------------------------------------------------------------------------------------------------------------- comparing

def random_inputs(program, seed):
    """Small inputs of the right shapes for one call."""
    generator = torch.Generator().manual_seed(seed)
    inputs = []
    for spec, node in zip(program.graph_signature.input_specs, program.graph.find_nodes(op="placeholder")):
        if spec.kind is not InputKind.USER_INPUT:
            continue
        value = node.meta["val"]
        if not isinstance(value, torch.Tensor):
            inputs.append(value)
            continue
        shape = [int(s) if isinstance(s, int) else int(s.node.hint or 2) for s in value.shape]
        if value.dtype.is_floating_point:
            inputs.append(torch.randn(shape, generator=generator).to(value.dtype))
        elif value.dtype is torch.bool:
            inputs.append(torch.randint(0, 2, shape, generator=generator).bool())
        else:
            inputs.append(torch.randint(0, 4, shape, generator=generator).to(value.dtype))
    return inputs


def difference(got, expected, what):
    """A sentence where two values differ, else None."""
    if not isinstance(expected, torch.Tensor):
        return None if got == expected else f"{what}: expected {expected}, got {got}"
    expected = expected.detach()
    if got.shape != expected.shape or not torch.allclose(got.to(torch.float64), expected.to(torch.float64), rtol=1e-4, atol=1e-5,
                                                         equal_nan=True):
        return f"{what}: expected {expected.flatten()[:8].tolist()}, got {got.flatten()[:8].tolist()}"
    return None


def compare(program, choice=None, calls=3, seed=0, inputs=None, edge=None, **config):
    """(first difference or None, the unprobed manager, what the drop-in did). Two lowerings are run: plain and probed. `edge`
    saves the way from the program to its EdgeProgramManager, where the caller has it."""
    inputs = inputs or [random_inputs(program, seed + call) for call in range(calls)]
    edge = edge or to_edge_manager(program)
    plain, _, settings = lower(edge, choice, **config)
    names = Eager(program).mutated_state()
    found = _compare_run(program, plain, [], inputs)
    if found is None and names:
        manager, probes, _ = lower(edge, choice, names, **config)
        found = _compare_run(program, manager, probes, inputs)
    return found, plain, settings


def reinplacing(extra):
    """ExecutorchBackendConfig's words for --reinplace."""
    return {} if extra is None else {"run_reinplace_pass": True, "reinplace_extra_ops": programs.edge_targets(extra)}


def compare_graph(module, signature, choice=None, **config):
    """The first difference for a functional graph in ATen dialect, which goes to to_executorch op by op, without to_edge's passes."""
    from executorch.exir import EdgeCompileConfig
    from executorch.exir.program._program import EdgeProgramManager
    aten = programs.exported_program(module, signature)
    edge = programs.exported_program(programs.to_edge_dialect(copy.deepcopy(module)), copy.deepcopy(signature))
    try:
        manager = EdgeProgramManager(edge, compile_config=EdgeCompileConfig(_check_ir_validity=False))
    except Exception as e:
        raise BridgeError(f"ExecuTorch refuses the program: {first_line(e)}") from e
    return compare(aten, choice, edge=manager, **config)[0]


def _compare_run(program, manager, probes, inputs):
    eager, lowered = Eager(program), Lowered(manager)
    for call, arguments in enumerate(inputs):
        state = {name: eager.state[name] for name in probes}
        outputs, mutated = eager.call([a.clone() if isinstance(a, torch.Tensor) else a for a in arguments])
        got = lowered.call(arguments)
        expected = [(f"input {name} after", value) for name, value in mutated.items()]
        expected += [(f"output {i}", value) for i, value in enumerate(outputs)]
        expected += [(f"state {name} before", state[name]) for name in probes]
        if len(got) != len(expected):
            return f"call {call + 1}: {len(expected)} outputs expected, got {len(got)}"
        for value, (what, wanted) in zip(got, expected):
            said = difference(value, wanted, f"call {call + 1}, {what}")
            if said:
                return said
    return None


@main_of
def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m writeback_executorch.endtoend", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help=".pt2 file")
    parser.add_argument("--calls", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--reinplace", nargs="*", metavar="OP",
                        help="run ExecuTorch's reinplace pass first, on its default ops and on these (aten.add.Tensor)")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--pass", dest="pass_name", metavar="MODULE:FUNCTION", help="the write-back pass to use")
    which.add_argument("--pass-file", metavar="FILE", help="a Python file that defines insert_write_back_for_buffers_pass")
    which.add_argument("--use-writeback", action="store_true", help="our placement drives the pipeline")
    given = parser.parse_args(arguments)
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    choice = {} if given.use_writeback else pass_from(given.pass_name, given.pass_file)
    found, manager, _ = compare(load(given.program), choice, given.calls, given.seed, **reinplacing(given.reinplace))
    from . import memory
    print(f"planned {memory.planned(manager)} bytes, bound {memory.bound(manager)}, state {memory.state_bytes(manager)}")
    print(f"different: {found}" if found else f"same as eager PyTorch over {given.calls} calls")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
