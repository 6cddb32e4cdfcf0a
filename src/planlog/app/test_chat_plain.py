from collections.abc import AsyncGenerator

import pytest

from planlog.app.chat_plain import prompts


async def each(*lines: str) -> AsyncGenerator[str]:
    for line in lines:
        yield line


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((), []),
        (("a", "b"), ["a", "b"]),
        (("a\\", "b", "c"), ["a\nb", "c"]),
        (("a\\", "\\", "c"), ["a\n\nc"]),
        (("a\\",), ["a"]),
    ],
)
async def test_a_line_that_ends_in_a_backslash_goes_on(lines: tuple[str, ...], expected: list[str]) -> None:
    assert [prompt async for prompt in prompts(each(*lines))] == expected
