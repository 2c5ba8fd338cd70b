"""Ordinary modules with state, as people write them: filters, caches, optimisers, trackers, integrators, observers.

Each entry of MODULES: name -> (make module, inputs of one call). State starts at values that are not all zero where that matters.
GRAD_MODE names those that are exported with gradients on.
"""

import torch
from torch import nn


class Stateful(nn.Module):
    """A module of named buffers and a function step(self, ...)."""

    def __init__(self, step, parameters=None, **buffers):
        super().__init__()
        self.step = step
        for name, value in buffers.items():
            self.register_buffer(name, value)
        for name, value in (parameters or {}).items():
            setattr(self, name, nn.Parameter(value))

    def forward(self, *inputs):
        return self.step(self, *inputs)


def vector(n=4, start=0.5):
    return torch.arange(n, dtype=torch.float32) * 0.25 + start


MODULES = {}
GRAD_MODE = set()


def module(*inputs, grad=False, parameters=None, **buffers):
    """Registers a step function as a module with these inputs and buffers."""

    def register(step):
        MODULES[step.__name__] = (lambda: Stateful(step, {k: v.clone() for k, v in (parameters or {}).items()},
                                                   **{k: v.clone() for k, v in buffers.items()}), inputs)
        if grad:
            GRAD_MODE.add(step.__name__)
        return step

    return register


X = vector()
SCALAR = torch.tensor(0.0)


# ------------------------------------------------------------------------------------------------------------------- filters

@module(X, y=torch.zeros(4))
def exponential_filter(self, x):
    y = self.y * 0.9 + x * 0.1
    self.y.copy_(y)
    return y


@module(X, last=torch.zeros(4))
def difference_filter(self, x):
    y = x - self.last
    self.last.copy_(x)
    return y


@module(X, x1=torch.zeros(4), x2=torch.zeros(4), y1=torch.zeros(4), y2=torch.zeros(4))
def biquad(self, x):
    y = 0.2 * x + 0.4 * self.x1 + 0.2 * self.x2 - 0.3 * self.y1 - 0.1 * self.y2
    self.x2.copy_(self.x1)
    self.x1.copy_(x)
    self.y2.copy_(self.y1)
    self.y1.copy_(y)
    return y


@module(X, taps=torch.zeros(3, 4), weights=torch.tensor([[0.5], [0.3], [0.2]]))
def fir_filter(self, x):
    taps = torch.cat([x.unsqueeze(0), self.taps[:-1]])
    self.taps.copy_(taps)
    return (taps * self.weights).sum(0)


@module(X, window=torch.zeros(5, 4))
def median_filter(self, x):
    self.window.copy_(torch.cat([self.window[1:], x.view(1, 4)]))
    return self.window.topk(3, dim=0)[0][2]


@module(X, first=torch.zeros(4), second=torch.zeros(4))
def delay_two(self, x):
    y = self.second.clone()
    self.second.copy_(self.first)
    self.first.copy_(x)
    return y


@module(X, mean=torch.zeros(4), variance=torch.ones(4))
def kalman(self, z):
    predicted = self.variance + 0.1
    gain = predicted / (predicted + 0.5)
    self.mean.add_(gain * (z - self.mean))
    self.variance.copy_((1 - gain) * predicted)
    return self.mean * 1.0


@module(X, state=torch.zeros(4, 2))
def leaky_matrix(self, x):
    old = self.state.view(8)
    new = self.state * 0.5 + x.view(4, 1)
    y = old + new.reshape(8)
    self.state.copy_(new)
    return y


@module(torch.ones(1, 2, 6), tail=torch.zeros(1, 2, 2))
def causal_convolution(self, x):
    padded = torch.cat([self.tail, x], dim=2)
    self.tail.copy_(padded[:, :, -2:])
    return padded.unfold(2, 3, 1).sum(-1)


@module(X, b=torch.zeros(4), c=torch.zeros(4))
def lattice(self, x):
    f = x - 0.3 * self.b
    b = 0.3 * f + self.b
    self.c.copy_(self.b)
    self.b.copy_(b)
    return f + self.c


# -------------------------------------------------------------------------------------------------------------------- caches

@module(torch.ones(1, 2, 1, 4), torch.tensor([2]), k=torch.zeros(1, 2, 8, 4))
def key_cache(self, k, position):
    self.k[:, :, position] = k
    return (self.k * k).sum(-1)


@module(torch.ones(1, 2, 1, 4), torch.ones(1, 2, 1, 4), torch.tensor([1]), k=torch.zeros(1, 2, 6, 4), v=torch.zeros(1, 2, 6, 4))
def key_value_cache(self, q, kv, position):
    self.k.index_copy_(2, position, kv)
    self.v.index_copy_(2, position, kv * 2)
    return torch.softmax(q @ self.k.transpose(2, 3), -1) @ self.v


@module(X, samples=torch.zeros(6, 4), position=torch.zeros(1, dtype=torch.int64))
def ring(self, x):
    self.samples[self.position] = x
    self.position.copy_((self.position + 1) % 6)
    return self.samples.mean(0)


