import json
import re
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from planlog.kernel.errors import ConfigError
from planlog.tools.schema import (
    Unchecked,
    Violations,
    check_arguments,
    schema_of,
)
from planlog.tools.schema import _fit as fit  # the slow way alone, to compare it with the fast one

Meta = msgspec.Meta


class Item(msgspec.Struct, forbid_unknown_fields=True):
    content: str
    status: Literal["pending", "in_progress", "completed"]


class Plan(msgspec.Struct, forbid_unknown_fields=True):
    todos: Annotated[list[Item], Meta(description="The whole list.")]


class Everything(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    one_text: str
    whole: int
    real: float
    flag: bool
    kind: Literal["b", "a"]
    rows: list[list[int]]
    item: Item
    maybe: Annotated[str | None, Meta(description="Left out or null.")] = None
    maybe_items: list[Item] | None = None
    count: int = 3
    names: Annotated[list[Annotated[str, Meta(description="One name.")]], Meta(description="Names.")] = msgspec.field(
        default_factory=list
    )


def violations(raw: str, params: type[msgspec.Struct] = Plan) -> list[str]:
    checked = check_arguments(params, raw)
    return list(checked.found) if isinstance(checked, Violations) else []


# --- what is emitted


def test_the_schema_of_a_plan_in_declared_order() -> None:
    assert json.dumps(schema_of(Plan), separators=(",", ":")) == (
        '{"type":"object","properties":{"todos":{"type":"array","description":"The whole list.","items":'
        '{"type":"object","properties":{"content":{"type":"string"},'
        '"status":{"type":"string","enum":["pending","in_progress","completed"]}},'
        '"required":["content","status"],"additionalProperties":false}}},'
        '"required":["todos"],"additionalProperties":false}'
    )


def test_every_kind_of_field_in_the_subset_that_all_vendors_take() -> None:
    schema = schema_of(Everything)
    item = schema_of(Item)
    assert schema["properties"] == {
        "oneText": {"type": "string"},
        "whole": {"type": "integer"},
        "real": {"type": "number"},
        "flag": {"type": "boolean"},
        "kind": {"type": "string", "enum": ["b", "a"]},
        "rows": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
        "item": item,
        "maybe": {"type": "string", "description": "Left out or null."},
        "maybeItems": {"type": "array", "items": item},
        "count": {"type": "integer"},
        "names": {
            "type": "array",
            "description": "Names.",
            "items": {"type": "string", "description": "One name."},
        },
    }
    assert schema["required"] == ["oneText", "whole", "real", "flag", "kind", "rows", "item"]


def nodes(schema: dict[str, Any]) -> list[dict[str, Any]]:
    children = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
    return [schema, *(node for child in children for node in nodes(child))]


def test_no_node_has_a_keyword_that_a_vendor_refuses() -> None:
    keywords = {"type", "description", "enum", "items", "properties", "required", "additionalProperties"}
    for node in nodes(schema_of(Everything)):
        assert node.keys() <= keywords
        assert ("items" in node) == (node["type"] == "array")
        assert (node.get("additionalProperties") is False) == (node["type"] == "object")
        assert node.get("enum", ["x"])


def test_a_tool_without_parameters_takes_an_empty_object_only() -> None:
    class Nothing(msgspec.Struct, forbid_unknown_fields=True):
        pass

    assert schema_of(Nothing) == {"type": "object", "properties": {}, "additionalProperties": False}
    assert check_arguments(Nothing, "") == Nothing()
    assert violations("[]", Nothing) == ['"arguments" must be an object']


def struct_with(annotation: Any, default: Any = msgspec.NODEFAULT, **config: Any) -> type[msgspec.Struct]:
    config = {"forbid_unknown_fields": True, **config}
    field = ("x", annotation) if default is msgspec.NODEFAULT else ("x", annotation, default)
    return msgspec.defstruct("Params", [field], **config)


@pytest.mark.parametrize(
    "annotation, told",
    [
        (dict[str, int], "Params.x: dict[str, int] has no schema"),
        (Any, "has no schema"),
        (bytes, "has no schema"),
        (list, "has no schema"),
        (Literal["a", 1], "has no schema"),
        (Literal["a", None], "has no schema"),
        (list[dict[str, int]], "Params.x[]: dict[str, int] has no schema"),
        (list[int | None], "has no schema"),
        (None, "has no schema"),
        (int | str, "a union of several types"),
        (int | str | None, "a union of several types"),
        (int | None, "needs the default None"),
        (int | msgspec.UnsetType, "a union of several types"),
        (Annotated[int, Meta(ge=1)], "only msgspec.Meta(description=...)"),
        (list[Annotated[str, Meta(max_length=3)]], "only msgspec.Meta(description=...)"),
        (Annotated[int, "a note"], "only msgspec.Meta(description=...)"),
        (struct_with(int, forbid_unknown_fields=False), "Params.x: Params needs forbid_unknown_fields=True"),
        (struct_with(int, tag="t"), "neither array_like nor tagged"),
        (struct_with(int, array_like=True), "neither array_like nor tagged"),
    ],
)
def test_what_no_schema_can_say_is_refused_when_it_is_defined(annotation: Any, told: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(told)):
        schema_of(struct_with(annotation))


def test_an_optional_with_another_default_than_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="needs the default None"):
        schema_of(struct_with(int | None, 3))


