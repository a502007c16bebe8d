"""Networks as graphs, each beside the loop one would write by hand for the same modules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from somatize import Graph, Node
from somatize.torch import module, parameters

WORDS = ["the", "cat", "sat", "on", "a", "mat"]


@dataclass
class Case:
    """A graph, the same network as a plain function of the same modules, and what trains them."""

    graph: Graph
    plain: Callable[[Any], Any]
    trains: list[nn.Parameter]  # in the order a person would hand them to the optimizer
    objective: Callable[[Any, Any], torch.Tensor]
    batches: list[tuple[Any, Any]]
    without: tuple[str, ...] = ()

    def optimizer_parameters(self) -> list[nn.Parameter]:
        return parameters(self.graph, without=self.without)


class Body(Node):
    """A node as people write them: no `super().__init__()`, a plain attribute, `parameters()`."""

    def __init__(self, net: nn.Module) -> None:
        self.net = net

    def forward(self, x, ctx):
        return self.net(x)

    def parameters(self):
        return list(self.net.parameters())


class Words(Node):
    """Text to word numbers (B, T), padded with 0; nothing in it trains."""

    def forward(self, texts, ctx):
        rows = [[WORDS.index(word) + 1 for word in text.split()] for text in texts]
        longest = max(map(len, rows))
        return torch.tensor([row + [0] * (longest - len(row)) for row in rows])


class Tied(Node):
    """The output layer of an embedding: its weight is the embedding's."""

    def __init__(self, embedding: nn.Embedding) -> None:
        self.embedding = embedding

    def forward(self, x, ctx):
        return x @ self.embedding.weight.T

    def parameters(self):
        return [self.embedding.weight]


def mlp() -> Case:
    net = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
    head = nn.Linear(16, 1)
    g = Graph.somatize(Body(net).named("body") >> module(head).named("head"))
    batches = [(x := torch.randn(16, 8), x.sum(1, keepdim=True)) for _ in range(6)]
    trains = [*net.parameters(), *head.parameters()]
    return Case(g, lambda x: head(net(x)), trains, F.mse_loss, batches)


def cnn() -> Case:
    body = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(0.3), nn.Flatten())
    head = nn.Linear(4 * 36, 3)
    g = Graph.somatize(module(body).named("body") >> Body(head).named("head"))
    batches = [(torch.randn(8, 1, 8, 8), torch.randint(0, 3, (8,))) for _ in range(6)]
    trains = [*body.parameters(), *head.parameters()]
    return Case(g, lambda x: head(body(x)), trains, F.cross_entropy, batches)


def tied() -> Case:
    embedding, middle = nn.Embedding(11, 5), nn.Linear(5, 5)
    g = Graph.somatize(
        module(embedding).named("embedding") >> module(middle).named("middle") >> Tied(embedding).named("out")
    )
    batches = [(torch.randint(0, 11, (8,)), torch.randint(0, 11, (8,))) for _ in range(6)]
    trains = [*embedding.parameters(), *middle.parameters()]
    return Case(g, lambda x: middle(embedding(x)) @ embedding.weight.T, trains, F.cross_entropy, batches)


def frozen() -> Case:
    encoder, head = nn.Sequential(nn.Linear(8, 8), nn.Tanh()), nn.Linear(8, 2)
    encoder.requires_grad_(False)
    g = Graph.somatize(module(encoder).named("encoder") >> module(head).named("head"))
    batches = [(torch.randn(8, 8), torch.randint(0, 2, (8,))) for _ in range(6)]
    return Case(
        g, lambda x: head(encoder(x)), list(head.parameters()), F.cross_entropy, batches, ("encoder",)
    )


def two_heads() -> Case:
    body, kind, size = nn.Linear(8, 8), nn.Linear(8, 3), nn.Linear(8, 1)
    g = Graph.somatize(
        module(body).named("body") >> (module(kind).named("kind") | module(size).named("size"))
    )

    def plain(x):
        x = body(x)
        return {"kind": kind(x), "size": size(x)}

    def objective(output, target):
        return F.cross_entropy(output["kind"], target["kind"]) + F.mse_loss(output["size"], target["size"])

    batches = [
        (torch.randn(8, 8), {"kind": torch.randint(0, 3, (8,)), "size": torch.randn(8, 1)}) for _ in range(6)
    ]
    return Case(
        g,
        plain,
        [*body.parameters(), *kind.parameters(), *size.parameters()],
        objective,
        batches,
    )


def text() -> Case:
    words, embedding, head = Words(), nn.EmbeddingBag(7, 4, padding_idx=0), nn.Linear(4, 2)
    g = Graph.somatize(
        words.named("words") >> module(embedding).named("embedding") >> module(head).named("head")
    )
    texts = ["the cat sat", "a mat", "the mat sat on a cat", "cat"]
    batches = [(texts[i:] + texts[:i], torch.randint(0, 2, (4,))) for i in range(4)]
    trains = [*embedding.parameters(), *head.parameters()]
    return Case(g, lambda x: head(embedding(Words.forward(words, x, None))), trains, F.cross_entropy, batches)


CASES = {each.__name__: each for each in (mlp, cnn, tied, frozen, two_heads, text)}
OPTIMIZERS = {
    "adam": lambda some: torch.optim.Adam(some, lr=1e-2),
    "sgd": lambda some: torch.optim.SGD(some, lr=1e-2, momentum=0.9, weight_decay=0.1),
}


def built(name: str, seed: int = 0) -> Case:
    """The case `name`, with weights and batches that depend on `seed` alone."""
    torch.manual_seed(seed)
    return CASES[name]()


def by_hand(case: Case, optimizer: torch.optim.Optimizer, epochs: int) -> list[float]:
    """The loop that the Trainer must equal."""
    history = []
    for _ in range(epochs):
        for input, target in case.batches:
            optimizer.zero_grad()
            loss = case.objective(case.plain(input), target)
            loss.backward()
            optimizer.step()
            history.append(loss.item())
    return history
