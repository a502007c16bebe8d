"""Waves: branches at the same time, with what the caller holds, and no surprise."""

from __future__ import annotations

import contextvars
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from somatize import Graph, Node

SPAWN = multiprocessing.get_context("spawn")


class Add(Node):
    def __init__(self, n=1):
        self.n = n

    def forward(self, input, ctx):
        return input + self.n


class Sum(Node):
    def forward(self, input, ctx):
        return sum(input.values())


class Call(Node):
    def __init__(self, function):
        self.function = function

    def forward(self, input, ctx):
        return self.function()


class Sleep(Node):
    def __init__(self, seconds):
        self.seconds = seconds

    def forward(self, input, ctx):
        time.sleep(self.seconds)
        return threading.get_ident()


def fan(*nodes):
    piece = nodes[0]
    for node in nodes[1:]:
        piece = piece | node
    return Graph.somatize(piece)


def calls(*functions, **options):
    return list(fan(*map(Call, functions)).forward(**options).values())


def took(call):
    since = time.perf_counter()
    call()
    return time.perf_counter() - since


def test_branches_that_sleep_sleep_at_the_same_time():
    g = fan(*(Sleep(0.1) for _ in range(8)))
    assert took(g.forward) < 0.4
    assert took(lambda: g.forward(workers=1)) >= 0.8
    assert took(lambda: g.forward(workers=2)) >= 0.4
    assert len(set(g.forward().values())) == 8
    assert set(g.forward(workers=1).values()) == {threading.get_ident()}


def test_the_pool_is_kept_between_runs():
    g = fan(*(Sleep(0.02) for _ in range(4)))
    g.forward()
    before = native_threads()
    for _ in range(10):
        g.forward()
    assert native_threads() <= before


def native_threads():
    return len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 0


def test_branches_that_release_the_interpreter_overlap():
    torch = pytest.importorskip("torch")
    inside, both = threading.Barrier(2, timeout=20), []

    def work():
        # Both are within a torch operation's branch at once: neither passes without the other.
        inside.wait()
        both.append(torch.mm(torch.ones(64, 64), torch.ones(64, 64))[0, 0].item())

    calls(work, work)
    assert both == [64.0, 64.0]