@module(X, cache=torch.zeros(5, 4))
def shift_cache(self, x):
    self.cache[:-1] = self.cache[1:].clone()
    self.cache[-1] = x
    return self.cache.sum(0)


@module(X, cache=torch.zeros(8, 4), length=torch.zeros(1, dtype=torch.int64))
def append_cache(self, x):
    self.cache.index_copy_(0, self.length % 8, x.view(1, 4))
    self.length.add_(1)
    return self.cache * 2


@module(X, front=torch.zeros(4), back=vector(4, 2.0))
def double_buffer(self, x):
    shown = self.front.clone()
    self.front.copy_(self.back)
    self.back.copy_(shown + x)
    return shown


@module(X, a=vector(), b=vector(4, 3.0))
def swap(self, x):
    a = self.a.clone()
    self.a.copy_(self.b)
    self.b.copy_(a)
    return a * x


@module(X, a=vector(), b=vector(4, 3.0), c=vector(4, -1.0))
def rotate_three(self, x):
    a = self.a.clone()
    self.a.copy_(self.b)
    self.b.copy_(self.c)
    self.c.copy_(a)
    return a + x


@module(torch.tensor([1, 0]), table=torch.zeros(4, 2))
def embedding_cache(self, index):
    hit = self.table[index]
    self.table.index_add_(0, index, torch.ones(2, 2))
    return hit


@module(X, stack=torch.zeros(3, 4), last=torch.zeros(4))
def undo_stack(self, x):
    self.stack.copy_(torch.cat([self.last.view(1, 4), self.stack[:2]]))
    self.last.copy_(x)
    return self.stack[0] + self.stack[2]


# ---------------------------------------------------------------------------------------------------------------- optimisers

@module(X, grad=True, parameters={"w": vector()}, momentum=torch.zeros(4))
def sgd_momentum(self, g):
    with torch.no_grad():
        self.momentum.mul_(0.9).add_(g)
        self.w.sub_(self.momentum, alpha=0.1)
    return self.w * 1.0


@module(X, parameters={"w": vector()}, m=torch.zeros(4), v=torch.zeros(4), t=torch.zeros(()))
def adam(self, g):
    with torch.no_grad():
        self.t.add_(1)
        self.m.lerp_(g, 0.1)
        self.v.mul_(0.99).addcmul_(g, g, value=0.01)
        step = (self.m / (1 - 0.9 ** self.t)) / ((self.v / (1 - 0.99 ** self.t)).sqrt() + 1e-6)
        self.w.sub_(0.1 * step)
    return self.w + 0


@module(X, w=vector(), accumulated=torch.zeros(4))
def adagrad(self, g):
    self.accumulated.add_(g * g)
    self.w.sub_(0.1 * g / (self.accumulated.sqrt() + 1e-6))
    return self.w * 2


@module(X, parameters={"w": vector()}, average=torch.zeros(4))
def weight_average(self, x):
    with torch.no_grad():
        self.average.mul_(0.9).add_(self.w, alpha=0.1)
    return x * self.w.detach() + self.average


@module(X, parameters={"w": vector()})
def parameter_update(self, g):
    before = self.w * 1.0
    with torch.no_grad():
        self.w.sub_(g)
    return before


@module(X, w=vector(), velocity=torch.zeros(4))
def nesterov(self, g):
    previous = self.velocity.clone()
    self.velocity.copy_(0.9 * self.velocity - 0.1 * g)
    self.w.add_(-0.9 * previous + 1.9 * self.velocity)
    return self.w.sum()


# ------------------------------------------------------------------------------------------------------------------ trackers

@module(X, count=torch.zeros((), dtype=torch.int64))
def counter(self, x):
    self.count.add_(1)
    return x * self.count


@module(X, low=torch.full((4,), 10.0), high=torch.full((4,), -10.0))
def range_tracker(self, x):
    self.low.copy_(torch.minimum(self.low, x))
    self.high.copy_(torch.maximum(self.high, x))
    return (x - self.low) / (self.high - self.low + 1)


@module(X, count=torch.zeros(()), mean=torch.zeros(4), m2=torch.zeros(4))
def welford(self, x):
    self.count.add_(1)
    delta = x - self.mean
    self.mean.add_(delta / self.count)
    self.m2.add_(delta * (x - self.mean))
    return self.m2 / self.count


@module(X, best=torch.full((), -100.0), where=torch.zeros((), dtype=torch.int64))
def best_so_far(self, x):
    value, index = x.max(0)
    better = value > self.best
    self.where.copy_(torch.where(better, index, self.where))
    self.best.copy_(torch.maximum(self.best, value))
    return self.best + self.where


@module(torch.tensor([0, 2, 2, 1]), histogram=torch.zeros(4, dtype=torch.int64))
def histogram(self, x):
    self.histogram.index_add_(0, x, torch.ones_like(x))
    return self.histogram * 2


@module(X, previous=torch.zeros(4), edges=torch.zeros(4, dtype=torch.int64))
def edge_detector(self, x):
    rising = (x > 0.8) & (self.previous <= 0.8)
    self.edges.add_(rising.to(torch.int64))
    self.previous.copy_(x)
    return rising.to(torch.float32)


