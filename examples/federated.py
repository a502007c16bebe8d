"""Federated averaging over a store: the clients' data stay where they are, and there is no server to average.

McMahan et al. 2017, "Communication-Efficient Learning of Deep Networks from Decentralized Data", algorithm 1.
Whoever finds a round complete claims the averaging; exactly one client gets it. Should it die over it, the
next claims the next attempt: the mean is the same whoever takes it.

    python examples/federated.py out/federated
"""

import itertools
import multiprocessing
import sys
import time

import torch
from torch.nn.functional import mse_loss

from somatize import Graph, Store
from somatize.torch import Trainer, export, fedavg, keep, load, module, parameters, recall

SIZES = [64, 128, 320]  # samples of each client
STEPS = 5


def network():
    torch.manual_seed(0)  # the same start for all
    body = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU())
    return Graph.somatize(module(body).named("body") >> module(torch.nn.Linear(16, 1)).named("head"))


def samples(client):
    """A client's own data: its inputs lie around a place of its own."""
    rng = torch.Generator().manual_seed(client)
    x = torch.randn(SIZES[client], 4, generator=rng) + client - 1
    return x, x.square().sum(1, keepdim=True) / 4


def complete(store, turn):
    there = set(store.names(f"federated/{turn}/client/"))
    return there == {f"federated/{turn}/client/{each}" for each in range(len(SIZES))}


def client(where, me, turns=4, patience_secs=60.0):
    torch.set_num_threads(1)
    store, g = Store(where), network()
    data = samples(me)

    turn = 0
    while turn < turns:
        if turn:
            load(g, recall(store, f"federated/{turn}/mean"))
        t = Trainer(g, mse_loss, torch.optim.SGD(parameters(g), lr=0.02))
        for _ in range(STEPS):
            t.step(data)
        keep(store, f"federated/{turn}/client/{me}", export(g))

        for attempt in itertools.count():
            while not complete(store, turn):
                time.sleep(0.02)
            mine = store.claim(f"federated/{turn}/averaging/{attempt}", store.put(str(me).encode()))
            if mine:
                every = range(len(SIZES))
                states = [recall(store, f"federated/{turn}/client/{each}") for each in every]
                keep(store, f"federated/{turn + 1}/mean", fedavg(states, SIZES), metadata={"by": str(me)})
            waited = time.monotonic()
            while not (done := store.names(f"federated/{turn + 1}/mean")):
                if time.monotonic() - waited > patience_secs:
                    break  # whoever claimed it has died over it
                time.sleep(0.02)
            if done:
                break
        turn += 1


def loss(state):
    """The loss over everybody's data, which no client could compute."""
    g = network()
    load(g, state)
    t = Trainer(g, mse_loss, torch.optim.SGD(parameters(g), lr=0.0))
    return t.evaluate([samples(each) for each in range(len(SIZES))])


def main(where="out/federated", turns=4, patience_secs=60.0):
    spawn = multiprocessing.get_context("spawn")
    clients = [
        spawn.Process(target=client, args=(where, me, turns, patience_secs)) for me in range(len(SIZES))
    ]
    for each in clients:
        each.start()
    for each in clients:
        each.join()
    store = Store(where)
    losses = [loss(recall(store, f"federated/{turn}/mean")) for turn in range(1, turns + 1)]
    by = [store.metadata(f"federated/{turn}/mean")["by"] for turn in range(1, turns + 1)]
    print(f"loss over everybody's data by round: {', '.join(f'{each:.3f}' for each in losses)}")
    print(f"averaged by clients {', '.join(by)}")
    return store, losses


if __name__ == "__main__":
    main(*sys.argv[1:])
