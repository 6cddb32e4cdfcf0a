from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta

from planlog.kernel.errors import ConfigError
from planlog.kernel.settings import Setting, describe, divide_settings


@pytest.mark.parametrize(
    "annotation, words",
    [
        (bool, "true or false"),
        (int, "a whole number"),
        (float, "a number"),
        (str, "a text"),
        (list[str], "a list of texts"),
        (list[Literal["ask", "deny"]], 'a list with each entry one of "ask", "deny"'),
        (dict[str, int], "a table with each value a whole number"),
        (Literal["ask", "auto", "deny"], 'one of "ask", "auto", "deny"'),
        (Literal["only"], '"only"'),
        (str | None, "a text"),
        (int | Literal["auto"], 'a whole number or "auto"'),
        (Annotated[int, Meta(ge=1, le=100)], "a whole number, at least 1, at most 100"),
        (Annotated[str, Meta(min_length=1)], "a text, at least 1 long"),
    ],
)
def test_an_annotation_is_put_into_words(annotation: Any, words: str) -> None:
    assert describe(annotation) == words


@pytest.mark.parametrize("annotation", [object, Any, bytes, set[str], dict[int, str], list, Setting, Literal[True]])
def test_an_annotation_that_no_composition_can_meet_is_refused(annotation: Any) -> None:
    with pytest.raises(TypeError):
        describe(annotation)


def refusal(given: dict[str, object], **annotations: Any) -> str:
    settings = tuple(Setting(name, annotation, describe(annotation)) for name, annotation in annotations.items())
    with pytest.raises(ConfigError) as caught:
        divide_settings("todo", given, {"todo.tool": settings})
    return str(caught.value)


def test_a_missing_setting_is_named_with_what_it_takes() -> None:
    assert refusal({}, allow=bool) == 'todo: setting "allow" is required: true or false'
    assert refusal({}, mode=Literal["ask", "deny"]) == 'todo: setting "mode" is required: one of "ask", "deny"'


def test_an_unknown_setting_is_named_with_those_that_are_known() -> None:
    assert refusal({"x": 1, "allow": True}, allow=bool) == 'todo: unknown setting "x"; it knows: allow'
    assert refusal({"x": 1}) == 'todo: unknown setting "x"; it has no settings'


@pytest.mark.parametrize(
    "annotation, value, complaint",
    [
        (bool, "yes", 'must be true or false, got "yes"'),
        (bool, "true", 'must be true or false, got "true"'),
        (bool, 1, "must be true or false, got 1"),
        (int, True, "must be a whole number, got true"),
        (int, "3", 'must be a whole number, got "3"'),
        (int, 2.5, "must be a whole number, got 2.5"),
        (str, 3, "must be a text, got 3"),
        (float, False, "must be a number, got false"),
        (list[str], "a", 'must be a list of texts, got "a"'),
        (list[str], ["a", 1], 'must be a list of texts, got ["a",1]'),
        (Literal["ask", "deny"], "yes", 'must be one of "ask", "deny", got "yes"'),
        (Annotated[int, Meta(ge=1)], 0, "must be a whole number, at least 1, got 0"),
        (bool, "x" * 100, 'must be true or false, got "' + "x" * 58 + "…"),
    ],
)
def test_a_value_of_another_type_is_refused_and_never_guessed(annotation: Any, value: object, complaint: str) -> None:
    assert refusal({"it": value}, it=annotation) == f'todo: setting "it" {complaint}'


def test_values_arrive_converted_and_a_default_stands_in_for_what_is_not_written() -> None:
    declared = {
        "todo.tool": (Setting("allow", bool, "…"), Setting("limit", int, "…", default=200)),
        "todo.web": (Setting("width", float, "…"),),
    }
    assert divide_settings("todo", {"width": 2, "allow": False}, declared) == {
        "todo.tool": {"allow": False, "limit": 200},
        "todo.web": {"width": 2.0},
    }


def test_a_setting_that_two_roles_declare_is_refused() -> None:
    twice = {"todo.tool": (Setting("loud", bool, "…"),), "todo.web": (Setting("loud", bool, "…"),)}
    with pytest.raises(ConfigError) as caught:
        divide_settings("todo", {"loud": True}, twice)
    assert str(caught.value) == ('todo: setting "loud" is declared by todo.tool and todo.web; only one may declare it')
