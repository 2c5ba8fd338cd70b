"""Makes the real programs of this folder: small stateful modules, exported by torch.export (torch 2.13.0, executorch 1.4.1).

    python tests/models/make_models.py [--out FOLDER] [NAME ...]

For each module below, its docstring telling its point:
    NAME.pt2, NAME.txt                          as exported (training IR: in-place ops stay in the graph)
    NAME.decomposed.pt2, NAME.decomposed.txt    after run_decompositions(): mutations are outputs
    NAME.edge.txt                               what ExecuTorch's to_edge makes of it

Stack traces, module stacks and sample inputs are taken out, so the files say nothing of the machine that made them, and two runs
write the same bytes. Archives are as torch writes them, except those of REPACKED: these are deflated (torch reads them as well).
A step that torch or ExecuTorch refuses leaves no file; REFUSED lists what may be refused, anything else ends the script.
"""

import argparse
import io
import pathlib
import sys
import warnings
import zipfile

import torch
from executorch.exir import EdgeCompileConfig, to_edge
from torch import nn
from torch.export import Dim, export

REPACKED = {"decoder"}
REFUSED = {("shared_storage", "decomposed"): "torch refuses to functionalise buffers that share a storage",
           ("shared_storage", "edge"): "follows from the decomposition",
           ("no_inputs", "edge"): "ExecuTorch lifts the constants of a program without inputs to wrong names",
           ("cond_on_state", "edge"): "ExecuTorch may refuse control flow on state",
           ("mutated_parameter", "edge"): "ExecuTorch may refuse a mutated parameter",
           ("sgd_momentum", "edge"): "ExecuTorch may refuse a mutated parameter"}


def weights(*sizes, scale=0.125):
    """Small numbers with a period of 13: deterministic, not all alike, and they deflate to nothing."""
    count = torch.Size(sizes).numel()
    return ((torch.arange(count) * 7 % 13 - 6) * scale).reshape(sizes).to(torch.float32)


class KvCacheIndexPut(nn.Module):
    """Attention over a cache that is written by index_put at a position given as a tensor, and read in the same step."""

    def __init__(self, heads=2, length=8, dim=4):
        super().__init__()
        self.register_buffer("k_cache", torch.zeros(1, heads, length, dim))
        self.register_buffer("v_cache", torch.zeros(1, heads, length, dim))

    def forward(self, q, k, v, position):
        self.k_cache[:, :, position] = k
        self.v_cache[:, :, position] = v
        scores = q @ self.k_cache.transpose(2, 3) * 0.5
        return torch.softmax(scores, dim=-1) @ self.v_cache

    inputs = (weights(1, 2, 1, 4), weights(1, 2, 1, 4), weights(1, 2, 1, 4), torch.tensor([3]))


class KvCacheSliceScatter(nn.Module):
    """The same with a slice assignment, which decomposes into slice and slice_scatter."""

    def __init__(self):
        super().__init__()
        self.register_buffer("k_cache", torch.zeros(1, 2, 8, 4))
        self.register_buffer("v_cache", torch.zeros(1, 2, 8, 4))

    def forward(self, q, k, v):
        self.k_cache[:, :, 2:3] = k
        self.v_cache[:, :, 2:3] = v
        scores = q @ self.k_cache.transpose(2, 3) * 0.5
        return torch.softmax(scores, dim=-1) @ self.v_cache

    inputs = (weights(1, 2, 1, 4), weights(1, 2, 1, 4), weights(1, 2, 1, 4))


class SlidingWindow(nn.Module):
    """A window of the last frames: the new state is made of a slice of the old one."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.zeros(6, 3))

    def forward(self, frame):
        window = torch.cat([self.window[1:], frame])
        self.window.copy_(window)
        return window.mean(dim=0)

    inputs = (weights(1, 3),)


class BatchNormTraining(nn.Module):
    """Batch norm in training mode: as exported the op writes its statistics without any annotation saying so."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.norm.train()

    def forward(self, x):
        return self.norm(x) * 2

    inputs = (weights(4, 3),)


