"""Population based training over a store: workers copy each other's weights, with no server between.

Jaderberg et al. 2017, "Population Based Training of Neural Networks". After each round a member that is among
the worst takes the weights, the optimizer and the learning rate of one of the best (exploit) and changes the
rate (explore). A member is a process that knows a folder and its own number; start them on as many machines
as you like:

    python examples/pbt.py out/pbt
"""

import math
import multiprocessing
import random
import sys
import time

import torch
from torch.nn.functional import mse_loss

from somatize import Graph, Store
from somatize.torch import Trainer, export, keep, load, module, parameters, recall

RATES = [3e-2, 1e-3, 1e-7]  # where the members begin: the last gets nowhere on its own
QUANTILE = 0.25


def batches(seed, how_many=20):
    """The same weights to be found by all, with samples of one's own."""
    rng = torch.Generator().manual_seed(seed)
    for _ in range(how_many):
        x = torch.randn(32, 8, generator=rng)
        yield x, x.cumsum(1)[:, -1:]


def scores(store, turn):
    """The members that have reached `turn`, best first, with their scores; read without touching a weight."""
    seen = {name: store.metadata(name) for name in store.names("pbt/")}
    reached = {name: float(said["score"]) for name, said in seen.items() if int(said["turn"]) >= turn}
    return sorted(reached.items(), key=lambda one: (math.isnan(one[1]), one[1]))  # who diverged is last


def member(where, me, turns=6, patience_secs=60.0):
    torch.manual_seed(me)
    torch.set_num_threads(1)
    store, rng = Store(where), random.Random(me)
    body = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh())
    g = Graph.somatize(module(body).named("body") >> module(torch.nn.Linear(16, 1)).named("head"))
    t = Trainer(g, mse_loss, torch.optim.Adam(parameters(g), lr=RATES[me]))
    valid, copied = list(batches(seed=1000)), []

    turn = 0
    while turn < turns:
        for batch in batches(seed=me * turns + turn):
            t.step(batch)
        score = t.evaluate(valid)
        words = {"turn": str(turn), "score": str(score), "lr": str(t.optimizer.param_groups[0]["lr"])}
        state = {"graph": export(g), "optimizer": t.optimizer.state_dict(), "copied": copied}
        keep(store, f"pbt/{me}", state, metadata=words)

        waited = time.monotonic()  # for the others, but not for those who died
        while len(ranked := scores(store, turn)) < len(RATES) and time.monotonic() - waited < patience_secs:
            time.sleep(0.02)
        names, few = [name for name, _ in ranked], max(1, math.floor(QUANTILE * len(ranked)))
        best, worst = names[:few], names[few:][-few:]  # worst: nobody, where one is left
        if turn < turns - 1 and f"pbt/{me}" in worst:
            better = rng.choice(best)
            kept = recall(store, better)  # exploit
            load(g, kept["graph"])
            t.optimizer.load_state_dict(kept["optimizer"])
            for group in t.optimizer.param_groups:
                group["lr"] *= rng.choice([0.8, 1.25])  # explore
            copied = [*copied, f"{better} after turn {turn}"]
        turn += 1


def main(where="out/pbt", turns=6):
    spawn = multiprocessing.get_context("spawn")
    members = [spawn.Process(target=member, args=(where, me, turns)) for me in range(len(RATES))]
    for each in members:
        each.start()
    for each in members:
        each.join()
    store = Store(where)
    for name, score in scores(store, 0):
        copied = ", ".join(recall(store, name)["copied"]) or "nobody"
        print(f"{name}: loss {score:.4f}, lr {float(store.metadata(name)['lr']):.1e}, copied {copied}")
    return store


if __name__ == "__main__":
    main(*sys.argv[1:])
