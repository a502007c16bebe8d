"""`Trainer.step` and `Trainer.fit` against the loop written by hand, and against that loop less its checks.

Each round runs the contenders one after another on the same batches, so whatever else the machine does hits
them alike; the number is the median over rounds of the ratio within a round. Must: at most 1.02 for the MLP.

    python benches/compare/trainer.py            the numbers
    python benches/compare/trainer.py --smoke    once, quickly
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F

from somatize import Graph, Node
from somatize.torch import Trainer, module, parameters

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


def by_hand(device: str, make) -> Callable[[], list[float]]:
    nets, batches = make()
    batches = [(x.to(device), y.to(device)) for x, y in batches]
    net = nn.Sequential(*nets).to(device)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)

    def epoch():
        history = []
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            history.append(loss.item())
        return history

    return epoch


def ours(device: str, make, *, node, how: str, checked: bool = True) -> Callable[[], list[float]]:
    nets, batches = make()
    batches = [(x.to(device), y.to(device)) for x, y in batches]
    first, second = (node(net) for net in nets)
    g = (
        Graph.somatize(first.on(device) >> second.on(device))
        if device != "cpu"
        else Graph.somatize(first >> second)
    )
    g.forward(batches[0][0])
    t = Trainer(g, F.cross_entropy, torch.optim.Adam(parameters(g), lr=1e-3))
    if not checked:
        t._watch = lambda first: None  # what each step looks at, left out
    if how == "fit":
        return lambda: t.fit(batches).history
    return lambda: [t.step(batch) for batch in batches]


def timed(run: Callable[[], object], clock: Callable[[], float]) -> float:
    began = clock()
    run()
    return clock() - began


def ratios(
    base: Callable[[], object],
    others: dict[str, Callable[[], object]],
    rounds: int,
    clock: Callable[[], float],
) -> dict[str, float]:
    """The median over rounds of each contender's time over the base's, both within the round."""
    every = {"": base, **others}
    for run in every.values():
        run()
    seen: dict[str, list[float]] = {name: [] for name in others}
    bare = []
    for at in range(rounds):
        order = list(every) if at % 2 else list(reversed(every))
        took = {name: timed(every[name], clock) for name in order}
        bare.append(took[""])
        for name in others:
            seen[name].append(took[name] / took[""])
    return {"": min(bare), **{name: statistics.median(some) for name, some in seen.items()}}


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
        build = lambda how, **more: ours(given.device, make, how=how, **{"node": Layer, **more})  # noqa: B023, E731
        found = ratios(
            by_hand(given.device, make),
            {
                "again": by_hand(given.device, make),  # the noise: the same loop a second time
                "step": build("step"),
                "fit": build("fit"),
                "step, module nodes": build("step", node=module),
                "step, unchecked": build("step", checked=False),
            },
            2 if given.smoke else given.rounds,
            # One thread, so the time the process had is the time it took, less what others took from it.
            time.process_time if given.device == "cpu" else time.perf_counter,
        )
        answer[name] = found
        if given.json:
            continue
        print(f"{name}: {found.pop('') / N_BATCHES * 1e6:.0f} µs a step by hand; times that:")
        for how, ratio in found.items():
            print(f"  {how:20} {ratio:.3f}")
    if given.json:
        print(json.dumps(answer))
    else:
        print(f"must: step and fit of the mlp at most {MUST}")


if __name__ == "__main__":
    main()
