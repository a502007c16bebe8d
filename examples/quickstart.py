import torch

from somatize import Graph, Store
from somatize.study import Sampler, Space, best, search
from somatize.torch import Trainer, module, parameters


def trained(point):  # a generator of reports: a pruner stops it by not asking for the next one
    g = Graph.somatize(
        module(torch.nn.Linear(8, point["width"])) >> module(torch.nn.Linear(point["width"], 1))
    )
    t = Trainer(g, torch.nn.functional.mse_loss, torch.optim.Adam(parameters(g), lr=point["lr"]))
    for _ in range(8):
        x = torch.randn(64, 8)
        yield t.step((x, x.sum(1, keepdim=True)))


store, space = Store("out/quickstart"), Space().real("lr", 1e-4, 1e-1, log=True).int("width", 8, 64)
search(trained, store, space, Sampler.sobol(seed=0), study="widths", total=30, goal="min")
print(best(store, study="widths"))
