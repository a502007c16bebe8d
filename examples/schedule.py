"""A rate that warms up, then falls along a cosine: a line after `step`, with the schedules of torch."""

import torch
from torch.nn.functional import mse_loss
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR

from somatize import Graph
from somatize.torch import Trainer, module, parameters


def main(steps=200, warmup=20):
    torch.manual_seed(0)
    g = Graph.somatize(module(torch.nn.Linear(8, 1)))
    optimizer = torch.optim.SGD(parameters(g), lr=0.1)
    t = Trainer(g, mse_loss, optimizer)
    up = LinearLR(optimizer, start_factor=0.1, total_iters=warmup)
    down = CosineAnnealingLR(optimizer, T_max=steps - warmup)
    schedule = SequentialLR(optimizer, [up, down], milestones=[warmup])

    losses, rates = [], []
    while t.n_steps < steps:
        x = torch.randn(64, 8)
        rates.append(schedule.get_last_lr()[0])
        losses.append(t.step((x, x.sum(1, keepdim=True))))
        schedule.step()

    print(f"rate {rates[0]:.3f} up to {max(rates):.3f}, then down to {rates[-1]:.1g}")
    print(f"loss {losses[0]:.3f} to {losses[-1]:.2g}")
    return losses, rates


if __name__ == "__main__":
    main()
