"""A state goes out, comes back bit for bit, is kept in a store and averaged; what does not fit is refused."""

import contextlib
import copy
import io
import itertools
import json
import math
import multiprocessing
import pickle
import random
import time

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from networks import CASES, OPTIMIZERS, Body, built
from torch import nn
from torch.nn import functional as F

from somatize import Graph, Node, Store
from somatize.errors import CorruptError, NameNotFoundError, SomaError, StateError
from somatize.torch import Trainer, Unmatched, export, fedavg, keep, load, module, parameters, recall
from somatize.torch.state_file import dumps, loads


def same(a, b):
    """Equal trees: structure, types, bits."""
    if isinstance(a, torch.Tensor):
        return a.dtype == b.dtype and a.shape == b.shape and torch.equal(a.cpu(), b.cpu())
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b or (a != a and b != b)


@pytest.fixture
def store(tmp_path):
    return Store(str(tmp_path / "store"))


def linear(*sizes):
    torch.manual_seed(sum(sizes))
    expression = module(nn.Linear(sizes[0], sizes[1])).named("a")
    for at, name in zip(range(1, len(sizes) - 1), "bcdef", strict=False):
        expression = expression >> module(nn.Linear(sizes[at], sizes[at + 1])).named(name)
    return Graph.somatize(expression)


# Export and load


@pytest.mark.parametrize("name", CASES)
def test_a_state_comes_back_bit_for_bit_into_a_network_built_anew(name):
    first, second = built(name, seed=0), built(name, seed=1)
    Trainer(first.graph, first.objective, torch.optim.Adam(first.trains)).fit(first.batches)
    state = export(first.graph)
    assert not same(state, export(second.graph))
    assert load(second.graph, state) == Unmatched([], [])
    assert same(state, export(second.graph))


def test_a_state_is_detached_and_does_not_change_when_training_goes_on():
    case = built("cnn")
    state = export(case.graph)
    assert not any(each.requires_grad for entries in state.values() for each in entries.values())
    before = copy.deepcopy(state)
    Trainer(case.graph, case.objective, torch.optim.SGD(case.trains, lr=0.1)).fit(case.batches)
    assert same(before, state)
    assert not same(before, export(case.graph))


def test_nodes_are_named_as_torch_names_them_and_those_without_tensors_are_left_out():
    class Own(Node):
        def __init__(self):
            self.scale = nn.Parameter(torch.ones(3))
            self.layers = [nn.Linear(1, 1)]
            self._hidden = (lambda weight: lambda: weight)(nn.Parameter(torch.zeros(2)))

        def forward(self, x, ctx):
            return x

        def parameters(self):
            return [self.scale, *self.layers[0].parameters(), self._hidden()]

    g = Graph.somatize(Own().named("own") >> Body(nn.Sequential(nn.Linear(1, 1))).named("body"))
    state = export(g)
    assert list(state["own"]) == ["scale", "layers.0.weight", "layers.0.bias", "parameters.0"]
    assert list(state["body"]) == ["net.0.weight", "net.0.bias"]
    assert list(export(built("text").graph)) == ["embedding", "head"]


def test_a_load_is_in_place_so_the_optimizer_goes_on_with_the_same_parameters():
    g = linear(3, 2)
    before = parameters(g)
    load(g, export(linear(3, 2)))
    assert all(a is b for a, b in zip(before, parameters(g), strict=True))


def without(state, node, name):
    return {n: {k: v for k, v in e.items() if (n, k) != (node, name)} for n, e in state.items()}


def changed(state, node, name, value):
    return {**state, node: {**state[node], name: value}}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda s: without(s, "a", "bias"), "`a/bias` is missing"),
        (lambda s: {"a": s["a"]}, "`b/weight` is missing, `b/bias` is missing"),
        (lambda s: changed(s, "a", "more", torch.ones(1)), "`a/more` is not in the graph"),
        (lambda s: {**s, "c": {"weight": torch.ones(1)}}, "`c/weight` is not in the graph"),
        (
            lambda s: changed(s, "b", "weight", torch.ones(1, 3)),
            "`b/weight` has shape (1, 3), expected (1, 2)",
        ),
        (
            lambda s: changed(s, "b", "weight", s["b"]["weight"].double()),
            "`b/weight` is of torch.float64, expected torch.float32",
        ),
        (lambda s: changed(s, "b", "bias", [1.0]), "`b/bias` is a `list`, expected a tensor"),
    ],
)
def test_a_state_that_does_not_fit_is_refused_by_name_and_changes_nothing(change, said):
    g = linear(3, 2, 1)
    before = export(g)
    state = {node: {name: each + 1 for name, each in e.items()} for node, e in before.items()}
    with pytest.raises(StateError, match="the state does not fit the graph") as refused:
        load(g, change(state))
    assert said in refused.value.text
    assert isinstance(refused.value, ValueError)
    assert refused.value.hint
    assert same(before, export(g))


