"""Early stopping: train until the validation loss stops improving, then take the best weights back."""

import math

import torch
from torch.nn.functional import mse_loss

from somatize import Graph
from somatize.torch import Trainer, export, load, module, parameters


def batches(how_many, noise=0.5):
    """A line with noise, (B, 8) to (B, 1): few samples, so that a wide network learns the noise by heart."""
    for _ in range(how_many):
        x = torch.randn(16, 8)
        yield x, x.sum(1, keepdim=True) + noise * torch.randn(16, 1)


def main(patience=5):
    torch.manual_seed(0)
    g = Graph.somatize(
        module(torch.nn.Sequential(torch.nn.Linear(8, 256), torch.nn.ReLU())).named("body")
        >> module(torch.nn.Linear(256, 1)).named("head")
    )
    t = Trainer(g, mse_loss, torch.optim.Adam(parameters(g), lr=1e-2))
    train, valid = list(batches(4)), list(batches(16))

    best, kept, waited, curve = math.inf, export(g), 0, []
    while waited < patience:
        for batch in train:
            t.step(batch)
        curve.append(t.evaluate(valid))
        if curve[-1] < best:
            best, kept, waited = curve[-1], export(g), 0
        else:
            waited += 1
    load(g, kept)

    print(f"stopped after {len(curve)} epochs; the best was {curve.index(best)}, at {best:.3f}")
    return curve, t.evaluate(valid)


if __name__ == "__main__":
    main()
