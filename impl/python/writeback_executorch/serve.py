"""python -m writeback_executorch.serve: a write-back pass of ExecuTorch behind the line protocol of `writeback fuzz --impl cmd:...`.

One request per line on standard input, one reply per line on standard output (see the README of the project). A request's program is
rebuilt as an ExportedProgram, the pass runs on it, and the graph that it leaves is the reply; what cannot be rebuilt, and whatever the pass
raises, is an `error` in a sentence. With --reinplace the program is in edge dialect and ExecuTorch's reinplace pass runs before; with
--pipeline the re-basing and lowering of view_copy run after, as in to_executorch: the reply then is the lowered program, its memory.view
written as aten.view.
"""

import argparse
import json
import logging
import os
import sys
import warnings
from unittest import mock

import torch

from . import program as programs
from .effects import is_view_copy
from .errors import BridgeError, first_line, main_of
from .passes import installed_pass, pass_from
from .placement import MUTATIONS


def mutations_first(module, signature):
    """torch.export promises every pass that mutations stand before the other outputs; a request's outputs may stand anyhow."""
    output = module.graph.output_node()
    order = sorted(range(len(signature.output_specs)), key=lambda i: signature.output_specs[i].kind not in MUTATIONS)
    output.args = (tuple(output.args[0][i] for i in order),)
    signature.output_specs[:] = [signature.output_specs[i] for i in order]


def rebuild(request):
    """The ExportedProgram of a request."""
    programs.define_ops(request.get("schemas", []))
    module, signature = programs.read_json(request["program"])
    mutations_first(module, signature)
    shared = request.get("share_alloc", {})
    for node in module.graph.nodes:
        if node.name in shared:
            node.meta["_share_alloc_with_arg_idx"] = shared[node.name]
    return programs.exported_program(module, signature)


def reinplace(exported, extra):
    """What to_executorch does before the write-back pass when it is told to reinplace; that pass knows ops of the edge dialect only."""
    from executorch.exir.passes.reinplace import DEFAULT_INPLACEABLE_OPS, reinplace_pass
    programs.to_edge_dialect(exported.graph_module)
    return reinplace_pass(exported, DEFAULT_INPLACEABLE_OPS | extra)


def lower_views(module):
    """What to_executorch does to view_copy after the write-back pass."""
    from executorch.exir.passes import dead_code_elimination_pass
    from executorch.exir.passes.normalize_view_copy_base_pass import NormalizeViewCopyBasePass
    from executorch.exir.passes.replace_view_copy_with_view_pass import ReplaceViewCopyWithViewPass
    from executorch.exir.passes.spec_prop_pass import make_spec
    for node in filter(is_view_copy, module.graph.nodes):  # no others: ExecuTorch has no specs for an expanded tensor, say
        for one in (node, node.args[0]):
            one.meta["spec"] = make_spec(one.meta["val"])
    for one in (NormalizeViewCopyBasePass(), dead_code_elimination_pass, ReplaceViewCopyWithViewPass()):
        module = one(module).graph_module
    return module


class Server:
    """reinplace: None, or the edge ops that are reinplaced besides those of ExecuTorch's default."""

    def __init__(self, write_back, pipeline=False, reinplace=None):
        self.write_back, self.pipeline, self.reinplace = write_back, pipeline, reinplace

    def reply(self, request):
        """The reply to one request, both objects."""
        try:
            with mock.patch.object(torch.fx.GraphModule, "recompile", lambda self: None):  # nobody calls the code: a third of the time
                return self._reply(request)
        except KeyError as e:
            return {"error": f"the request lacks {e}"}
        except BridgeError as e:
            return {"error": str(e)}

    def _reply(self, request):
        exported = rebuild(request)
        try:
            if self.reinplace is not None:
                exported = reinplace(exported, self.reinplace)
            module, signature = self.write_back(exported)
            if self.pipeline:
                module = lower_views(module)
        except BridgeError:
            raise
        except Exception as e:  # whatever a pass under test raises is its answer
            return {"error": f"the pass raised {type(e).__name__}: {first_line(e)}"}
        return {"program": programs.write_json(module, signature)}

    def serve(self, lines, out):
        for line in lines:
            if not line.strip():
                continue
            try:
                request = json.loads(line)
                answer = self.reply(request) if isinstance(request, dict) else {"error": "a request is a JSON object"}
            except json.JSONDecodeError as e:
                answer = {"error": f"a request is one line of JSON: {e}"}
            out.write(json.dumps(answer) + "\n")
            out.flush()


def add_arguments(parser):
    """Which pass, and what runs around it."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--pass", dest="pass_name", metavar="MODULE:FUNCTION", help="the pass; default: the installed one")
    which.add_argument("--pass-file", metavar="FILE", help="a Python file that defines insert_write_back_for_buffers_pass")
    parser.add_argument("--pipeline", action="store_true", help="run the passes after it too, reply with the lowered program")
    parser.add_argument("--reinplace", nargs="*", metavar="OP",
                        help="run ExecuTorch's reinplace pass before it, on its default ops and on these (aten.add.Tensor)")


def server_of(given):
    """The Server that those arguments describe."""
    extra = None if given.reinplace is None else programs.edge_targets(given.reinplace)
    return Server(pass_from(given.pass_name, given.pass_file) or installed_pass(), given.pipeline, extra)


@main_of
def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m writeback_executorch.serve", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    given = parser.parse_args(arguments)
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # a pass that prints must not break the protocol
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    server_of(given).serve(sys.stdin, replies)
    return 0


if __name__ == "__main__":
    sys.exit(main())