def test_not_strict_passes_over_names_on_one_side_and_says_which_but_never_over_shapes():
    g = linear(3, 2, 1)
    state = changed(without(export(g), "a", "bias"), "b", "more", torch.ones(1))
    state["a"]["weight"] = torch.full((2, 3), 7.0)
    assert load(g, state, strict=False) == Unmatched(missing=["a/bias"], unexpected=["b/more"])
    assert export(g)["a"]["weight"].eq(7).all()
    with pytest.raises(StateError, match="has shape"):
        load(g, changed(state, "a", "weight", torch.ones(1)), strict=False)


def test_many_misfits_are_counted_rather_than_listed_without_end():
    g = linear(1, 1, 1, 1, 1, 1)
    with pytest.raises(StateError, match="and 2 more"):
        load(g, {})


def test_a_state_that_pulls_tied_weights_apart_is_refused():
    case = built("tied")
    state = export(case.graph)
    apart = changed(state, "out", "embedding.weight", state["out"]["embedding.weight"] + 1)
    with pytest.raises(StateError, match="are one tensor in the graph, and differ"):
        load(case.graph, apart)


def test_a_state_of_a_node_that_is_no_tensor_is_refused_with_its_name():
    class Extra(nn.Linear):
        def get_extra_state(self):
            return {"calls": 3}

    with pytest.raises(StateError, match="state of node `mine` has a `dict` as `_extra_state`"):
        export(Graph.somatize(module(Extra(1, 1)).named("mine")))


# Kept in a store


def test_a_state_is_kept_and_recalled_bit_for_bit(store):
    case = built("cnn")
    Trainer(case.graph, case.objective, torch.optim.Adam(case.trains)).fit(case.batches)
    state = export(case.graph)
    digest = keep(store, "run/best", state)
    assert store.resolve("run/best") == digest
    assert same(state, recall(store, "run/best"))


def test_the_name_moves_to_what_was_kept_last_and_the_other_stays_readable_by_digest(store):
    first = keep(store, "now", {"a": {"w": torch.zeros(1)}})
    keep(store, "now", {"a": {"w": torch.ones(1)}})
    assert recall(store, "now")["a"]["w"].item() == 1
    assert loads(store.get(first))["a"]["w"].item() == 0


def test_the_same_state_has_the_same_digest(store):
    assert keep(store, "a", export(linear(3, 2))) == keep(store, "b", export(linear(3, 2)))


def test_recalling_what_nobody_kept_names_it(store):
    with pytest.raises(NameNotFoundError, match="nobody"):
        recall(store, "nobody")


def test_recalling_something_else_is_refused(store):
    store.bind("text", store.put(b"no tensors here"))
    with pytest.raises(StateError, match="no safetensors file"):
        recall(store, "text")
    from safetensors.torch import save

    store.bind("foreign", store.put(save({"w": torch.ones(1)})))
    with pytest.raises(StateError, match="not written by `keep`"):
        recall(store, "foreign")


def test_a_newer_version_is_refused(monkeypatch):
    monkeypatch.setattr("somatize.torch.state_file.VERSION", 2)
    data = dumps({"a": torch.ones(1)})
    monkeypatch.undo()
    with pytest.raises(StateError, match="of version 2, and this somatize reads up to 1"):
        loads(data)


def test_tied_weights_are_written_once_and_come_back_shared(store):
    case = built("tied")
    keep(store, "tied", export(case.graph))
    state = recall(store, "tied")
    assert state["embedding"]["weight"] is state["out"]["embedding.weight"]
    other = built("tied", seed=1)
    load(other.graph, state)
    assert other.graph.implementation("embedding").module is other.graph.implementation("out").embedding
    assert same(export(other.graph), export(case.graph))


def test_other_tools_read_the_tensors_by_name():
    from safetensors.torch import load as plain

    g = linear(3, 2)
    found = plain(dumps(export(g)))
    assert sorted(found) == ["a/bias", "a/weight"]
    assert torch.equal(found["a/weight"], parameters(g)[0])