class Node(msgspec.Struct, forbid_unknown_fields=True):
    children: list["Node"]


def test_a_struct_inside_itself_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"without \$ref"):
        schema_of(Node)


def test_a_check_that_the_schema_cannot_say_is_refused() -> None:
    class Picky(msgspec.Struct, forbid_unknown_fields=True):
        x: int

        def __post_init__(self) -> None:
            raise ValueError

    with pytest.raises(ConfigError, match="__post_init__"):
        schema_of(Picky)


# --- what is refused, and how

DONE = '{"content":"a","status":"completed"}'


@pytest.mark.parametrize(
    "raw, told",
    [
        ("{}", ['missing required property "todos"']),
        ("", ['missing required property "todos"']),
        (" \n\t", ['missing required property "todos"']),
        ('{"todos":{"content":"x","status":"pending"}}', ['"todos" must be an array']),
        ('{"todos":null}', ['"todos" must be an array']),
        ('{"todos":"not json"}', ['"todos" must be an array']),
        ("{\"todos\":\"[{'content': 'a', 'status': 'pending'}]\"}", ['"todos" must be an array']),
        ('{"todos":"\\"[]\\""}', ['"todos" must be an array']),
        ('{"todos":["write tests"]}', ['"todos[0]" must be an object']),
        (
            f'{{"todos":["a",{DONE},null,3,[]]}}',
            [f'"todos[{index}]" must be an object' for index in (0, 2, 3, 4)],
        ),
        ('{"todos":[{"content":"T"}]}', ['missing required property "todos[0].status"']),
        ('{"todos":[{"content":1,"status":"pending"}]}', ['"todos[0].content" must be a string']),
        (
            '{"todos":[{"id":"1","status":"completed"}]}',
            [
                'missing required property "todos[0].content"',
                '"todos[0].id" is not a declared property (additionalProperties: false)',
            ],
        ),
        (
            f'{{"merge":true,"todos":[{DONE}]}}',
            ['"merge" is not a declared property (additionalProperties: false)'],
        ),
        ("[]", ['"arguments" must be an object']),
        ("null", ['"arguments" must be an object']),
        ("nonsense", ['"arguments" must be an object']),
        ('{"todos":[{"content":"a\nb","status":"pending"}]}', ['"arguments" must be an object']),
        ('{"todos":[{"content":"a","status":"pending"}], x":1}', ['"arguments" must be an object']),
        ('{"todos":[]} {}', ['"arguments" must be an object']),
        ('\ufeff{"todos":[]}', ['"arguments" must be an object']),
    ],
)
def test_arguments_that_do_not_fit_are_told_by_place_and_rule(raw: str, told: list[str]) -> None:
    assert violations(raw) == told


@pytest.mark.parametrize("status", ['"done"', '"Completed"', '" pending "', '""', "null", "1", "true", "[]", '"[]"'])
def test_a_status_outside_the_three_is_told_what_is_allowed(status: str) -> None:
    raw = f'{{"todos":[{DONE},{{"content":"b","status":{status}}}]}}'
    assert violations(raw) == ['"todos[1].status" must be one of ["pending","in_progress","completed"]']


