import torch
from somatize import Graph, Store
from somatize.study import Pruner, Sampler, Space, best, search
from somatize.torch import Trainer, module, parameters

def trained(point):
    g = Graph.somatize(module(torch.nn.Linear(8, point["width"])) >> module(torch.nn.Linear(point["width"], 1)))
    t = Trainer(g, objective=torch.nn.functional.mse_loss, optimizer=torch.optim.Adam(parameters(g), lr=point["lr"]))
    for _ in range(8):
        x = torch.randn(64, 8)
        yield t.step((x, x.sum(1, keepdim=True)))        # a generator of reports: the last one is the score

store = Store("out/quickstart")                          # a folder; the same line on eight machines is a fleet
space = Space().real("lr", 1e-4, 1e-1, log=True).int("width", 8, 64)
search(trained, store, space, Sampler.sobol(seed=0), study="widths", total=30, goal="min",
       pruner=Pruner.median(goal="min", warmup=4, startup=6))
print(best(store, study="widths"))