def test_nothing_is_unpickled(monkeypatch):
    data = dumps({"a": {"w": torch.ones(1)}})
    assert b"pickle" not in data
    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, lambda *a, **k: pytest.fail("unpickled"))
    assert loads(data)["a"]["w"].item() == 1


@pytest.mark.parametrize("value", [{1, 2}, object(), b"bytes", {"deep": [torch.nn.ReLU()]}])
def test_what_cannot_be_kept_is_refused_with_where_it_is(value):
    with pytest.raises(StateError, match=r"a `\w+` at `here"):
        dumps({"here": value})


def test_a_key_that_is_neither_text_nor_a_number_is_refused():
    with pytest.raises(StateError, match="a key at `here` is a `tuple`"):
        dumps({"here": {(1, 2): 3}})


DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64, torch.uint8, torch.bool]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0), (2, 3)])
def test_every_dtype_and_shape_round_trips(dtype, shape):
    tensor = torch.randint(0, 2, shape).to(dtype)
    assert same({"t": tensor}, loads(dumps({"t": tensor})))


def test_views_and_transposes_round_trip():
    base = torch.arange(12.0).reshape(3, 4)
    tree = {"row": base[1], "turned": base.T, "every": base[:, ::2], "base": base}
    assert same(tree, loads(dumps(tree)))


leaves = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.integers(0, 3).map(torch.ones)
)
keys = st.one_of(st.text(), st.integers())
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(keys, inner, max_size=3),
    ),
    max_leaves=12,
)


@given(trees)
def test_any_tree_round_trips(tree):
    assert same(tree, loads(dumps(tree)))


def test_paths_that_read_alike_do_not_overwrite_each_other():
    tree = {"a/b": torch.ones(1), "a": {"b": torch.zeros(1)}, "a'": {"b": torch.full((1,), 2.0)}}
    assert same(tree, loads(dumps(tree)))


def test_the_header_is_plain_json():
    data = dumps({"a": {"w": torch.ones(2)}, "lr": 0.1, "off": math.inf})
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    tree = [
        "dict",
        [["a", ["dict", [["w", ["tensor", "a/w"]]]]], ["lr", ["value", 0.1]], ["off", ["float", "inf"]]],
    ]
    assert json.loads(header["__metadata__"]["somatize"]) == {
        "format": "somatize state",
        "version": 1,
        "tree": tree,
    }


# Resuming


@pytest.mark.parametrize("make", OPTIMIZERS)
@pytest.mark.parametrize("name", ["mlp", "cnn", "tied", "two_heads"])
def test_resuming_from_a_store_equals_no_interruption_bit_for_bit(store, name, make):
    whole, first, second = built(name), built(name), built(name, seed=7)
    second.batches = first.batches
    t = Trainer(whole.graph, whole.objective, OPTIMIZERS[make](whole.trains))
    torch.manual_seed(1)
    expected = t.fit(whole.batches, epochs=4).history

    t = Trainer(first.graph, first.objective, OPTIMIZERS[make](parameters(first.graph)))
    torch.manual_seed(1)
    seen = t.fit(first.batches, epochs=2).history
    rng = torch.get_rng_state()
    keep(store, "run", {"graph": export(first.graph), "optimizer": t.optimizer.state_dict(), "rng": rng})
    torch.manual_seed(99)

    t = Trainer(second.graph, second.objective, OPTIMIZERS[make](parameters(second.graph)))
    kept = recall(store, "run")
    load(second.graph, kept["graph"])
    t.optimizer.load_state_dict(kept["optimizer"])
    torch.set_rng_state(kept["rng"])
    seen += t.fit(second.batches, epochs=2).history
    assert seen == expected
    assert same(export(whole.graph), export(second.graph))
    assert same(kept["optimizer"]["param_groups"], t.optimizer.state_dict()["param_groups"])


def test_resuming_without_the_optimizer_is_not_the_same_so_the_test_above_says_something():
    whole, first = built("mlp"), built("mlp")
    t = Trainer(whole.graph, whole.objective, OPTIMIZERS["adam"](whole.trains))
    expected = t.fit(whole.batches, epochs=4).history
    t = Trainer(first.graph, first.objective, OPTIMIZERS["adam"](first.trains))
    seen = t.fit(first.batches, epochs=2).history
    t = Trainer(first.graph, first.objective, OPTIMIZERS["adam"](first.trains))
    assert seen + t.fit(first.batches, epochs=2).history != expected


