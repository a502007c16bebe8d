"""The figures of a study, a module each: `_<name>_data()` computes what is drawn, `_draw()` draws it.

`somatize.study` offers the functions; nothing here imports plotly before it draws.
"""