def test_all_violations_come_at_once_missing_first_then_children_then_undeclared() -> None:
    raw = """{"z":1, "names":[1,"a",null], "item":{"extra":1,"status":"x"}, "flag":1, "real":"3", "whole":true,
        "kind":"c", "rows":[[1],2,[3,"4",5.5]], "count":"7", "maybe":[], "a":2}"""
    assert violations(raw, Everything) == [
        'missing required property "oneText"',
        '"whole" must be an integer',
        '"real" must be a number',
        '"flag" must be a boolean',
        '"kind" must be one of ["b","a"]',
        '"rows[1]" must be an array',
        '"rows[2][1]" must be an integer',
        '"rows[2][2]" must be an integer',
        'missing required property "item.content"',
        '"item.status" must be one of ["pending","in_progress","completed"]',
        '"item.extra" is not a declared property (additionalProperties: false)',
        '"maybe" must be a string',
        '"count" must be an integer',
        '"names[0]" must be a string',
        '"names[2]" must be a string',
        '"z" is not a declared property (additionalProperties: false)',
        '"a" is not a declared property (additionalProperties: false)',
    ]
    assert str(check_arguments(Plan, '{"todos":[3],"x":1}')) == (
        '"todos[0]" must be an object; "x" is not a declared property (additionalProperties: false)'
    )


def test_a_strange_key_is_quoted_and_a_long_one_shortened() -> None:
    assert violations('{"todos":[],"a\\"\\n\\u0000\\ud83d":1}') == [
        '"a\\"\\n␀\ufffd" is not a declared property (additionalProperties: false)'
    ]
    (told,) = violations(json.dumps({"todos": [], "k" * 100_000: 1}))
    assert told == f'"{"k" * 80}…" is not a declared property (additionalProperties: false)'


# --- what is taken although it is spelled oddly

PLAN = Plan([Item("a", "completed")])


@pytest.mark.parametrize(
    "raw",
    [
        f'{{"todos":[{DONE}]}}',
        json.dumps({"todos": f"[{DONE}]"}),
        json.dumps({"todos": [DONE]}),
        json.dumps(f'{{"todos":[{DONE}]}}'),
        json.dumps(json.dumps({"todos": json.dumps([DONE])})),
        json.dumps({"todos": f" [{DONE}]\n"}),
    ],
)
def test_a_list_or_an_object_that_was_encoded_once_more_is_decoded_wherever_it_stands(raw: str) -> None:
    assert check_arguments(Plan, raw) == PLAN


def test_what_was_encoded_twice_more_is_refused() -> None:
    assert violations(json.dumps(json.dumps(json.dumps({"todos": []})))) == ['"arguments" must be an object']


def test_a_string_that_is_wanted_as_a_string_is_never_decoded() -> None:
    raw = json.dumps({"todos": [{"content": "[1]", "status": "pending"}]})
    assert check_arguments(Plan, raw) == Plan([Item("[1]", "pending")])


def test_what_was_found_inside_an_encoded_list_is_told_by_the_same_places() -> None:
    assert violations(json.dumps({"todos": '[{"content":"a"}]'})) == ['missing required property "todos[0].status"']


FULL: dict[str, Any] = {
    "oneText": "t",
    "whole": 1,
    "real": 1.5,
    "flag": True,
    "kind": "a",
    "rows": [[1]],
    "item": {"content": "c", "status": "pending"},
}


def everything(**changed: Any) -> Any:
    return check_arguments(Everything, json.dumps(FULL | changed))


def test_null_for_what_is_not_required_counts_as_left_out() -> None:
    assert everything(maybe=None, maybeItems=None, count=None, names=None) == everything()
    assert everything().count == 3


def test_null_for_what_is_required_is_refused() -> None:
    assert str(everything(oneText=None)) == '"oneText" must be a string'


