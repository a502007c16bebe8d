"""The main job: search a small network on scikit-learn's handwritten digits.

Thirty trials over learning rate, width, dropout and optimizer, into a folder, with a median pruner. Start
this same script a second time, or on another machine that sees the folder, and it joins the same trials.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import polars
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.nn.functional import cross_entropy

from somatize import Graph, Node, Store
from somatize.study import (
    Pruner,
    Sampler,
    Space,
    best,
    coordinates,
    frame,
    influence,
    search,
    table,
)
from somatize.torch import Trainer, evaluating, export, keep, load, parameters, recall

STUDY = "digits"
EPOCHS = 12
SPACE = (
    Space()
    .real("lr", 1e-4, 1e-1, log=True)
    .int("width", 16, 256, log=True)
    .real("dropout", 0.0, 0.5)
    .choice("optimizer", ["adam", "sgd"])
)


class Body(Node):
    """(B, 64) pixels to (B, width) features."""

    def __init__(self, width: int, dropout: float):
        self.net = torch.nn.Sequential(torch.nn.Linear(64, width), torch.nn.ReLU(), torch.nn.Dropout(dropout))

    def forward(self, x, ctx):
        return self.net(x)

    def parameters(self):
        return list(self.net.parameters())


class Head(Node):
    """(B, width) features to (B, 10) logits."""

    def __init__(self, width: int):
        self.net = torch.nn.Linear(width, 10)

    def forward(self, x, ctx):
        return self.net(x)

    def parameters(self):
        return list(self.net.parameters())


def network(point) -> Graph:
    return Graph.somatize(
        Body(point["width"], point["dropout"]).named("body") >> Head(point["width"]).named("head")
    )


def split():
    """Training, validation and held-out digits, the same in every process: 60, 20 and 20 percent."""
    x, y = load_digits(return_X_y=True)
    x = torch.tensor(x / 16, dtype=torch.float32)
    y = torch.tensor(y)
    rest, held = train_test_split(range(len(x)), test_size=0.2, random_state=0, stratify=y)
    train, valid = train_test_split(rest, test_size=0.25, random_state=0, stratify=y[rest])
    return [(x[part], y[part]) for part in (train, valid, held)]


def measured(g: Graph, data, measure):
    """`measure(logits, target)` with dropout off, put back afterwards."""
    x, y = data
    with evaluating(g):
        return measure(g.forward(x), y).item()


def accuracy(logits, y):
    return (logits.argmax(1) == y).float().mean()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument(
        "--out", type=Path, default=Path("out/digits"), help="where the store and the figures go"
    )
    arguments.add_argument("--total", type=int, default=30, help="trials in the study, whoever runs them")
    args = arguments.parse_args()

    store = Store(str(args.out / "store"))
    train, valid, held = split()

    def trained(point):
        """One trial: the validation loss after each epoch; the weights are kept under their score."""
        torch.manual_seed(0)
        g = network(point)
        make = torch.optim.Adam if point["optimizer"] == "adam" else torch.optim.SGD
        t = Trainer(g, objective=cross_entropy, optimizer=make(parameters(g), lr=point["lr"]))
        x, y = train
        for _ in range(EPOCHS):
            for rows in torch.randperm(len(x)).split(64):
                t.step((x[rows], y[rows]))
            yield measured(g, valid, cross_entropy)
        keep(store, f"{STUDY}/{point}", export(g))

    search(
        trained, store, SPACE, Sampler.sobol(seed=0), study=STUDY, total=args.total, goal="min",
        pruner=Pruner.median(warmup=4, startup=10), progress=True,
    )  # fmt: skip

    rows = frame(store, study=STUDY).sort("state", "score")
    shown = ["trial", "state", "score", *(one.name for one in SPACE.dimensions), "took_secs"]
    with polars.Config(tbl_rows=-1, tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True):
        print(rows.select(shown))
    winner = best(store, study=STUDY)
    g = network(winner.point)
    load(g, recall(store, f"{STUDY}/{winner.point}"))
    print(f"best: trial {winner.trial}, {winner.point}")
    print(
        f"validation loss {winner.score:.4f}, accuracy on held-out digits {measured(g, held, accuracy):.3f}"
    )

    for name, figure in (("table", table), ("influence", influence), ("coordinates", coordinates)):
        path = args.out / f"{name}.html"
        figure(store, SPACE, study=STUDY).write_html(path)
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
