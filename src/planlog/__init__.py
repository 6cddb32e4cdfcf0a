"""planlog: an agent harness that never loses the plan."""

__version__ = "0.1.0"
