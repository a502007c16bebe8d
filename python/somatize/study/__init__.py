"""Runs the `for` of a study: spaces, samplers, pruners and the functions that a loop asks for."""
