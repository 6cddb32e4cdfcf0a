"""Import contracts for the house: import-linter's own, seen without the tests that lie in the rooms."""

from typing import Any

from grimp import ImportGraph
from importlinter import ContractCheck
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.independence import IndependenceContract
from importlinter.contracts.layers import LayersContract


def is_test(module: str) -> bool:
    """Whether any part of the dotted name is a test module's or a conftest's."""
    return any(part.startswith("test_") or part == "conftest" for part in module.split("."))


class _LooksPastTests:
    """Takes the test modules out of the graph (each contract gets a copy of its own) before the check."""

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        for module in filter(is_test, list(graph.modules)):
            graph.remove_module(module)
        inherited: Any = super()
        return inherited.check(graph, verbose)


class Layers(_LooksPastTests, LayersContract):
    """Layers among what ships."""


class Independence(_LooksPastTests, IndependenceContract):
    """Siblings that do not know each other, among what ships."""


class Forbidden(_LooksPastTests, ForbiddenContract):
    """Imports that do not occur in what ships."""
