"""Gradient accumulation and clipping: `backward` several times, a line on the gradients, then `update`."""

import torch
from torch.nn.functional import mse_loss
from torch.nn.utils import clip_grad_norm_

from somatize import Graph
from somatize.torch import Trainer, module, parameters


def network():
    torch.manual_seed(0)
    return Graph.somatize(
        module(torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.Tanh())).named("body")
        >> module(torch.nn.Linear(32, 1)).named("head")
    )


def main(steps=50, parts=4, max_norm=1.0):
    """`parts` small batches a step; their mean gradient is that of one batch as big as all of them."""
    g = network()
    t = Trainer(g, mse_loss, torch.optim.SGD(parameters(g), lr=0.1))

    losses, norms = [], []
    while t.n_steps < steps:
        x = torch.randn(16 * parts, 8)
        y = x.sum(1, keepdim=True)
        total = 0.0
        for part in zip(x.chunk(parts), y.chunk(parts), strict=True):
            loss = t.loss(part) / parts
            loss.backward()
            total += loss.item()
        norms.append(clip_grad_norm_(parameters(g), max_norm).item())
        t.update()
        losses.append(total)

    print(f"gradient norm up to {max(norms):.2f}, and {max_norm} after clipping")
    print(f"loss {losses[0]:.3f} to {losses[-1]:.3f}")
    return losses, norms


if __name__ == "__main__":
    main()
