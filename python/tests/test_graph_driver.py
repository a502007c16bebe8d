"""Nodes that ask: `Await`, the driver, turns and their budget."""

from __future__ import annotations

import threading

import pytest

from somatize import Await, Done, Graph, Node, Opaque
from somatize.errors import DriverError, NodeError, RunError, TurnBudgetError


class Asks(Node):
    """Asks for something twice, then says everything it was told."""

    def forward(self, input, ctx):
        if ctx.turn == 0:
            assert ctx.results == []
            self.first = input
            return Await([input, "b"])
        assert input is self.first
        if ctx.turn == 1:
            self.told = ctx.results
            return Await([Opaque(3)])
        return Done([*self.told, *ctx.results, ctx.turn])


class Forever(Node):
    calls = 0

    def forward(self, input, ctx):
        assert ctx.turn == self.calls
        self.calls += 1
        return Await([])


def test_a_node_is_called_again_with_what_the_driver_answered():
    asked = []

    def driver(requests):
        assert type(requests) is list
        asked.append(requests)
        return [Opaque(("re", request)) for request in requests]

    thing = object()
    said = Graph.somatize(Asks()).forward(thing, driver=driver)
    assert asked == [[thing, "b"], [3]]
    assert said == [("re", thing), ("re", "b"), ("re", 3), 2]


def test_asking_without_a_driver_names_the_node():
    with pytest.raises(
        DriverError, match="node `asks` asked for 2 results, and the run has no driver"
    ) as caught:
        Graph.somatize(Asks()).forward()
    assert caught.value.node == "asks"
    assert isinstance(caught.value, RunError)
    assert caught.value.hint == "pass the run a driver"


@pytest.mark.parametrize("answer", [[], [1], [1, 2, 3]])
def test_another_number_of_results_is_refused(answer):
    with pytest.raises(DriverError, match=f"answered {len(answer)} results to node `asks`, expected 2"):
        Graph.somatize(Asks()).forward(driver=lambda requests: answer)


@pytest.mark.parametrize("answer", [None, 3])
def test_an_answer_that_is_no_sequence_is_the_drivers_failure(answer):
    with pytest.raises(DriverError, match="the driver failed to answer node `asks`") as caught:
        Graph.somatize(Asks()).forward(driver=lambda requests: answer)
    assert isinstance(caught.value.__cause__, TypeError)


def test_a_drivers_failure_is_the_cause():
    error = ConnectionError("offline")

    def driver(requests):
        raise error

    with pytest.raises(DriverError) as caught:
        Graph.somatize(Asks()).forward(driver=driver)
    assert caught.value.__cause__ is error
    assert not isinstance(caught.value, NodeError)


def test_a_node_that_never_stops_asking_is_stopped_after_64_turns():
    node = Forever()
    with pytest.raises(TurnBudgetError, match="node `forever` was not done after 64 turns") as caught:
        Graph.somatize(node).forward(driver=lambda requests: [])
    assert node.calls == 64
    assert caught.value.node == "forever"


def test_the_last_turn_may_still_be_done():
    class Late(Node):
        def forward(self, input, ctx):
            return "done" if ctx.turn == 63 else Await([ctx.turn])

    assert Graph.somatize(Late()).forward(driver=lambda requests: requests) == "done"


def test_branches_ask_at_the_same_time():
    both = threading.Barrier(2, timeout=20)

    def driver(requests):
        both.wait()
        return requests

    class Once(Node):
        def forward(self, input, ctx):
            return ctx.results[0] if ctx.turn else Await([input])

    assert Graph.somatize(Once() | Once()).forward(5, driver=driver) == {"once": 5, "once_2": 5}
    assert Graph.somatize(Once() | Once()).forward(5, driver=lambda asked: asked, workers=1) == {
        "once": 5,
        "once_2": 5,
    }