@module(X, seen=torch.zeros(4, dtype=torch.bool))
def seen_mask(self, x):
    self.seen.logical_or_(x > 0.9)
    return self.seen.to(torch.float32)


@module(X, old=torch.zeros(4))
def returns_old_state(self, x):
    before = self.old.clone()
    self.old.copy_(x)
    return before, self.old * 3


@module(X, old=torch.zeros(4))
def returns_the_buffer(self, x):
    self.old.add_(x)
    return self.old


# --------------------------------------------------------------------------------------------------------------- integrators

@module(X, position=torch.zeros(4), velocity=torch.zeros(4))
def euler(self, force):
    self.position.add_(self.velocity * 0.1)
    self.velocity.add_(force * 0.1)
    return self.position * 1.0


@module(X, position=torch.zeros(4), velocity=torch.ones(4))
def leapfrog(self, force):
    half = self.velocity + 0.05 * force
    self.position.add_(0.1 * half)
    self.velocity.copy_(half + 0.05 * (force - self.position))
    return self.position + self.velocity


@module(torch.tensor(0.1), state=torch.tensor([1.0, 1.0, 1.0]))
def lorenz(self, dt):
    x, y, z = self.state.unbind()
    self.state.add_(dt * torch.stack([10 * (y - x), x * (28 - z) - y, x * y - 2.7 * z]))
    return self.state * 1.0


@module(X, integral=torch.zeros(4), last=torch.zeros(4))
def pid(self, error):
    self.integral.add_(error)
    output = error + 0.1 * self.integral + 0.5 * (error - self.last)
    self.last.copy_(error)
    return output


@module(torch.eye(3), field=torch.arange(9, dtype=torch.float32).reshape(3, 3))
def diffusion(self, source):
    f = self.field
    laplacian = f.roll(1, 0) + f.roll(-1, 0) + f.roll(1, 1) + f.roll(-1, 1) - 4 * f
    self.field.add_(0.1 * laplacian + source)
    return self.field.sum()


@module(X, phase=torch.zeros(4))
def oscillator(self, frequency):
    y = torch.sin(self.phase)
    self.phase.copy_((self.phase + frequency) % 6.28)
    return y


@module(seed=torch.tensor([5, 7]))
def generator(self):
    self.seed.copy_((self.seed * 13 + 7) % 97)
    return self.seed + 0


# ----------------------------------------------------------------------------------------------------------------- observers

@module(X, low=torch.zeros(()), high=torch.zeros(()), scale=torch.ones(()))
def quantisation_observer(self, x):
    self.low.copy_(torch.minimum(self.low, x.min()))
    self.high.copy_(torch.maximum(self.high, x.max()))
    self.scale.copy_((self.high - self.low) / 255)
    return torch.round(x / self.scale) * self.scale


@module(torch.ones(4, 3), mean=torch.zeros(3), variance=torch.ones(3))
def running_normalisation(self, x):
    self.mean.lerp_(x.mean(0), 0.1)
    self.variance.lerp_(x.var(0, unbiased=False), 0.1)
    return (x - self.mean) / (self.variance + 1e-5).sqrt()


@module(X, u=vector())
def power_iteration(self, x):
    v = self.u / self.u.norm()
    self.u.copy_(v * x)
    return (self.u * v).sum()


@module(X, hidden=torch.zeros(1, 4), memory=torch.zeros(1, 4))
def gated_cell(self, x):
    gate = torch.sigmoid(x + self.hidden)
    self.memory.copy_(gate * self.memory + (1 - gate) * torch.tanh(x))
    self.hidden.copy_(gate * torch.tanh(self.memory))
    return self.hidden.view(4) + 1


@module(X, a=vector(), b=torch.zeros(4))
def saves_old_through_view(self, x):
    old = self.a.view(2, 2)
    new = self.a + x
    self.b.copy_(old.reshape(4))
    self.a.copy_(new)
    return self.b * 2


@module(X, short=torch.zeros(4, dtype=torch.float16), total=torch.zeros(4))
def mixed_precision(self, x):
    y = x + self.short
    self.short.copy_(y.to(torch.float16))
    self.total.add_(y)
    return y


# ------------------------------------------------------------------------------------------------------------ mutated inputs

@module(vector(), X)
def input_accumulator(self, state, x):
    state.add_(x)
    return state * 2


@module(vector(), vector(4, 2.0), X)
def input_pair(self, a, b, x):
    b.copy_(a)
    a.copy_(x)
    return a + b


@module(torch.zeros(6, 4), X)
def input_cache(self, cache, x):
    cache[2] = x
    return (cache * x).sum(1)


@module(vector(), X, total=torch.zeros(4))
def input_and_buffer(self, state, x):
    y = state - x
    self.total.add_(state)
    state.copy_(y * 0.5)
    return y * self.total


def eval_module(name):
    """The module of an entry, and its inputs, both new."""
    make, inputs = MODULES[name]
    return make(), tuple(i.clone() for i in inputs)


def export(name):
    """The ExportedProgram of an entry."""
    made, inputs = eval_module(name)
    with torch.set_grad_enabled(name in GRAD_MODE):
        return torch.export.export(made, inputs)