def test_trivial_branches_run_on_the_caller_and_any_thread_may_open_a_wave():
    g = fan(*(Add(n) for n in range(8)))
    results = []
    threads = [threading.Thread(target=lambda: results.append(g.forward(1))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert results == [{"add": 1} | {f"add_{n + 1}": n + 1 for n in range(1, 8)}] * 8


def test_graphs_within_waves_within_graphs_end():
    class Inner(Node):
        def __init__(self, graph):
            self.graph = graph

        def forward(self, input, ctx):
            time.sleep(0.001)
            return self.graph.forward(input)

    g = Graph.somatize(Add(1))
    for _ in range(4):
        piece = Inner(g)
        for _ in range(3):
            piece = piece | Inner(g)
        g = Graph.somatize(piece >> Sum())
    assert g.forward(0) == g.forward(0, workers=2) == 4**4


# What the caller holds.

VARIABLE = contextvars.ContextVar("variable", default="unset")


@pytest.mark.parametrize("workers", [None, 1])
def test_context_variables_hold_inside_every_branch_and_do_not_leak_out(workers):
    barrier = threading.Barrier(3, timeout=20)

    def seen():
        if workers is None:
            barrier.wait()
        before = VARIABLE.get()
        VARIABLE.set("mine")
        return before

    token = VARIABLE.set("held")
    try:
        assert calls(seen, seen, seen, workers=workers) == ["held"] * 3
        assert VARIABLE.get() == "held"
    finally:
        VARIABLE.reset(token)


def test_context_variables_hold_in_waves_within_branches_and_through_a_branch():
    seen = []

    class Sets(Node):
        def forward(self, input, ctx):
            VARIABLE.set("set in the branch")

    class Sees(Node):
        def forward(self, input, ctx):
            seen.append(VARIABLE.get())

    class Other(Node):
        def forward(self, input, ctx):
            assert VARIABLE.get() == "unset"

    piece = (Sets() >> (Sees() | Sees()) >> Sees()) | Other() | Other()
    for workers in (None, 1):
        seen.clear()
        Graph.somatize(piece).forward(workers=workers)
        assert seen == ["set in the branch"] * 3
        assert VARIABLE.get() == "unset"


def modes():
    """What torch holds on this thread."""
    torch = pytest.importorskip("torch")
    return (
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu"),
        str(torch.get_default_device()),
        torch.empty(1).device.type,
        torch.mm(torch.ones(2, 2, device="cpu"), torch.ones(2, 2, device="cpu")).dtype,
        (torch.ones(1, device="cpu", requires_grad=True) * 2).requires_grad,
    )


def torch_modes():
    torch = pytest.importorskip("torch")
    return {
        "nothing": lambda: torch.enable_grad(),
        "no_grad": lambda: torch.no_grad(),
        "inference": lambda: torch.inference_mode(),
        "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
        "device": lambda: torch.device("meta"),
    }


@pytest.mark.parametrize("mode", ["nothing", "no_grad", "inference", "autocast", "device"])
@pytest.mark.parametrize("workers", [None, 1])
def test_torch_modes_of_the_caller_hold_inside_every_branch(mode, workers):
    barrier = threading.Barrier(3, timeout=20)

    def seen():
        if workers is None:
            barrier.wait()  # Each on a thread of its own.
        return modes()

    plain = modes()
    with torch_modes()[mode]():
        expected = modes()
        assert calls(seen, seen, seen, workers=workers) == [expected] * 3
        assert modes() == expected
    assert modes() == plain
    assert calls(seen, seen, seen, workers=workers) == [plain] * 3  # The pool kept nothing.
    assert mode == "nothing" or expected != plain


def test_the_default_device_set_for_good_holds_inside_every_branch():
    torch = pytest.importorskip("torch")
    barrier = threading.Barrier(2, timeout=20)

    def seen():
        barrier.wait()
        return torch.empty(1).device.type, str(torch.get_default_device())

    torch.set_default_device("meta")
    try:
        assert calls(seen, seen) == [("meta", "meta")] * 2
    finally:
        torch.set_default_device(None)
    assert calls(seen, seen) == [("cpu", "cpu")] * 2


@pytest.mark.parametrize("workers", [None, 1])
def test_a_mode_left_behind_by_a_branch_reaches_no_other(workers):
    torch = pytest.importorskip("torch")

    def leaves():
        before = torch.is_grad_enabled(), torch.is_autocast_enabled("cpu")
        torch.set_grad_enabled(False)
        torch.set_autocast_enabled("cpu", True)
        return before

    for _ in range(3):
        assert calls(*[leaves] * 8, workers=workers) == [(True, False)] * 8
        assert torch.is_grad_enabled()
        assert not torch.is_autocast_enabled("cpu")


def test_gradients_flow_through_the_branches_of_a_wave():
    torch = pytest.importorskip("torch")

    class Scale(Node):
        def __init__(self, by):
            self.by = by

        def forward(self, input, ctx):
            return input * self.by

    x = torch.tensor(2.0, requires_grad=True)
    out = Graph.somatize((Scale(3) | Scale(4)) >> Sum()).forward(x)
    assert out.grad_fn is not None
    out.backward()
    assert x.grad.item() == 7.0


# Processes and signals.


def works():
    """Whether waves run at the same time in this process: both are inside at once, or the barrier breaks."""
    barrier = threading.Barrier(3, timeout=20)
    return calls(*[lambda: barrier.wait() >= 0] * 3) == [True] * 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_waves_work_in_a_forked_child_and_its_child_and_still_in_the_parent():
    assert works()

    def child(depth):
        if depth and not forked(lambda: child(depth - 1)):
            return False
        return works()

    assert forked(lambda: child(1))
    assert works()


def forked(call):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = 0 if call() else 2
        finally:
            os._exit(code)
    for _ in range(600):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return False


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_branch_may_fork():
    def forks():
        return forked(works)

    assert calls(forks, lambda: time.sleep(0.05), forks) == [True, None, True]


def send(graph, input):
    return graph.forward(input)


def test_a_graph_travels_to_a_spawned_process_and_runs_there():
    g = Graph.somatize(Add(1) >> (Add(10) | Add(20)) >> Sum())
    with SPAWN.Pool(1) as pool:
        assert pool.apply(send, (g, 0)) == g.forward(0)


def script(text, **options):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(text)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        **options,
    )


@pytest.mark.parametrize("caller", ["waits", "sleeps"])
def test_ctrl_c_stops_a_wave(caller):
    process = script(f"""
        import time
        from somatize import Graph, Node
        class Sleep(Node):
            def __init__(self, seconds):
                self.seconds = seconds
            def forward(self, input, ctx):
                time.sleep(self.seconds)
        # The caller runs the first branch, which ends soon so that it waits, or is where Ctrl-C finds it.
        piece = Sleep({0.2 if caller == "waits" else 60}) | Sleep(60) | Sleep(60)
        g = Graph.somatize(piece >> Sleep(0))
        print("ready", flush=True)
        try:
            g.forward()
        except KeyboardInterrupt:
            print("stopped", flush=True)
        quick = Graph.somatize(Sleep(0) | Sleep(0))
        print(quick.forward(), flush=True)
    """)
    assert process.stdout.readline() == "ready\n"
    time.sleep(1)
    since = time.perf_counter()
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "stopped\n"
    assert time.perf_counter() - since < 1
    assert process.stdout.readline() == "{'sleep': None, 'sleep_2': None}\n"
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (0, "", "")


def test_a_process_ends_cleanly_right_after_a_wave():
    for _ in range(5):
        process = script("""
            from somatize import Graph, Node
            class Same(Node):
                def forward(self, input, ctx):
                    return input
            g = Graph.somatize(Same() | Same() | Same())
            for _ in range(200):
                g.forward(1)
        """)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out, err) == (0, "", "")
