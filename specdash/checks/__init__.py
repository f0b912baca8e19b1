"""Pure checks of what a log says against what stands beside it."""