class GruStreaming(nn.Module):
    """A GRU cell fed one step at a time: the old state is read by every gate and by the final blend."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 4)
        for p in self.cell.parameters():
            p.data = weights(*p.shape)
        self.register_buffer("hidden", torch.zeros(1, 4))

    def forward(self, x):
        hidden = self.cell(x, self.hidden)
        self.hidden.copy_(hidden)
        return hidden.sum(dim=1)

    inputs = (weights(1, 3),)


class LstmStreaming(nn.Module):
    """An LSTM cell with two states; the hidden one is computed from the new cell state."""

    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(3, 4)
        for p in self.cell.parameters():
            p.data = weights(*p.shape)
        self.register_buffer("hidden", torch.zeros(1, 4))
        self.register_buffer("memory", torch.zeros(1, 4))

    def forward(self, x):
        hidden, memory = self.cell(x, (self.hidden, self.memory))
        self.hidden.copy_(hidden)
        self.memory.copy_(memory)
        return hidden

    inputs = (weights(1, 3),)


class EmaWeights(nn.Module):
    """A running average of weights beside the weights themselves."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(weights(3, 3))
        self.register_buffer("average", torch.zeros(3, 3))

    def forward(self, x):
        self.average.lerp_(self.weight.detach(), 0.1)
        return x @ self.weight + x @ self.average

    inputs = (weights(2, 3),)


class SgdMomentum(nn.Module):
    """One optimiser step: a parameter and its momentum are both updated."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(weights(4))
        self.register_buffer("momentum", torch.zeros(4))

    def forward(self, gradient):
        with torch.no_grad():
            self.momentum.mul_(0.9).add_(gradient)
            self.weight.sub_(self.momentum, alpha=0.1)
        return self.weight.detach() + 0

    inputs = (weights(4),)


class Counter(nn.Module):
    """Integer state."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.count.add_(1)
        return x / self.count

    inputs = (weights(4),)


class RingBuffer(nn.Module):
    """A ring of samples and the position of the next: the position is read as an index before it moves."""

    def __init__(self):
        super().__init__()
        self.register_buffer("samples", torch.zeros(8))
        self.register_buffer("position", torch.zeros(1, dtype=torch.int64))

    def forward(self, x):
        self.samples[self.position] = x
        self.position.copy_((self.position + 1) % 8)
        return self.samples.sum()

    inputs = (weights(1),)


class DelayLine(nn.Module):
    """One buffer is written back from another buffer: with the copies at the end in output order it would get the new state."""

    def __init__(self):
        super().__init__()
        self.register_buffer("previous", torch.zeros(4))
        self.register_buffer("current", torch.zeros(4))

    def forward(self, x):
        y = x - self.previous
        self.previous.copy_(self.current)
        self.current.copy_(x)
        return y

    inputs = (weights(4),)


class DelayThroughView(nn.Module):
    """The old state of one buffer is saved into another through a view."""

    def __init__(self):
        super().__init__()
        self.register_buffer("a", torch.zeros(2, 2))
        self.register_buffer("b", torch.zeros(4))

    def forward(self, x):
        old = self.a.view(4)
        new = self.a + x
        y = self.b * 2
        self.b.copy_(old)
        self.a.copy_(new)
        return y

    inputs = (weights(2, 2),)


class SwapBuffers(nn.Module):
    """Two buffers exchange their contents: no order of two copies will do."""

    def __init__(self):
        super().__init__()
        self.register_buffer("front", torch.zeros(4))
        self.register_buffer("back", torch.zeros(4))

    def forward(self, x):
        front = self.front.clone()
        self.front.copy_(self.back)
        self.back.copy_(front)
        return x + front

    inputs = (weights(4),)


class StateThroughView(nn.Module):
    """The old state is read through a view after the new state has been computed."""

    def __init__(self):
        super().__init__()
        self.register_buffer("a", torch.zeros(2, 2))

    def forward(self, x):
        old = self.a.view(4)
        new = self.a + x
        y = old * 2 + new.reshape(4)
        self.a.copy_(new)
        return y

    inputs = (weights(2, 2),)


class MutatedInput(nn.Module):
    """The state is an input of the program."""

    def forward(self, state, x):
        y = state + x
        state.copy_(y * 0.5)
        return y.sum()

    inputs = (weights(4), weights(4))


