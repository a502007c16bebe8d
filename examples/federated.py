"""Federated averaging over a store: the clients' data stay where they are, and there is no server to average.

McMahan et al. 2017, "Communication-Efficient Learning of Deep Networks from Decentralized Data", algorithm 1.
A round is: everybody starts from the same mean, takes a few steps on its own data, and delivers its weights;
whoever finds the round complete claims the averaging, and exactly one client gets it. Should it die over it,
the next attempt is claimed. A client that does not deliver is waited for, then left out; one that starts anew
joins the round that is on.

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


def trained(g, data):
    """What a client does with the weights it is given: a few steps on its own data."""
    t = Trainer(g, mse_loss, torch.optim.SGD(parameters(g), lr=0.02))
    for _ in range(STEPS):
        t.step(data)
    return export(g)


def there(store, name):
    return name in store.names(name)


def delivered(store, turn):
    """The clients whose weights of this round are there."""
    return [each for each in range(len(SIZES)) if there(store, f"federated/{turn}/client/{each}")]


def complete(store, turn):
    return len(delivered(store, turn)) == len(SIZES)


def wait(secs, until, *given):
    """Until something holds, but no longer than that; says whether it does."""
    began = time.monotonic()
    while not (holds := until(*given)) and time.monotonic() - began < secs:
        time.sleep(0.02)
    return holds


def average(store, turn, me):
    """The mean of what was delivered, each client weighing its samples. The first mean of a round stands."""
    who = delivered(store, turn)
    states = [recall(store, f"federated/{turn}/client/{each}") for each in who]
    digest = keep(store, f"federated/{turn}/averaged/{me}", fedavg(states, [SIZES[each] for each in who]))
    store.claim(f"federated/{turn + 1}/mean", digest, {"by": str(me), "of": str(who)})


def client(where, me, turns=4, patience_secs=60.0):
    torch.set_num_threads(1)
    store, g, data = Store(where), network(), samples(me)

    turn = 0
    while there(store, f"federated/{turn + 1}/mean"):
        turn += 1  # it was here before, and died
    while turn < turns:
        if turn:
            load(g, recall(store, f"federated/{turn}/mean"))
        keep(store, f"federated/{turn}/client/{me}", trained(g, data))

        for attempt in itertools.count():
            wait(patience_secs, complete, store, turn)  # and go on without whoever does not come
            if store.claim(f"federated/{turn}/averaging/{attempt}", store.put(str(me).encode())):
                average(store, turn, me)
            if wait(patience_secs, there, store, f"federated/{turn + 1}/mean"):
                break  # else whoever claimed it has died over it
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
    losses = []
    for turn in range(1, turns + 1):
        mean = f"federated/{turn}/mean"
        losses.append(loss(recall(store, mean)))
        said = store.metadata(mean)
        print(f"round {turn}: loss over all data {losses[-1]:.3f}, the mean of {said['of']} by {said['by']}")
    return store, losses


if __name__ == "__main__":
    main(*sys.argv[1:])