def kept_over_and_over(where, go):
    store = Store(where)
    go.wait()
    for value in range(20):
        keep(store, "now", {"a": {"w": torch.full((100_000,), float(value))}})


def test_a_reader_meets_whole_states_while_another_process_keeps_them(tmp_path):
    where = str(tmp_path / "store")
    store = Store(where)
    keep(store, "now", {"a": {"w": torch.full((100_000,), -1.0)}})
    context = multiprocessing.get_context("spawn")
    go = context.Event()
    writer = context.Process(target=kept_over_and_over, args=(where, go))
    writer.start()
    go.set()
    seen = set()
    while writer.is_alive():
        tensor = recall(store, "now")["a"]["w"]
        assert tensor.eq(tensor[0]).all()
        seen.add(tensor[0].item())
    writer.join()
    assert writer.exitcode == 0
    assert len(seen) > 1
    assert recall(store, "now")["a"]["w"][0].item() == 19


# Averaging


def test_fedavg_is_the_mean_that_weighs_sizes():
    states = [{"a": {"w": torch.tensor([0.0, 4.0])}}, {"a": {"w": torch.tensor([8.0, 0.0])}}]
    assert fedavg(states, [3, 1])["a"]["w"].tolist() == [2.0, 3.0]
    assert fedavg(states, [0, 5])["a"]["w"].tolist() == [8.0, 0.0]


def test_fedavg_of_one_state_and_of_equal_states_is_that_state_bit_for_bit():
    state = export(built("cnn").graph)
    assert same(fedavg([state], [7]), state)
    assert same(fedavg([state, state, state], [1, 2, 3]), state)


def test_fedavg_keeps_dtypes_and_averages_counts_to_whole_numbers():
    states = [
        {"a": {"n": torch.tensor(3), "h": torch.ones(2, dtype=torch.bfloat16), "on": torch.tensor([True])}},
        {"a": {"n": torch.tensor(6), "h": torch.zeros(2, dtype=torch.bfloat16), "on": torch.tensor([True])}},
    ]
    mean = fedavg(states, [1, 1])["a"]
    assert (mean["n"].dtype, mean["n"].item()) == (torch.int64, 4)
    assert (mean["h"].dtype, mean["h"].tolist()) == (torch.bfloat16, [0.5, 0.5])
    assert mean["on"].tolist() == [True]
    states[1]["a"]["on"] = torch.tensor([False])
    with pytest.raises(StateError, match="`a/on` holds truths that differ"):
        fedavg(states, [1, 1])


def test_fedavg_leaves_its_states_alone():
    states = [export(linear(3, 2)), export(linear(3, 2))]
    before = copy.deepcopy(states)
    fedavg(states, [1, 2])["a"]["weight"].add_(1)
    assert same(before, states)


@pytest.mark.parametrize("sizes", [[1], [1, 2, 3], [0, 0], [1, -1], [1, math.nan], [1, math.inf]])
def test_fedavg_refuses_sizes_that_make_no_mean(sizes):
    state = export(linear(3, 2))
    with pytest.raises(ValueError, match=r"fedavg was given|`sizes` was given"):
        fedavg([state, state], sizes)


def test_fedavg_of_nothing_is_refused():
    with pytest.raises(ValueError, match="0 states"):
        fedavg([], [])


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (lambda s: without(s, "a", "bias"), "`a/bias` is missing"),
        (lambda s: changed(s, "a", "more", torch.ones(1)), "`a/more` is not in the first"),
        (lambda s: changed(s, "a", "bias", torch.ones(9)), "`a/bias` has shape (9,), expected (2,)"),
        (lambda s: changed(s, "a", "bias", torch.ones(2).long()), "`a/bias` is of torch.int64"),
    ],
)
def test_fedavg_refuses_states_of_different_networks_by_name(other, said):
    state = export(linear(3, 2))
    with pytest.raises(StateError, match="state 1 does not fit the first") as refused:
        fedavg([state, other(state)], [1, 1])
    assert said in refused.value.text
    assert isinstance(refused.value, SomaError)


def test_fedavg_of_tied_weights_loads_into_the_tied_network():
    case = built("tied")
    state = export(case.graph)
    mean = fedavg([state, export(built("tied", seed=1).graph)], [1, 1])
    load(case.graph, mean)
    assert torch.equal(export(case.graph)["embedding"]["weight"], mean["embedding"]["weight"])


