"""Mixed precision: the forward pass in half the bits, the weights in full.

float16 needs its loss scaled, or small gradients vanish; `loss` is the seam where the scaler comes in. The
scaler leaves out a step whose gradients are infinite, so it takes the step, and clearing is a line here too.
bfloat16 needs none of this: `with torch.autocast(device, torch.bfloat16): t.fit(data)` is all.
"""

import torch
from torch.nn.functional import cross_entropy

from somatize import Graph
from somatize.torch import Trainer, module, parameters


def main(steps=60):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    half = torch.float16 if device == "cuda" else torch.bfloat16
    torch.manual_seed(0)
    body = torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.ReLU())
    g = Graph.somatize(
        module(body).on(device).named("body") >> module(torch.nn.Linear(64, 2)).on(device).named("head")
    )
    t = Trainer(g, cross_entropy, torch.optim.Adam(parameters(g), lr=1e-2))
    scaler = torch.amp.GradScaler(device, enabled=half == torch.float16)

    losses = []
    while len(losses) < steps:
        x = torch.randn(64, 8)
        with torch.autocast(device, half):
            loss = t.loss((x, (x.sum(1) > 0).long()))
        scaler.scale(loss).backward()
        scaler.step(t.optimizer)  # in place of `t.update()`
        scaler.update()
        t.optimizer.zero_grad()
        losses.append(loss.item())

    with torch.no_grad(), torch.autocast(device, half):
        dtype = g.forward(torch.randn(1, 8)).dtype
    print(f"{dtype} forward, {parameters(g)[0].dtype} weights: loss {losses[0]:.3f} to {losses[-1]:.3f}")
    return losses, dtype


if __name__ == "__main__":
    main()
