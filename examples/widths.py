"""The study, written as the loop it is: ask, take, train, report.

Start this script on any number of machines with the same folder: `python examples/widths.py /shared/widths`.
"""

import sys
import uuid

import torch

from somatize import Graph, Node, Store
from somatize.study import DONE, PRUNED, Pruner, Sampler, Space, best, curves, finished, report, take, trials
from somatize.torch import Trainer, parameters

STUDY = "widths"
TOTAL = 30
SPACE = Space().real("lr", 1e-4, 1e-1, log=True).int("width", 8, 64).choice("opt", ["adam", "sgd"])


class Body(Node):
    def __init__(self, width):
        self.net = torch.nn.Sequential(torch.nn.Linear(8, width), torch.nn.ReLU())

    def forward(self, x, ctx):
        return self.net(x)

    def parameters(self):
        return list(self.net.parameters())


class Head(Node):
    def __init__(self, width):
        self.out = torch.nn.Linear(width, 1)

    def forward(self, x, ctx):
        return self.out(x)

    def parameters(self):
        return list(self.out.parameters())


def batches(seed=0):
    """Endless `(input (64, 8), target (64, 1))` of one noisy linear truth."""
    rng = torch.Generator().manual_seed(seed)
    truth = torch.randn(8, 1, generator=rng)
    while True:
        x = torch.randn(64, 8, generator=rng)
        yield x, x @ truth + 0.1 * torch.randn(64, 1, generator=rng)


def trained(point, epochs=8):
    """Yields the mean loss of ten steps, once per epoch."""
    g = Graph.somatize(Body(point["width"]).named("body") >> Head(point["width"]).named("head"))
    make = torch.optim.Adam if point["opt"] == "adam" else torch.optim.SGD
    t = Trainer(g, objective=torch.nn.functional.mse_loss, optimizer=make(parameters(g), lr=point["lr"]))
    data = batches()
    for _ in range(epochs):
        yield sum(t.step(next(data)) for _ in range(10)) / 10


def main(where="out/widths"):
    store = Store(where)
    sampler = Sampler.sobol(seed=0)
    pruner = Pruner.median(goal="min", warmup=4, startup=6)
    me = uuid.uuid4().hex

    for trial in range(TOTAL):
        point = sampler.ask(SPACE, trial, finished(store, SPACE, study=STUDY))
        if not take(store, point, study=STUDY, trial=trial, me=me, goal="min"):
            continue  # somebody else has that one
        said, why = [], None
        for value in trained(point):
            said.append(value)
            report(store, point, said, study=STUDY, trial=trial, me=me)
            if why := pruner.verdict(said, curves(store, study=STUDY)):
                break  # the pruner stops nothing: the loop does, by not asking for the next value
        report(
            store,
            point,
            said,
            study=STUDY,
            trial=trial,
            me=me,
            state=PRUNED if why else DONE,
            because=why,
            goal="min",
        )

    seen = trials(store, SPACE, study=STUDY)
    print(len(seen), "trials,", sum(one["state"] == PRUNED for one in seen), "pruned")
    print(best(store, study=STUDY))


if __name__ == "__main__":
    main(*sys.argv[1:])
