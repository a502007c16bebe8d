"""Each example runs, in seconds, and does what it says."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def example(monkeypatch):
    """An example as a module, under the name by which processes it starts find it too."""
    monkeypatch.syspath_prepend(str(EXAMPLES))

    def load(name):
        monkeypatch.delitem(sys.modules, name, raising=False)
        return import_module(name)

    return load


def test_early_stopping_stops_after_its_patience_and_takes_the_best_weights_back(example):
    curve, final = example("early_stopping").main(patience=5)
    assert final == min(curve)
    assert curve.index(min(curve)) == len(curve) - 1 - 5
    assert curve[-1] > min(curve)


def test_schedule_warms_up_and_then_falls(example):
    losses, rates = example("schedule").main(steps=200, warmup=20)
    assert rates[0] < rates[10] < max(rates)
    assert all(a >= b for a, b in pairwise(rates[20:]))
    assert rates[-1] < 1e-3
    assert losses[-1] < 1e-2 * losses[0]


def test_accumulation_gives_the_gradients_of_one_big_batch_and_clips_them(example):
    losses, norms = example("accumulation").main(steps=30, parts=4)
    whole, big = example("accumulation").main(steps=30, parts=1)
    assert len(losses) == len(whole) == 30
    assert max(norms) > 1.0, "nothing was clipped"
    assert losses[-1] < losses[0]
    assert big[0] != norms[0], "other samples: 64 and 16 a step"


def test_accumulated_parts_equal_the_whole(example, monkeypatch):
    import torch

    accumulation = example("accumulation")
    drawn = torch.randn(10, 64, 8)
    seen = []
    for parts in (1, 4):
        turn = iter(drawn)
        monkeypatch.setattr(torch, "randn", lambda *shape, turn=turn: next(turn))
        seen.append(accumulation.main(steps=10, parts=parts)[0])
    assert seen[0] == pytest.approx(seen[1], rel=1e-4)


def test_amp_runs_the_forward_pass_in_half_and_learns(example):
    import torch

    losses, dtype = example("amp").main(steps=60)
    assert dtype in (torch.bfloat16, torch.float16)
    assert losses[-1] < 0.5 * losses[0]


@pytest.mark.parametrize("stop_after", [1, 5])
def test_checkpoint_resumed_equals_no_interruption_bit_for_bit(example, tmp_path, stop_after):
    main = example("checkpoint").main
    whole = main(str(tmp_path / "whole"), epochs=8)
    main(str(tmp_path / "parts"), epochs=8, stop_after=stop_after)
    assert main(str(tmp_path / "parts"), epochs=8) == whole
    assert len(whole) == 8


def test_pbt_members_in_processes_of_their_own_copy_the_best(example, tmp_path):
    from somatize.torch import recall

    pbt = example("pbt")
    store = pbt.main(str(tmp_path / "pbt"), turns=3)
    assert store.names("pbt/") == [f"pbt/{me}" for me in range(len(pbt.RATES))]
    assert {store.metadata(name)["turn"] for name in store.names("pbt/")} == {"2"}
    copied = recall(store, "pbt/2")["copied"]
    assert copied, "a rate of 1e-7 gets nowhere on its own"
    assert float(store.metadata("pbt/2")["lr"]) > 1e-5


def test_pbt_ranks_a_member_that_diverged_last(example, tmp_path):
    from somatize import Store
    from somatize.torch import keep

    pbt, store = example("pbt"), Store(str(tmp_path / "pbt"))
    for me, score in enumerate(["nan", "0.5", "inf", "0.2"]):
        keep(store, f"pbt/{me}", {}, metadata={"turn": "0", "score": score, "lr": "0.1"})
    assert [name for name, _ in pbt.scores(store, 0)] == ["pbt/3", "pbt/1", "pbt/2", "pbt/0"]


def test_federated_clients_in_processes_of_their_own_average_every_round_though_one_died_over_it(
    example, tmp_path
):
    import torch

    from somatize import Store
    from somatize.torch import Trainer, export, fedavg, load, parameters, recall

    federated, where = example("federated"), str(tmp_path / "federated")
    dead = Store(where)
    dead.claim("federated/1/averaging/0", dead.put(b"the dead"))
    store, losses = federated.main(where, turns=3, patience_secs=10.0)
    assert losses[-1] < losses[0]
    assert "federated/1/averaging/1" in store.names("federated/1/averaging/")

    g, threads = federated.network(), torch.get_num_threads()
    torch.set_num_threads(1)
    mean = export(g)
    for _ in range(3):  # the same by one process that has everybody's data
        states = []
        for client in range(len(federated.SIZES)):
            load(g, mean)
            t = Trainer(g, torch.nn.functional.mse_loss, torch.optim.SGD(parameters(g), lr=0.02))
            for _ in range(federated.STEPS):
                t.step(federated.samples(client))
            states.append(export(g))
        mean = fedavg(states, federated.SIZES)
    torch.set_num_threads(threads)
    kept = recall(store, "federated/3/mean")
    assert all(torch.equal(kept[node][name], each) for node in mean for name, each in mean[node].items())


def test_federated_clients_go_on_without_one_that_does_not_come_and_it_joins_later(example, tmp_path):
    import torch

    from somatize import Store

    federated, where, threads = example("federated"), str(tmp_path / "federated"), torch.get_num_threads()
    store = Store(where)
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda me: federated.client(where, me, 1, patience_secs=10.0), [0, 1]))
        assert store.metadata("federated/1/mean")["of"] == "[0, 1]"
        list(pool.map(lambda me: federated.client(where, me, 4, patience_secs=60.0), [0, 1, 2]))
    torch.set_num_threads(threads)
    assert store.metadata("federated/4/mean")["of"] == "[0, 1, 2]"
    assert not federated.there(store, "federated/5/mean")