def test_a_whole_number_may_be_spelled_as_a_float() -> None:
    taken = everything(whole=1.0, rows=[[2.0, -0.0, 1e2]])
    assert (taken.whole, taken.rows) == (1, [[2, 0, 100]])
    assert all(type(number) is int for number in [taken.whole, *taken.rows[0]])
    assert str(everything(whole=1e30)) == '"whole" must be an integer'
    assert everything(whole=10**30).whole == 10**30
    assert everything(real=3).real == 3.0


def test_a_surrogate_or_a_nul_in_a_string_is_replaced_and_the_call_is_taken() -> None:
    raw = '{"todos":[{"content":"x \\ud83d y\\u0000 \\ud83d\\ude00","status":"pending"}]}'
    assert check_arguments(Plan, raw) == Plan([Item("x \ufffd y␀ 😀", "pending")])
    assert check_arguments(Plan, '{"todos":[{"content":"\ud83d","status":"pending"}]}') == Plan(
        [Item("\ufffd", "pending")]
    )


def test_a_nul_alone_is_replaced_too() -> None:
    assert check_arguments(Plan, '{"todos":[{"content":"a\\u0000b","status":"pending"}]}') == Plan(
        [Item("a␀b", "pending")]
    )


def test_of_a_repeated_key_the_last_one_counts() -> None:
    raw = '{"todos":"bad","todos":[{"content":1,"content":"a","status":"pending","status":"completed"}]}'
    assert check_arguments(Plan, raw) == PLAN
    assert violations('{"todos":[],"todos":3}') == ['"todos" must be an array']


# --- what other readers choke on


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity"])
def test_literals_that_are_not_json_make_the_text_not_json(literal: str) -> None:
    assert violations(f'{{"todos":[],"priority":{literal}}}') == ['"arguments" must be an object']


@pytest.mark.parametrize("number", ["1e400", "-1e400", "9" * 5000, "-" + "9" * 5000])
def test_numbers_beyond_all_measure_are_told_where_they_stand(number: str) -> None:
    undeclared = '"priority" is not a declared property (additionalProperties: false)'
    assert violations(f'{{"todos":[],"priority":{number}}}') == [undeclared]
    raw = json.dumps(FULL)
    assert violations(raw.replace('"whole": 1,', f'"whole":{number},'), Everything) == ['"whole" must be an integer']
    assert violations(raw.replace('"real": 1.5,', f'"real":{number},'), Everything) == ['"real" must be a number']


def test_an_integer_too_large_for_a_double_is_no_number() -> None:
    assert str(everything(real=10**400)) == '"real" must be a number'


@pytest.mark.parametrize("bracket", ["[", '{"a":'])
def test_nesting_without_end_is_not_json(bracket: str) -> None:
    assert violations(bracket * 100_000) == ['"arguments" must be an object']
    assert violations('{"todos":' + bracket * 100_000) == ['"arguments" must be an object']
    assert violations('{"todos":' + "[" * 100_000 + "]" * 100_000 + "}") == ['"arguments" must be an object']
    assert violations(json.dumps({"todos": "[" * 100_000 + "]" * 100_000})) == ['"todos" must be an array']


def test_a_huge_list_is_taken_or_told_entry_by_entry() -> None:
    taken = check_arguments(Plan, json.dumps({"todos": [{"content": "x", "status": "pending"}] * 10_000}))
    assert isinstance(taken, Plan)
    assert len(taken.todos) == 10_000
    assert len(violations(json.dumps({"todos": [1] * 10_000}))) == 10_000


# --- laws

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


