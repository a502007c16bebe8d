"""Drawing shared by every figure: themes, words, and the plotly figure that follows its reader's theme.

Nothing here knows what a study or a graph is, and importing it does not import plotly.
"""

from somatize.figure.theme import DARK, LIGHT, Theme, theme_of

__all__ = ["DARK", "LIGHT", "Theme", "theme_of"]
