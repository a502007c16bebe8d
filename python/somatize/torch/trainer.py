"""The training loop somebody would have written: forward, loss, backward, update.

B is the batch size, the length of a target's first dimension.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from math import isfinite
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from somatize.errors import NonFiniteLossWarning, UpdateError
from somatize.torch import checks
from somatize.torch.broadcast import refusing_broadcast
from somatize.torch.data import batches_of, pair, spent
from somatize.torch.device import meet
from somatize.torch.gradients import clear
from somatize.torch.losses import Losses
from somatize.torch.mode import evaluating
from somatize.torch.progress import bar
from somatize.torch.result import Epoch, Result
from somatize.torch.watch import Watch

if TYPE_CHECKING:
    from somatize import Graph

Batch = tuple[Any, Any]
Data = Iterable[Batch] | Callable[[], Iterable[Batch]]


class Trainer:
    """Trains a graph with an objective and an optimizer, all three the caller's.

    `step` is the primitive, `fit` the sugar. Neither calls `train()` or `eval()` on anything, and the
    branches of a wave run one at a time unless `workers` says otherwise, so `torch.manual_seed` means what it
    means in plain torch: on the CPU the numbers are bit for bit those of the loop written by hand.

    A subclass that wants another step overrides `loss`, `backward` or `update`, of which `step` and `fit` are
    made. A Trainer pickles and copies with all it holds; gradients gathered and not yet applied stay behind.

    Args:
        graph: The network. At least one of its nodes has parameters.
        objective: `objective(output, target)` answers a tensor with one element.
        optimizer: Any `torch.optim.Optimizer` over `parameters(graph)` or a part of them; what it leaves out
            is not trained.
        workers: How many branches of a wave run at the same time; None for as many as the graph likes.
        driver: Answers the requests of nodes that `Await` something; see `Graph.forward`.
        allow_unused: Whether a parameter may go without a gradient in the first update, as in a mixture of
            experts; see `torch.autograd.grad`.

    Attributes:
        objective: May be exchanged at any time. For another graph or optimizer build another Trainer.
        n_steps: Updates taken so far.
        n_epochs: Epochs that `fit` has completed so far.

    Raises:
        NoParametersError: No node has parameters, or the optimizer holds frozen ones only.
        OptimizerMismatchError: The optimizer shares no parameter with the graph, holds one twice, or holds
            those of a node that has been replaced since.
        TypeError: `objective` or `driver` cannot be called, or `optimizer` is no optimizer (a name, a class).

    Example:
        >>> import torch
        >>> from somatize import Graph
        >>> from somatize.torch import Trainer, module, parameters
        >>> g = Graph.somatize(module(torch.nn.Linear(8, 1)))
        >>> t = Trainer(g, torch.nn.functional.mse_loss, torch.optim.Adam(parameters(g), lr=1e-3))
        >>> x = torch.randn(64, 8)
        >>> loss = t.step((x, x.sum(1, keepdim=True)))
    """

    def __init__(
        self,
        graph: Graph,
        objective: Callable[[Any, Any], Tensor],
        optimizer: torch.optim.Optimizer,
        *,
        workers: int | None = 1,
        driver: Callable[[list[Any]], list[Any]] | None = None,
        allow_unused: bool = False,
    ) -> None:
        checks.given(graph, objective, optimizer, driver)
        self.objective = objective
        self.n_steps = 0
        self.n_epochs = 0
        self._watch = Watch(graph, objective, optimizer, allow_unused=allow_unused)
        self._graph, self._optimizer = graph, optimizer
        self._workers, self._driver = workers, driver
        self._applied = True  # the gradients lying in the parameters belong to an update that was taken
        self._shapes_fit = False  # not known before the first batch that trains
        self._finite = True  # so far

    @property
    def graph(self) -> Graph:
        """The network."""
        return self._graph

    @property
    def optimizer(self) -> torch.optim.Optimizer:
        """The optimizer."""
        return self._optimizer

    def loss(self, batch: Batch) -> Tensor:
        """Forward and objective: the loss of `batch`, with its graph.

        The seam for whoever scales it, clips, or runs it under `torch.autocast`. The first call after an
        `update` clears the gradients of the one before; under `torch.no_grad()` nothing is cleared.

        Args:
            batch: `(input, target)`. `target` meets the output on its device; `batch` is left as it was.

        Returns:
            What the objective said. Nothing waits for the accelerator.

        Raises:
            BatchError: `batch` is not a pair; or, at the first that trains, output and target have shapes
                that the objective would broadcast against each other, as (B, 1) and (B,).
        """
        # What each step looks at stands in line: between two passes of torch a call costs 1 µs, not 0.1.
        input, target = batch if type(batch) is tuple and len(batch) == 2 else pair(batch, self.n_steps)
        if self._applied and torch.is_grad_enabled():
            clear(self._optimizer)
            self._applied = False
        output = self._graph.forward(input, driver=self._driver, workers=self._workers)
        if type(target) is not Tensor or type(output) is not Tensor or not target.is_cpu or not output.is_cpu:
            target = meet(target, output)
        if self._shapes_fit:
            return self.objective(output, target)
        with refusing_broadcast(self.objective, output, target):
            loss = self.objective(output, target)
        self._shapes_fit = torch.is_grad_enabled()
        return loss

    def backward(self, batch: Batch) -> Tensor:
        """Add the gradients of one batch to those since the last `update`.

        Args:
            batch: `(input, target)`, as for `loss`.

        Returns:
            The loss, detached. Nothing waits for the accelerator until somebody reads it.

        Raises:
            BatchError: As for `loss`.
            LossError: The loss is not a tensor with one element, or nothing links it to a parameter.
        """
        loss = self.loss(batch)
        try:
            loss.backward()  # type: ignore[no-untyped-call]
        except BaseException:
            self._applied = True  # half a backward is worth nothing: the next one starts from zero
            checks.explain(loss)
            raise
        return loss.detach()

    def update(self) -> None:
        """Let the optimizer take one step along the gradients gathered since the last one.

        Whatever comes of it, those gradients are then spent: the next `loss` starts from zero.

        Raises:
            UpdateError: Nothing was gathered since then, or the optimizer wants a closure.
            NoGradientError: At the first update, a parameter that the optimizer holds got no gradient; at a
                later one, none has any.
            OptimizerMismatchError: A node's parameters were replaced since the optimizer was built.
        """
        if self._applied:
            raise UpdateError(
                "`update` without a `backward` since the last update",
                hint="call `backward(batch)` first, or `step(batch)` for both; a failed one does not count",
            )
        self._applied = True
        if self.n_steps == 0:
            self._watch.first()
        for each in self._watch.reached:
            if each.grad is None:
                self._watch.lost()
                break
        self._optimizer.step()
        torch.clear_autocast_cache()  # or an autocast around the whole loop goes on with the old weights
        self.n_steps += 1

    def step(self, batch: Batch) -> float:
        """`backward(batch)`, then `update()`.

        Args:
            batch: `(input, target)`, as for `loss`.

        Returns:
            The loss, as a float: this is where a step waits for the accelerator. A loss that is not finite is
            reported once, as a `NonFiniteLossWarning` with its step, and returned as it is.

        Raises:
            BatchError, LossError, NoGradientError, OptimizerMismatchError: As for `backward` and `update`.
        """
        loss = self.backward(batch)
        self.update()
        value = loss.item()
        if not isfinite(value):
            self._report([value])
        return value

    def fit(self, data: Data, epochs: int = 1, *, progress: bool = False) -> Result:
        """Take one step per batch of `data`, `epochs` times over: `backward`, then `update`.

        An accelerator is waited for once an epoch, when its losses are read. A loss that is not finite is
        therefore reported at the end of its epoch, with its step.

        Args:
            data: Yields `(input, target)`; B may vary. Walked once per epoch, so it must be re-iterable when
                `epochs` is above 1 (a list, a DataLoader), or a function that answers an iterable.
            epochs: At least 1.
            progress: Show a bar on stderr, with the loss of the last epoch.

        Returns:
            The losses of these epochs alone.

        Raises:
            SpentDataError: An epoch yielded nothing; names the epoch.
            ValueError: `epochs` is below 1.
            TypeError: `epochs` is no whole number.
            BatchError, LossError, NoGradientError, OptimizerMismatchError: As for `backward` and `update`.
        """
        checks.at_least_one(epochs)
        self._watch.same_parameters()
        history: list[float] = []
        done: list[Epoch] = []
        with bar(data, epochs, shown=progress) as shown:
            for epoch in range(epochs):
                losses, batches = Losses(), batches_of(data)
                for batch in shown.over(batches):
                    loss = self.backward(batch)
                    self.update()
                    losses.add(loss, batch)
                if not losses:
                    raise spent(batches, epoch, epochs)
                values, mean = losses.read()  # here, once an epoch, an accelerator is waited for
                done.append(Epoch(self.n_epochs, mean, len(values), losses.n_samples))
                history += values
                self.n_epochs += 1
                if not isfinite(mean) and not all(map(isfinite, values)):
                    self._report(values)
                shown.say(mean)
        return Result(history, history[-1], done)

    def evaluate(self, data: Data) -> float:
        """The mean loss over the samples of `data`, in eval mode and without gradients.

        Every module is put back the way it was, `train()` or `eval()`, also when the evaluation fails.

        Args:
            data: Yields `(input, target)`, or a function that answers such an iterable. Walked once.

        Returns:
            The mean over samples, as `Epoch.loss`. Waits for the accelerator once, at the end.

        Raises:
            SpentDataError: `data` yielded nothing.
            BatchError: A batch is not a pair.
            LossError: The loss is not a tensor with one element.
        """
        losses, batches = Losses(), batches_of(data)
        with evaluating(self._graph):
            for batch in batches:
                losses.add(checks.single(self.loss(batch)), batch)
        if not losses:
            raise spent(batches, 0, 1)
        return losses.read()[1]

    def _report(self, latest: list[float]) -> None:
        """Warn of the first of the `latest` losses that is not finite, unless one was reported before."""
        at, value = next(
            each for each in enumerate(latest, self.n_steps - len(latest)) if not isfinite(each[1])
        )
        if self._finite:
            self._finite = False
            text = f"the loss is {value} at step {at} (counted from 0); training goes on"
            warnings.warn(text, NonFiniteLossWarning, stacklevel=3)  # where `step` or `fit` was called

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_applied": True}  # parameters travel without their gradients

    def __repr__(self) -> str:
        return f"Trainer({self._watch}, {type(self._optimizer).__name__}, step {self.n_steps})"