def test_averaging_trained_clients_is_one_step_of_their_mean():
    """One SGD step a client from one start, averaged by size, is the step on all of their data."""
    start = export(linear(3, 1))
    x, y = torch.randn(6, 3), torch.randn(6, 1)
    states = []
    for part in (slice(0, 2), slice(2, 6)):
        g = linear(3, 1)
        load(g, start)
        Trainer(g, F.mse_loss, torch.optim.SGD(parameters(g), lr=0.1)).step((x[part], y[part]))
        states.append(export(g))
    g = linear(3, 1)
    load(g, start)
    Trainer(g, F.mse_loss, torch.optim.SGD(parameters(g), lr=0.1)).step((x, y))
    mean = fedavg(states, [2, 4])
    for name, each in export(g)["a"].items():
        torch.testing.assert_close(mean["a"][name], each)


def test_the_state_dict_of_a_module_with_tied_weights_is_written_once_too():
    embedding, out = nn.Embedding(5, 3), nn.Linear(3, 5, bias=False)
    out.weight = embedding.weight
    tree = loads(dumps(nn.ModuleDict({"in": embedding, "out": out}).state_dict()))
    assert tree["in.weight"] is tree["out.weight"]
    assert torch.equal(tree["in.weight"], embedding.weight)


# What is broken, odd or half there


def test_a_file_cut_anywhere_is_refused_and_so_is_any_header_that_keep_does_not_write():
    data = dumps({"a": {"w": torch.arange(5.0)}, "n": 3})
    for length in range(len(data)):
        with pytest.raises(StateError):
            loads(data[:length])
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= 1
        with contextlib.suppress(StateError):  # a changed number is read; that it is changed, the digest says
            loads(bytes(changed))


@pytest.mark.parametrize(
    "head",
    [
        [],
        3,
        {"tree": ["value", 1]},
        {"version": "1", "tree": ["value", 1]},
        {"version": 1},
        {"version": 1, "tree": 5},
        {"version": 1, "tree": ["pickle", "x"]},
        {"version": 1, "tree": ["tensor", "not there"]},
        {"version": 1, "tree": ["dict", [[[1], ["value", 1]]]]},
    ],
)
def test_a_header_that_keep_does_not_write_is_refused(head):
    from safetensors.torch import save

    with pytest.raises(StateError, match="not one that `keep` writes"):
        loads(save({}, metadata={"somatize": json.dumps(head)}))


def test_a_pickle_and_what_torch_saves_are_refused_unread(store):
    class Evil:
        def __reduce__(self):
            return pytest.fail, ("unpickled",)

    written = io.BytesIO()
    torch.save({"w": torch.ones(1)}, written)
    for data in (pickle.dumps(Evil()), written.getvalue(), b"", b"\xff" * 20):
        store.bind("odd", store.put(data))
        with pytest.raises(StateError, match="no safetensors file"):
            recall(store, "odd")


def test_a_blob_that_was_cut_on_disk_is_corrupt(tmp_path):
    store = Store(str(tmp_path / "store"))
    keep(store, "run", export(linear(3, 2)))
    (blob,) = [each for each in (tmp_path / "store" / "blobs").rglob("*") if each.is_file()]
    blob.chmod(0o600)
    blob.write_bytes(blob.read_bytes()[:-4])
    with pytest.raises(CorruptError):
        recall(Store(str(tmp_path / "store")), "run")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: torch.zeros(2, device="meta"), "on the device `meta`"),
        (lambda: torch.eye(2).to_sparse(), "of layout torch.sparse_coo"),
        (lambda: torch.eye(2).to_sparse_csr(), "of layout torch.sparse_csr"),
        (lambda: torch.zeros(2, dtype=torch.complex128), "of torch.complex128"),
        (lambda: torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8), "that is quantized"),
    ],
)
@pytest.mark.filterwarnings("ignore:Sparse CSR")
@pytest.mark.filterwarnings("ignore:.*quantize")
def test_a_tensor_that_the_file_has_no_form_for_is_refused_with_where_it_is(make, said):
    with pytest.raises(StateError, match="cannot be kept") as refused:
        dumps({"a": {"w": make()}})
    assert f"a tensor {said} at `a/w`" in refused.value.text


def test_a_conjugate_and_a_negative_view_are_written_as_what_they_say():
    base, real = torch.randn(3, dtype=torch.complex64), torch.randn(3)
    tree = {"base": base, "turned": base.conj(), "real": real, "negative": torch._neg_view(real)}
    assert same(tree, loads(dumps(tree)))


