"""A run that can be killed at any moment and started again: same command, same losses.

python examples/checkpoint.py out/checkpoint
"""

import sys

import torch
from torch.nn.functional import mse_loss

from somatize import Graph, Store
from somatize.torch import Trainer, export, keep, load, module, parameters, recall

NAME = "run/latest"


def main(where="out/checkpoint", epochs=8, stop_after=None):
    """`stop_after` epochs the run ends, as if it had been killed."""
    torch.manual_seed(0)
    body = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Dropout(0.2))
    g = Graph.somatize(module(body).named("body") >> module(torch.nn.Linear(32, 1)).named("head"))
    t = Trainer(g, mse_loss, torch.optim.Adam(parameters(g), lr=1e-2))
    store, losses = Store(where), []

    if NAME in store.names():
        kept = recall(store, NAME)
        load(g, kept["graph"])
        t.optimizer.load_state_dict(kept["optimizer"])
        torch.set_rng_state(kept["rng"])  # dropout and the data go on where they were
        losses = kept["losses"]
        print(f"going on after epoch {len(losses)}")

    while len(losses) < epochs and len(losses) != stop_after:
        xs = torch.randn(10, 16, 8)
        losses.append(sum(t.step((x, x.sum(1, keepdim=True))) for x in xs) / len(xs))
        state = {"graph": export(g), "optimizer": t.optimizer.state_dict()}
        keep(store, NAME, {**state, "rng": torch.get_rng_state(), "losses": losses})
        print(f"epoch {len(losses)}: {losses[-1]:.4f}")
    return losses


if __name__ == "__main__":
    main(*sys.argv[1:])