class MutatedParameter(nn.Module):
    """The state is a parameter."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(weights(4), requires_grad=False)

    def forward(self, x):
        y = self.weight * x
        self.weight.add_(x)
        return y

    inputs = (weights(4),)


class OldStateReturned(nn.Module):
    """The step returns the state as it was."""

    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.zeros(4))

    def forward(self, x):
        old = self.state.clone()
        self.state.mul_(0.5).add_(x)
        return old, self.state * 3

    inputs = (weights(4),)


class SharedStorage(nn.Module):
    """Two buffers are halves of one storage and a third is all of it."""

    def __init__(self):
        super().__init__()
        whole = torch.zeros(8)
        self.register_buffer("whole", whole)
        self.register_buffer("low", whole[:4])
        self.register_buffer("high", whole[4:])

    def forward(self, x):
        self.low.add_(x)
        self.high.copy_(self.low * 2)
        return self.whole.sum()

    inputs = (weights(4),)


class CondOnState(nn.Module):
    """A branch that reads the state, and a write-back of what it gives."""

    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.zeros(4))

    def forward(self, x):
        new = torch.cond(x.sum() > 0, lambda s, v: s + v, lambda s, v: s * v - 1, (self.state, x))
        y = self.state - x
        self.state.copy_(new)
        return y

    inputs = (weights(4),)


class NoInputs(nn.Module):
    """A generator without inputs: its only source is its state."""

    def __init__(self):
        super().__init__()
        self.register_buffer("seed", torch.tensor([1, 2, 3]))

    def forward(self):
        self.seed.copy_((self.seed * 5 + 1) % 64)
        return self.seed + 0

    inputs = ()


class NothingToWriteBack(nn.Module):
    """No state at all."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)
        for p in self.linear.parameters():
            p.data = weights(*p.shape)

    def forward(self, x):
        return torch.relu(self.linear(x))

    inputs = (weights(2, 3),)


class ConvStreaming(nn.Module):
    """A causal convolution fed chunk by chunk: its state is the tail of the padded chunk."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 2, 3, bias=False)
        self.conv.weight.data = weights(2, 2, 3)
        self.register_buffer("tail", torch.zeros(1, 2, 2))

    def forward(self, chunk):
        padded = torch.cat([self.tail, chunk], dim=2)
        self.tail.copy_(padded[:, :, -2:])
        return self.conv(padded)

    inputs = (weights(1, 2, 4),)


class RunningMean(nn.Module):
    """A batch of symbolic size; the state's size is fixed."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))
        self.register_buffer("seen", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.seen.add_(x.shape[0])
        self.mean.add_((x - self.mean).sum(dim=0) / self.seen)
        return x - self.mean

    inputs = (weights(4, 3),)
    dynamic = ({0: Dim("batch", min=2, max=64)},)


class SplitState(nn.Module):
    """Views of one state by split; the new state is a list put together again."""

    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.zeros(6, 2))

    def forward(self, x):
        first, second, third = self.state.split(2)
        best, where = torch.topk(x, 2, dim=0)
        self.state.copy_(torch.cat([second, third, best]))
        return first + 1, where

    inputs = (weights(4, 2),)


class MixedDtypes(nn.Module):
    """The write-backs cast and broadcast: a half-precision cache, an integer histogram, a scalar spread over a row."""

    def __init__(self):
        super().__init__()
        self.register_buffer("short", torch.zeros(4, dtype=torch.float16))
        self.register_buffer("total", torch.zeros(4, dtype=torch.int32))
        self.register_buffer("row", torch.zeros(2, 4))

    def forward(self, x):
        y = x + self.short
        self.short.copy_(y)
        self.total.copy_(self.total + (x > 0))
        self.row.copy_(x)
        return y.sum()

    inputs = (weights(4),)


class RmsNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


class DecoderLayer(nn.Module):
    def __init__(self, dim, heads, length):
        super().__init__()
        self.heads, self.width = heads, dim // heads
        self.attention_norm, self.mlp_norm = RmsNorm(dim), RmsNorm(dim)
        for name in ("wq", "wk", "wv", "wo", "w1", "w2", "w3"):
            linear = nn.Linear(dim, dim, bias=False)
            linear.weight.data = weights(dim, dim, scale=1 / 64)
            setattr(self, name, linear)
        self.register_buffer("k_cache", torch.zeros(1, heads, length, self.width))
        self.register_buffer("v_cache", torch.zeros(1, heads, length, self.width))

    def split_heads(self, x):
        return x.view(1, 1, self.heads, self.width).transpose(1, 2)

    @staticmethod
    def rotate(x, cos, sin):
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)

    def attend(self, x, position, cos, sin, mask):
        q, k, v = self.split_heads(self.wq(x)), self.split_heads(self.wk(x)), self.split_heads(self.wv(x))
        self.k_cache[:, :, position] = self.rotate(k, cos, sin)
        self.v_cache[:, :, position] = v
        scores = self.rotate(q, cos, sin) @ self.k_cache.transpose(2, 3) * self.width ** -0.5 + mask
        return self.wo((torch.softmax(scores, dim=-1) @ self.v_cache).transpose(1, 2).reshape(1, 1, -1))

    def forward(self, x, position, cos, sin, mask):
        x = x + self.attend(self.attention_norm(x), position, cos, sin, mask)
        h = self.mlp_norm(x)
        return x + self.w2(torch.nn.functional.silu(self.w1(h)) * self.w3(h))