@pytest.mark.parametrize(
    "name", ["../x", "a/b", "..", "", "\0", "\n", "é", "e\u0301", "\ud800", "__metadata__"]
)
def test_any_name_comes_back(store, name):
    tree = {name: {name: torch.ones(1), "b": torch.zeros(1)}, "other": {}}
    keep(store, "run", tree)
    assert same(tree, recall(store, "run"))
    assert same({name: torch.ones(1)}, loads(dumps({name: torch.ones(1)})))


def test_what_was_written_can_be_read_however_deep_it_nests_and_the_rest_is_refused():
    def nested(depth):
        tree = torch.ones(1)
        for _ in range(depth):
            tree = [tree]
        return tree

    assert same(nested(100), loads(dumps(nested(100))))
    endless = []
    endless.append(endless)
    for tree in (nested(101), nested(10_000), endless):
        with pytest.raises(StateError, match="nests deeper than 100, or holds itself"):
            dumps(tree)


@pytest.mark.parametrize("state", [None, [], nn.Linear(2, 1).state_dict(), {"a": None}])
def test_a_state_of_another_shape_is_refused_with_the_shape_it_should_have(state):
    with pytest.raises(StateError, match=r"expected `{node: {name: tensor}}`") as refused:
        load(linear(2, 1), state)
    assert "under the name of its node" in refused.value.hint


def test_a_lazy_module_is_refused_until_a_forward_has_shaped_it():
    g = Graph.somatize(module(nn.LazyLinear(1)).named("a"))
    for call in (lambda: export(g), lambda: load(g, {"a": nn.Linear(2, 1).state_dict()})):
        with pytest.raises(StateError, match="`weight` of node `a` has no shape yet"):
            call()
    g.forward(torch.ones(1, 2))
    load(g, {"a": nn.Linear(2, 1).state_dict()})


@pytest.mark.parametrize("meta", ["graph", "state"])
def test_numbers_are_not_loaded_into_nothing_nor_nothing_into_numbers(meta):
    state = {"a": nn.Linear(2, 1).to("meta" if meta == "state" else "cpu").state_dict()}
    g = Graph.somatize(module(nn.Linear(2, 1).to("meta" if meta == "graph" else "cpu")).named("a"))
    with pytest.raises(StateError, match="`a/weight` lies on the device `meta` on one side"):
        load(g, state)


def test_fedavg_keeps_to_the_bit_what_is_equal_in_all_states():
    third = torch.full((3,), 0.1, dtype=torch.float64)
    state = {"a": {"w": third, "n": torch.tensor(2**53 + 1), "f": torch.ones(2).to(torch.float8_e4m3fn)}}
    mean = fedavg([state] * 3, [1, 1, 1])["a"]
    assert torch.equal(mean["w"], third)
    assert mean["n"].item() == 2**53 + 1
    assert mean["f"].float().tolist() == [1.0, 1.0]
    assert mean["w"] is not third


def test_fedavg_of_a_client_without_samples_is_that_of_the_others():
    states = [{"a": {"w": torch.tensor([math.nan])}}, {"a": {"w": torch.tensor([2.0])}}]
    assert fedavg(states, [0, 3])["a"]["w"].item() == 2.0


def killed_over_it(where, ready):
    store = Store(where)
    for value in itertools.count():
        keep(store, "now", {"a": {"w": torch.full((500_000,), float(value))}})
        if value == 2:
            ready.set()


def test_a_process_killed_in_the_middle_of_keep_leaves_the_old_state_or_the_new_one(tmp_path):
    where, rng = str(tmp_path / "store"), random.Random(0)
    context = multiprocessing.get_context("spawn")
    for _ in range(3):
        ready = context.Event()
        writer = context.Process(target=killed_over_it, args=(where, ready))
        writer.start()
        assert ready.wait(60)
        time.sleep(rng.uniform(0, 0.03))
        writer.kill()
        writer.join()
        tensor = recall(Store(where), "now")["a"]["w"]
        assert tensor.shape == (500_000,)
        assert tensor.eq(tensor[0]).all()


def test_a_path_in_the_place_of_a_store_is_told_how_one_is_opened():
    for call in (lambda: keep("/runs", "best", {}), lambda: recall("/runs", "best")):
        with pytest.raises(
            TypeError, match=r"'/runs' was given, expected a Store: open one with `Store\('/runs'\)`"
        ):
            call()
