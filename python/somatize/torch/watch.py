"""The optimizer against the graph: what would train nothing, or not all, fails loudly here."""

from __future__ import annotations

from collections import Counter
from inspect import signature
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn.parameter import UninitializedParameter

from somatize.errors import NoGradientError, NoParametersError, OptimizerMismatchError, UpdateError
from somatize.torch.parameters import names, parameters, walk

if TYPE_CHECKING:
    from somatize import Graph

SHOWN = 4
"""How many parameters a text names before it counts the rest."""


class Watch:
    """Sees to it that the optimizer trains the graph it was given with.

    Built once, it compares the two. Before each update the Trainer looks for one of those `reached` that has
    no gradient: one attribute read per parameter, as many as the optimizer itself makes. Only when one is
    found is the graph walked again; it is then left out of the looking, so each costs at most one walk.

    Attributes:
        reached: The parameters that a gradient has reached in every update so far.
    """

    def __init__(self, graph: Graph, objective: Any, optimizer: Any, *, allow_unused: bool) -> None:
        self._graph, self._optimizer = graph, optimizer
        self._allow_unused = allow_unused
        self._names = names(graph)
        self._known = parameters(graph)
        if not self._known:
            raise NoParametersError(
                f"nothing in the graph trains: {_quoted(graph.nodes())}, without a parameter",
                hint="give a node that trains `parameters()`, or wrap a torch module with `module(...)`",
            )
        held = self._held()
        _no_repeats(held, self._name)
        self._compare(held, {id(each) for each in _asked(objective)})
        self.reached = [each for each in held if each.requires_grad]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_names": [self._names[id(each)] for each in self._known]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        kept = zip(map(id, self._known), state["_names"], strict=True)
        self._names = {**names(self._graph), **dict(kept)}  # anew: an identity holds in one process

    def _held(self) -> list[Tensor]:
        return [each for group in self._optimizer.param_groups for each in group["params"]]

    def first(self) -> None:
        """Look before the first update.

        Raises:
            UpdateError: The optimizer wants a closure.
            OptimizerMismatchError: A node answers other parameters than it did.
            NoGradientError: A parameter got no gradient.
        """
        _no_closure(self._optimizer)
        self.same_parameters()
        missing = [each for each in self.reached if each.requires_grad and each.grad is None]
        if missing and not self._allow_unused:
            self._unreached(missing)
        self._some_gradient()

    def lost(self) -> None:
        """Look again, since one of those `reached` has no gradient this time.

        Raises:
            OptimizerMismatchError: A node answers other parameters than it did.
            NoGradientError: No parameter has a gradient.
        """
        self.same_parameters()
        self._some_gradient()
        self.reached = [each for each in self.reached if each.grad is not None]

    def _compare(self, holds: list[Tensor], owned: set[int]) -> None:
        """Refuse an optimizer of another graph, or of this one as it was before a node was replaced.

        `owned` are the objective's own parameters, by identity: no strangers to the optimizer.
        """
        held, known = _by_id(holds), _by_id(self._known)
        strangers = [each for key, each in held.items() if key not in known and key not in owned]
        if not held.keys() & known.keys():
            raise OptimizerMismatchError(
                "the optimizer shares no parameter with the graph: "
                f"it holds {_counted(holds)}, the graph has {_counted(self._known)}",
                hint="build it over this graph: `torch.optim.Adam(parameters(graph))`",
            )
        uncovered = [each for key, each in known.items() if key not in held and each.requires_grad]
        if strangers and not Counter(map(_shape, strangers)) - Counter(map(_shape, uncovered)):
            wanted = Counter(map(_shape, strangers))
            nodes = list({self._names[id(each)][0]: None for each in uncovered if _shape(each) in wanted})
            raise OptimizerMismatchError(
                f"the optimizer holds {_counted(strangers)} of no node, and not those of the same shapes "
                f"of {_quoted(nodes)}: was it replaced after the optimizer was built?",
                hint="build the optimizer last, over `parameters(graph)`",
            )
        if not any(each.requires_grad for key, each in held.items() if key in known):
            raise NoParametersError(
                f"every parameter that the optimizer holds of the graph is frozen: {self._told(holds)}",
                hint="set `requires_grad_(True)` on what is to train",
            )

    def same_parameters(self) -> None:
        """Refuse a graph whose nodes answer other parameters than when the Trainer was built.

        More than then are fine once the optimizer holds them: `optimizer.add_param_group`.

        Raises:
            OptimizerMismatchError: They do; names the nodes.
        """
        answered = list(walk(self._graph))
        now = {id(each): each for _, each in answered}
        known = _by_id(self._known)
        if now.keys() == known.keys():
            return
        held = _by_id(self._held())
        owners = {id(each): node for node, each in reversed(answered)}
        new = [
            key for key, each in now.items() if key not in known and key not in held and each.requires_grad
        ]
        gone = [key for key in held if key in known and key not in now]
        if new or gone:
            nodes = list(
                {**{owners[key]: None for key in new}, **{self._names[key][0]: None for key in gone}}
            )
            what = "other parameters than" if gone else "more parameters than"
            raise OptimizerMismatchError(
                f"{_quoted(nodes)} answers {what} when the Trainer was built; the optimizer lacks them",
                hint="finish the nodes first (a module built in the first forward needs one `g.forward(x)`), "
                "then build the optimizer and the Trainer",
            )

    def _some_gradient(self) -> None:
        if all(each.grad is None for each in self._held()):
            raise NoGradientError(
                "no parameter that the optimizer holds has a gradient",
                hint="take a backward pass first, and clear nothing between `backward` and `update`",
            )

    def _unreached(self, missing: list[Tensor]) -> None:
        nodes = list({self._names[id(each)][0]: None for each in missing if id(each) in self._names})
        leave = f"`parameters(g, without={nodes!r})`" if nodes else "a parameter list without them"
        raise NoGradientError(
            f"no gradient reached {self._told(missing)}",
            hint=f"make the loss depend on them, or leave them out with {leave}; "
            "if only some batches use them, build the Trainer with `allow_unused=True`",
        )

    def _told(self, some: list[Tensor]) -> str:
        return _listed([self._name(each) for each in some])

    def _name(self, parameter: Tensor) -> str:
        shape = _shape(parameter)
        if id(parameter) not in self._names:
            return f"a parameter of shape {shape} that no node has"
        node, name = self._names[id(parameter)]
        return f"`{name}` {shape} of node `{node}`"

    def __str__(self) -> str:
        nodes = len({self._names[id(each)][0] for each in self._known})
        return f"{len(self._known)} parameters in {nodes} nodes"


