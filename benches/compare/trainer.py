"""`Trainer.step` and `Trainer.fit` against the loop written by hand.

Each round runs the contenders one after another, in an order drawn anew, over the same weights and batches,
so whatever else the machine does hits them alike; the number is the median over rounds of the ratio within a
round. `again` is the loop by hand a second time: what it is off 1 is noise. Must: at most 1.02 for the MLP.

    python benches/compare/trainer.py            the numbers
    python benches/compare/trainer.py --smoke    once, quickly
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from somatize import Graph, Node
from somatize.torch import Trainer, module

MUST = 1.02
N_BATCHES = 20


class Layer(Node):
    """The least a node can be, for a network that differs from the plain one by its edges alone."""

    def __init__(self, net: nn.Module):
        self.net = net

    def forward(self, x, ctx):
        return self.net(x)

    def parameters(self):
        return self.net.parameters()


def mlp():
    """Two layers, 64 pixels, batches of 64: the size of scikit-learn's digits."""
    nets = [nn.Sequential(nn.Linear(64, 128), nn.ReLU()), nn.Linear(128, 10)]
    return nets, [(torch.randn(64, 64), torch.randint(0, 10, (64,))) for _ in range(N_BATCHES)]


def wide():
    """Two layers of 512, batches of 64."""
    nets = [nn.Sequential(nn.Linear(512, 512), nn.ReLU()), nn.Linear(512, 10)]
    return nets, [(torch.randn(64, 512), torch.randint(0, 10, (64,))) for _ in range(N_BATCHES)]


def cnn():
    """Two convolutions with batch norm, batches of 64 pictures of 16 by 16."""
    body = nn.Sequential(
        nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 16, 3), nn.ReLU(), nn.Flatten()
    )
    nets = [body, nn.Linear(16 * 144, 10)]
    return nets, [(torch.randn(64, 1, 16, 16), torch.randint(0, 10, (64,))) for _ in range(N_BATCHES)]


NETWORKS = {each.__name__: each for each in (mlp, wide, cnn)}


def contenders(device: str, make: Callable[[], Any]) -> dict[str, Callable[[], object]]:
    """An epoch by hand and by the Trainer, all over the same weights, optimizer and batches.

    Two networks of one size differ in speed by where their memory lies, more than the loops do.
    """
    nets, batches = make()
    batches = [(x.to(device), y.to(device)) for x, y in batches]
    net = nn.Sequential(*nets).to(device)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)

    def by_hand():
        history = []
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            history.append(loss.item())
        return history

    def cleared_by_hand():
        history = []
        for x, y in batches:
            for group in optimizer.param_groups:
                for each in group["params"]:
                    each.grad = None
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            history.append(loss.item())
        return history

    def trainer(node):
        first, second = (node(each) for each in nets)
        on = device != "cpu"
        g = Graph.somatize(first.on(device) >> second.on(device) if on else first >> second)
        g.forward(batches[0][0])
        return Trainer(g, F.cross_entropy, optimizer)

    ours, of_modules = trainer(Layer), trainer(module)
    return {
        "": by_hand,
        "again": by_hand,  # the noise: the same loop a second time
        "by hand, no zero_grad": cleared_by_hand,  # as the Trainer clears: without a label for the profiler
        "step": lambda: [ours.step(batch) for batch in batches],
        "fit": lambda: ours.fit(batches).history,
        "step, module nodes": lambda: [of_modules.step(batch) for batch in batches],
    }


def timed(run: Callable[[], object], clock: Callable[[], float]) -> float:
    began = clock()
    run()
    return clock() - began


def ratios(
    every: dict[str, Callable[[], object]], rounds: int, clock: Callable[[], float]
) -> dict[str, float]:
    """The median over rounds of each contender's time over the first's, both within the round."""
    for run in every.values():
        run()
    order, took = list(every), {name: [] for name in every}
    rng = random.Random(0)
    for _ in range(rounds):
        rng.shuffle(order)
        for name in order:
            took[name].append(timed(every[name], clock))
    bare = took.pop("")
    ratio = lambda some: statistics.median(a / b for a, b in zip(some, bare, strict=True))  # noqa: E731
    return {"": min(bare), **{name: ratio(some) for name, some in took.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="once, quickly")
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", choices=NETWORKS, help="one of the networks")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(1)
    answer = {}
    for name, make in NETWORKS.items():
        if given.only not in (None, name):
            continue
        # On the CPU one thread: the time the process had is the time it took, less what others took from it.
        clock = time.process_time if given.device == "cpu" else time.perf_counter
        found = ratios(contenders(given.device, make), 2 if given.smoke else given.rounds, clock)
        answer[name] = found
        if given.json:
            continue
        print(f"{name}: {found.pop('') / N_BATCHES * 1e6:.0f} µs a step by hand; times that:")
        for how, ratio in found.items():
            print(f"  {how:22} {ratio:.3f}")
    if given.json:
        print(json.dumps(answer))
    else:
        print(f"must: step and fit of the mlp at most {MUST}")


if __name__ == "__main__":
    main()
