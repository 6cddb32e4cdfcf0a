from pathlib import Path

import msgspec
import pytest

from planlog.kernel.errors import ConfigError
from planlog.tools.schema import Unchecked
from planlog.tools.tool import Execution, Presentation, Tool, ToolFailure, Tools


class Greeting(msgspec.Struct, forbid_unknown_fields=True):
    name: str


async def greet(params: Greeting, execution: Execution) -> str:
    execution.progress("thinking of words")
    return f"Hello {params.name}"


def greeter(name: str = "greet", **settings: object) -> Tool[Greeting, str]:
    return Tool(name, "Greets.", Greeting, greet, str, **settings)  # pyright: ignore[reportArgumentType]


def test_a_definition_is_what_models_are_told() -> None:
    assert greeter().definition() == {
        "name": "greet",
        "description": "Greets.",
        "parameters": {
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
            "additionalProperties": False,
        },
    }


def test_a_tool_is_offered_only_as_long_as_it_is_mounted() -> None:
    tools = Tools()
    tool = greeter()
    with tools.add(tool):
        assert tools.get("greet") is tool
    assert tools.get("greet") is None
    assert tools.names() == []


def test_a_tool_leaves_also_when_its_plugin_breaks() -> None:
    tools = Tools()
    with pytest.raises(ZeroDivisionError), tools.add(greeter()):
        _ = 1 / 0
    assert tools.names() == []


def test_a_name_that_is_taken_is_refused_and_the_first_tool_stays() -> None:
    tools = Tools()
    first = greeter()
    with tools.add(first):
        with pytest.raises(ConfigError, match='tool "greet" is already registered'), tools.add(greeter()):
            pass
        assert tools.get("greet") is first


def test_definitions_do_not_depend_on_the_order_of_mounting() -> None:
    one, other = Tools(), Tools()
    with one.add(greeter("b")), one.add(greeter("a")), other.add(greeter("a")), other.add(greeter("b")):
        assert one.names() == ["a", "b"]
        assert msgspec.json.encode(one.definitions()) == msgspec.json.encode(other.definitions())


@pytest.mark.parametrize("name", ["", "two words", "dotted.name", "a" * 65, "任务", "line\n"])
def test_a_name_that_not_every_vendor_takes_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="must be 1 to 64 letters"):
        greeter(name)


def test_bounds_that_bound_nothing_are_refused() -> None:
    with pytest.raises(ConfigError, match="timeout must be more than 0"):
        greeter(timeout=0)
    with pytest.raises(ConfigError, match="output_limit must be at least 1"):
        greeter(output_limit=0)


def test_parameters_without_a_schema_are_refused_when_the_tool_is_defined() -> None:
    class Loose(msgspec.Struct):
        name: str

    with pytest.raises(ConfigError, match="needs forbid_unknown_fields=True"):
        Tool("greet", "Greets.", Loose, greet, str)  # pyright: ignore[reportArgumentType]


def test_a_schema_is_given_for_unchecked_parameters_and_for_no_others() -> None:
    async def run(params: Unchecked, execution: Execution) -> str:
        return ""

    tool = Tool("greet", "Greets.", Unchecked, run, str, given_schema={"type": "object", "anyOf": []})
    assert tool.definition()["parameters"] == {"type": "object", "anyOf": []}
    with pytest.raises(ConfigError, match="a schema is given for Unchecked"):
        Tool("greet", "Greets.", Unchecked, run, str)
    with pytest.raises(ConfigError, match="a schema is given for Unchecked"):
        greeter("greet", given_schema={"type": "object"})


def test_a_presentation_travels_in_camel_case_without_what_it_does_not_say() -> None:
    shown = Presentation(card="generic", title="Update todo list", kind="think", raw_input=[])
    assert msgspec.json.encode(shown) == b'{"card":"generic","title":"Update todo list","kind":"think","rawInput":[]}'


def test_a_tool_failure_has_both_a_name_and_a_code_or_neither() -> None:
    with pytest.raises(TypeError):
        ToolFailure("sandbox missing", code="SANDBOX_UNAVAILABLE")


async def test_progress_that_nobody_hears_is_allowed() -> None:
    assert await greet(Greeting("Ada"), Execution("c1", None, Path())) == "Hello Ada"
