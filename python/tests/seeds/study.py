"""The study document, cell by cell (`# %%` starts one), as its reader would type it."""

# %%
import math
import tempfile

import torch

import somatize.torch  # noqa: F401
from somatize import Graph, Node, Opaque, Store
from somatize.study import (
    DONE,
    PRUNED,
    Pruner,
    Sampler,
    Space,
    coordinates,
    curves,
    finished,
    importance,
    influence,
    report,
    table,
    take,
    trials,
)
from somatize.torch import Trainer, parameters

torch.manual_seed(0)

# %%
space = (
    Space()
    .real("lr", 1e-4, 1e-1, log=True)
    .int("width", 8, 64)
    .choice("opt", ["adam", "sgd"])
)
space

# %%
sampler = Sampler.sobol(seed=0)
for trial in range(4):
    print(trial, sampler.ask(space, trial, []))

# %%
truth = torch.randn(8, 1)


def batch(how_many=64):
    x = torch.randn(how_many, 8)
    return x, x @ truth + 0.1 * torch.randn(how_many, 1)


class Body(Node):
    def __init__(self, width):
        self.net = torch.nn.Sequential(torch.nn.Linear(8, width), torch.nn.ReLU())

    def forward(self, x, ctx):
        return Opaque(self.net(x))

    def parameters(self):
        return list(self.net.parameters())


class Head(Node):
    def __init__(self, width):
        self.out = torch.nn.Linear(width, 1)

    def forward(self, x, ctx):
        return Opaque(self.out(x))

    def parameters(self):
        return list(self.out.parameters())


def trained(point, epochs, pruner=None, so_far=()):
    """One trial: builds what the point says, trains it, reports as it goes."""
    g = Graph.somatize(Body(point["width"]).named("body") >> Head(point["width"]).named("head"))
    make = torch.optim.Adam if point["opt"] == "adam" else torch.optim.SGD
    t = Trainer(g, objective=torch.nn.functional.mse_loss,
                optimizer=make(parameters(g), lr=point["lr"]))
    said = []
    for epoch in range(epochs):
        said.append(sum(t.step(batch()) for _ in range(10)) / 10)
        # A pruner **stops nothing**: it answers, and the loop stops calling.
        if pruner is not None and (why := pruner.verdict(said, list(so_far))):
            return said, why
    return said, None

# %%
STUDY = "widths"
store = Store(tempfile.mkdtemp())
me = "this machine"
pruner = Pruner.median(goal="min", warmup=4, startup=6)

for trial in range(30):
    point = sampler.ask(space, trial, finished(store, space, study=STUDY))
    if not take(store, point, study=STUDY, trial=trial, me=me, goal="min"):
        continue  # somebody else has that one
    # `curves` is the one reader that pays: a curve grows, so it lives in the
    # blob and this is a scan plus a fetch per trial. Everything else is a scan.
    said, why = trained(point, epochs=8, pruner=pruner, so_far=curves(store, study=STUDY))
    report(store, point, said, study=STUDY, trial=trial, me=me,
           state=PRUNED if why else DONE, because=why, goal="min")

seen = trials(store, space, study=STUDY)
print(len(seen), "trials,", sum(one["state"] == PRUNED for one in seen), "pruned")

# %%
table(store, space, study=STUDY)

# %%
importance(store, space, study=STUDY)

# %%
influence(store, space, study=STUDY)

# %%
coordinates(store, space, study=STUDY)