def _no_closure(optimizer: Any) -> None:
    """Refuse an optimizer, as LBFGS, that evaluates the loss itself, several times a step."""
    try:
        closure = signature(optimizer.step).parameters.get("closure")
    except (TypeError, ValueError):  # not one that Python can look into
        return
    if closure is not None and closure.default is closure.empty:
        raise UpdateError(
            f"`{type(optimizer).__name__}` wants a closure that evaluates the loss, which `update` has not",
            hint="write the loop: `trainer.optimizer.step(closure)`, where it asks `trainer.loss(batch)`",
        )


def _no_repeats(held: list[Tensor], name: Any) -> None:
    counts = Counter(map(id, held))
    twice = [each for each in _by_id(held).values() if counts[id(each)] > 1]
    if twice:
        raise OptimizerMismatchError(
            f"the optimizer holds {_listed([name(each) for each in twice])} twice, and would step it twice",
            hint="`parameters(graph)` answers each parameter once, tied ones too",
        )


def _asked(objective: Any) -> list[Tensor]:
    """The parameters of an objective that has some, as a learnt temperature."""
    asked = getattr(objective, "parameters", None)
    return list(asked()) if isinstance(objective, torch.nn.Module) and callable(asked) else []


def _by_id(some: list[Any]) -> dict[int, Tensor]:
    return {id(each): each for each in some}


def _shape(parameter: Tensor) -> tuple[int, ...] | str:
    return "not known yet" if isinstance(parameter, UninitializedParameter) else tuple(parameter.shape)


def _counted(some: list[Any]) -> str:
    return "1 parameter" if len(some) == 1 else f"{len(some)} parameters"


def _quoted(nodes: list[str]) -> str:
    if not nodes:
        return "no node"
    return ("node " if len(nodes) == 1 else "nodes ") + _listed([f"`{node}`" for node in nodes])


def _listed(some: list[str]) -> str:
    rest = len(some) - SHOWN
    return ", ".join(some[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")
