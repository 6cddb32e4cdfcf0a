from typing import Any

import pytest

from planlog.faces.acp.prompts import command_of, prompt_text
from planlog.faces.acp.requests import RpcError

LINK = {"type": "resource_link", "name": "a.py", "uri": "file:///a.py"}


@pytest.mark.parametrize(
    ("blocks", "text"),
    [
        ([{"type": "text", "text": " go "}], " go "),
        ([{"type": "text", "text": "a", "_meta": {}}, {"type": "text", "text": "b"}], "a\n\nb"),
        ([{"type": "resource_link", "name": "a.py", "uri": "file:///a.py", "size": 3}], "[a.py](file:///a.py)"),
        (
            [{"type": "text", "text": "Mend "}, LINK, {"type": "text", "text": " and "}, LINK, LINK],
            "Mend [a.py](file:///a.py) and [a.py](file:///a.py)\n\n[a.py](file:///a.py)",
        ),
        ([{"type": "text", "text": "Mend this:"}, LINK], "Mend this:\n\n[a.py](file:///a.py)"),
        ([{"type": "resource", "resource": {"uri": 'a"b', "text": "x"}}], '<resource uri="a\\"b">\nx\n</resource>'),
        ([{"type": "resource", "resource": {"uri": "a:b", "blob": "aGk="}}], "[a:b]"),
    ],
)
def test_blocks_are_read_as_text(blocks: list[Any], text: str) -> None:
    assert prompt_text(blocks) == text


@pytest.mark.parametrize(
    ("blocks", "said"),
    [
        ([], "the prompt is empty"),
        ([{"type": "text", "text": "\n "}], "the prompt is empty"),
        (
            [{"type": "image", "data": ""}],
            "blocks of type image are not supported; text, resource_link and resource are",
        ),
        (["text"], "blocks of type None are not supported"),
        ([{"type": "text"}], "a block of the prompt is not what its type says"),
    ],
)
def test_what_cannot_be_read_is_said(blocks: list[Any], said: str) -> None:
    with pytest.raises(RpcError, match=said) as error:
        prompt_text(blocks)
    assert error.value.code == -32602


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/plan", ("plan", "")),
        ("/plan history", ("plan", "history")),
        ("/title\na new name", ("title", "a new name")),
        ("/etc/hosts has a fault", None),
        ("/", None),
        ("plan", None),
        (" /plan", None),
    ],
)
def test_a_command_is_a_slash_and_a_name(text: str, command: tuple[str, str] | None) -> None:
    assert command_of(text) == command