class Decoder(nn.Module):
    """The demonstration: a Llama-like decoder that makes one token a call, with a key and a value cache in each of 8 layers
    (RMS norm, rotary embedding, attention written out, gated MLP). Caches: 16 x 32 kB."""

    def __init__(self, vocabulary=64, dim=64, heads=4, length=128, layers=8):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, dim)
        self.embedding.weight.data = weights(vocabulary, dim)
        self.layers = nn.ModuleList(DecoderLayer(dim, heads, length) for _ in range(layers))
        self.norm = RmsNorm(dim)
        self.head = nn.Linear(dim, vocabulary, bias=False)
        self.head.weight.data = weights(vocabulary, dim)
        steps = torch.arange(0, dim // heads, 2)
        angles = torch.outer(torch.arange(length), 10000.0 ** (-steps / (dim // heads)))
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())
        self.register_buffer("mask", torch.full((length, length), -1e9).triu(1))

    def forward(self, token, position):
        x = self.embedding(token)
        cos, sin, mask = self.cos[position], self.sin[position], self.mask[position]
        for layer in self.layers:
            x = layer(x, position, cos, sin, mask)
        return self.head(self.norm(x))

    inputs = (torch.tensor([[5]]), torch.tensor([3]))


MODELS = {
    "kv_cache_index_put": KvCacheIndexPut, "kv_cache_slice_scatter": KvCacheSliceScatter, "sliding_window": SlidingWindow,
    "batch_norm_training": BatchNormTraining, "gru_streaming": GruStreaming, "lstm_streaming": LstmStreaming,
    "ema_weights": EmaWeights, "sgd_momentum": SgdMomentum, "counter": Counter, "ring_buffer": RingBuffer,
    "delay_line": DelayLine, "delay_through_view": DelayThroughView, "swap_buffers": SwapBuffers,
    "state_through_view": StateThroughView, "mutated_input": MutatedInput, "mutated_parameter": MutatedParameter,
    "old_state_returned": OldStateReturned, "shared_storage": SharedStorage, "cond_on_state": CondOnState, "no_inputs": NoInputs,
    "nothing_to_write_back": NothingToWriteBack, "conv_streaming": ConvStreaming, "running_mean": RunningMean,
    "split_state": SplitState, "mixed_dtypes": MixedDtypes, "decoder": Decoder,
}


def strip(program):
    """Takes out what tells of the machine: everything in the nodes' metadata but the shapes, and the sample inputs."""
    for module in program.graph_module.modules():
        if isinstance(module, torch.fx.GraphModule):
            for node in module.graph.nodes:
                node.meta = {k: v for k, v in node.meta.items() if k in ("val", "unbacked_bindings")}
            module.meta = {}
            module.recompile()
    program._example_inputs = None
    return program


def archive(name, program):
    buffer = io.BytesIO()
    torch.export.save(program, buffer)
    if name not in REPACKED:
        return buffer.getvalue()
    packed = io.BytesIO()
    with zipfile.ZipFile(buffer) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
        for item in old.infolist():
            new.writestr(zipfile.ZipInfo(item.filename), old.read(item), zipfile.ZIP_DEFLATED, 9)
    return packed.getvalue()


def build(name, out):
    model = MODELS[name]
    module = model()
    if name != "batch_norm_training":
        module.eval()
    exported = export(module, model.inputs, dynamic_shapes=getattr(model, "dynamic", None))

    config = EdgeCompileConfig(_check_ir_validity=False)  # batch norm in training mode is no core ATen op
    stages = {"exported": lambda: exported, "decomposed": exported.run_decompositions,
              "edge": lambda: to_edge(exported, compile_config=config).exported_program()}
    programs = {}
    for stage, make in stages.items():
        try:
            programs[stage] = make()
        except Exception as e:  # torch and ExecuTorch refuse with any kind of exception
            if (name, stage) not in REFUSED:
                raise
            print(f"{name}: no {stage} program ({REFUSED[name, stage]}): {str(e).splitlines()[0][:100]}", file=sys.stderr)
    for stage, program in programs.items():
        strip(program)
        suffix = "" if stage == "exported" else "." + stage
        (out / f"{name}{suffix}.txt").write_text(str(program))
        if stage != "edge":
            (out / f"{name}{suffix}.pt2").write_bytes(archive(name, program))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    with torch.no_grad():
        for name in arguments.names or MODELS:
            build(name, arguments.out)


if __name__ == "__main__":
    main()
