"""A study is a `for` over numbered trials; here is what the `for` asks for.

Numbers go in and a decision comes out, never a tensor: `ask` chooses a point, `take` claims a trial, `report`
writes down where it got to, `finished` reads the history back. The same script on eight machines over one
folder is a distributed study; `search` is that loop, written once.
"""

from somatize._somatize import Curves, Dimension, History, Point, Pruner, Sampler, Space, Trials

__all__ = ["Curves", "Dimension", "History", "Point", "Pruner", "Sampler", "Space", "Trials"]
