"""The graph beside plain Python and `torch.nn.Sequential`, in one process.

Every figure is the smallest of several rounds in which the contenders take turns, so that a busy machine
slows all of them alike; what counts is the ratio and the difference.

    python benches/compare/graph.py            about half a minute
    python benches/compare/graph.py --smoke    a second or two, to see that it runs
"""

import argparse
import concurrent.futures
import sys
import threading
import time

from somatize import Ctx, Graph, Node

CHAINS = (1, 10, 100, 10_000)
WAVES = (2, 8, 64)


class Same(Node):
    """Passes on what it is given."""

    def forward(self, input, ctx):
        return input


def smallest(contenders, rounds, budget):
    """Microseconds per call of each contender: the smallest of `rounds` of about `budget` seconds."""
    best = dict.fromkeys(contenders, float("inf"))
    repeats = {}
    for name, call in contenders.items():
        call()
        since = time.perf_counter()
        call()
        repeats[name] = max(1, min(20_000, int(budget / max(time.perf_counter() - since, 1e-7))))
    for _ in range(rounds):
        for name, call in contenders.items():
            since = time.perf_counter()
            for _ in range(repeats[name]):
                call()
            best[name] = min(best[name], (time.perf_counter() - since) / repeats[name] * 1e6)
    return best


def chain(n_nodes):
    nodes = [Same() for _ in range(n_nodes)]
    piece = nodes[0].named("n0")
    for at, node in enumerate(nodes[1:], 1):
        piece = piece >> node.named(f"n{at}")
    graph, ctx = Graph.somatize(piece), Ctx()
    graph.plan()

    def plain():
        value = 1
        for node in nodes:
            value = node.forward(value, ctx)
        return value

    contenders = {"somatize": lambda: graph.forward(1), "plain calls": plain}
    if "torch" in sys.modules:
        import torch

        sequential = torch.nn.Sequential(*(torch.nn.Identity() for _ in range(n_nodes)))
        contenders["nn.Sequential"] = lambda: sequential(1)
    return contenders


def wave(n_branches):
    nodes = [Same() for _ in range(n_branches)]
    piece = nodes[0]
    for node in nodes[1:]:
        piece = piece | node
    graph, ctx = Graph.somatize(piece), Ctx()
    graph.plan()
    pool = concurrent.futures.ThreadPoolExecutor(n_branches)

    def threads():
        own = [threading.Thread(target=node.forward, args=(1, ctx)) for node in nodes]
        for thread in own:
            thread.start()
        for thread in own:
            thread.join()

    return {
        "somatize": lambda: graph.forward(1),
        "workers=1": lambda: graph.forward(1, workers=1),
        "plain calls": lambda: [node.forward(1, ctx) for node in nodes],
        "ThreadPoolExecutor": lambda: list(pool.map(lambda node: node.forward(1, ctx), nodes)),
        "a thread each": threads,
    }


def compiled(n_nodes):
    piece = Same().named("n0")
    for at in range(1, n_nodes):
        piece = piece >> Same().named(f"n{at}")
    since = time.perf_counter()
    graph = Graph.somatize(piece)
    built = time.perf_counter()
    graph.plan()
    return (built - since) * 1e3, (time.perf_counter() - built) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="a second or two, to see that it runs")
    smoke = parser.parse_args().smoke
    # Many short rounds: the smallest of them is one that nobody interrupted.
    rounds, budget = (2, 0.002) if smoke else (100, 0.003)
    try:
        import torch  # noqa: F401
    except ImportError:
        print("torch is not installed: nn.Sequential is left out")

    print("forward through pass-through nodes; µs per call, and per node above the plain call")
    for n_nodes in CHAINS:
        found = smallest(chain(n_nodes), rounds, budget)
        ours, plain = found["somatize"], found["plain calls"]
        rest = "  ".join(f"{name} {value:.2f}" for name, value in found.items() if name != "somatize")
        print(
            f"  {n_nodes:>6} nodes  somatize {ours:.2f}  {rest}  "
            f"ratio {ours / plain:.1f}  above plain {(ours - plain) / n_nodes:.3f} µs/node"
        )
    print("a wave of trivial branches; µs per call")
    for n_branches in WAVES:
        found = smallest(wave(n_branches), rounds, budget)
        ours = found["somatize"]
        rest = "  ".join(f"{name} {value:.1f} ({value / ours:.2f}x)" for name, value in found.items())
        print(f"  {n_branches:>6} branches  {rest}")
    for n_nodes in (100,) if smoke else (100, 1_000, 10_000):
        build, plan = compiled(n_nodes)
        print(f"chain of {n_nodes}: built in {build:.2f} ms, compiled in {plan:.2f} ms")


if __name__ == "__main__":
    main()