def fitting(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """JSON that fits `schema`, here and there in an odd spelling."""
    kind = schema["type"]
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if kind == "array":
        return st.lists(fitting(schema["items"]), max_size=2)
    if kind == "object":
        properties = {name: fitting(child) for name, child in schema["properties"].items()}
        required = {name: properties.pop(name) for name in schema.get("required", [])}
        return st.fixed_dictionaries(required, optional=properties)
    scalars: dict[str, st.SearchStrategy[Any]] = {
        "string": texts,
        "integer": st.integers(),
        "number": st.floats(allow_nan=False, allow_infinity=False) | st.integers(),
        "boolean": st.booleans(),
    }
    return scalars[kind]


@st.composite
def near(draw: st.DrawFn, schema: dict[str, Any]) -> Any:
    """JSON that fits `schema` but for at most two places that were changed."""
    value = draw(fitting(schema))
    for _ in range(draw(st.integers(0, 2))):
        value = changed(draw, value)
    return value


def changed(draw: st.DrawFn, value: Any) -> Any:
    if isinstance(value, list) and value and draw(st.booleans()):
        place = draw(st.integers(0, len(value) - 1))
        return [*value[:place], changed(draw, value[place]), *value[place + 1 :]]
    if isinstance(value, dict) and value and draw(st.booleans()):
        key = draw(st.sampled_from(list(value)))
        return value | {key: changed(draw, value[key])}
    if isinstance(value, dict) and value and draw(st.booleans()):
        key = draw(st.sampled_from(list(value)))
        return {other: child for other, child in value.items() if other != key}
    if isinstance(value, dict) and draw(st.booleans()):
        return value | draw(st.dictionaries(texts, json_values, max_size=1))
    if isinstance(value, int) and abs(value) < 2**53 and draw(st.booleans()):
        return float(value)
    return draw(st.just(json.dumps(value)) | st.none() | json_values)


def typed(raw: str) -> Any:
    try:
        return msgspec.json.decode(raw, type=Everything)
    except msgspec.DecodeError:
        return None


@given(near(schema_of(Everything)))
@example(FULL)
def test_the_fast_way_and_the_slow_way_agree(value: Any) -> None:
    raw = json.dumps(value)
    found: list[str] = []
    fitted = fit(schema_of(Everything), value, "", found)
    fast = typed(raw)
    if fast is not None:
        assert found == []
        assert msgspec.convert(fitted, Everything) == fast
    if not found:
        assert typed(json.dumps(fitted)) == check_arguments(Everything, raw)
    if not found and json.dumps(fitted) == raw:
        assert fast is not None
    if found:
        assert check_arguments(Everything, raw) == Violations(tuple(found))


@given(near(schema_of(Plan)))
def test_messages_are_of_the_known_forms_and_name_no_library(value: Any) -> None:
    form = re.compile(
        r'missing required property ".+"|".+" must be (a string|an array|an object|one of \[.+\])'
        r'|".*" is not a declared property \(additionalProperties: false\)',
        re.DOTALL,
    )
    told = violations(json.dumps(value))
    assert all(form.fullmatch(text) for text in told)
    assert not re.search("msgspec|Struct|Item|Plan|Expected|https?:", " ".join(told))


@given(st.text(st.characters(exclude_categories=[])) | st.text('[]{}":,\\u0d8e19.-NaInfity tod', max_size=60))
def test_no_text_makes_the_check_raise(raw: str) -> None:
    checked = check_arguments(Plan, raw)
    assert isinstance(checked, (Plan, Violations))
    str(checked).encode()


@given(st.text(st.characters(exclude_categories=[])) | st.text('[]{}":,\\u0d8e19.-NaInfity tod', max_size=60))
def test_no_text_makes_the_check_of_what_is_unchecked_raise(raw: str) -> None:
    checked = check_arguments(Unchecked, raw)
    assert isinstance(checked, (Unchecked, Violations))
    msgspec.json.encode(checked)


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        ("", {}),
        ('{"a": [1, null, {"b": "\\u0000\\ud800"}], "c": 1e999}', {"a": [1, None, {"b": "\u2400\ufffd"}], "c": None}),
        ('"{\\"a\\": 1}"', {"a": 1}),
    ],
)
def test_any_object_is_taken_where_somebody_else_wrote_the_schema(raw: str, arguments: Any) -> None:
    assert check_arguments(Unchecked, raw) == Unchecked(arguments)


@pytest.mark.parametrize("raw", ["[]", "3", "null", "no JSON", '"[]"'])
def test_what_is_no_object_is_refused_whoever_wrote_the_schema(raw: str) -> None:
    assert check_arguments(Unchecked, raw) == Violations(('"arguments" must be an object',))


def test_nesting_that_no_reader_survives_is_refused_whoever_wrote_the_schema() -> None:
    for depth in (600, 100_000):
        raw = '{"a":' * depth + "1" + "}" * depth
        assert isinstance(check_arguments(Unchecked, raw), (Unchecked, Violations))
