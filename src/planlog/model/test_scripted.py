"""A script is spoken as a distant model would: in deltas, in time, and with every way to fail."""

from pathlib import Path

import anyio
import msgspec
import pytest
from inline_snapshot import snapshot

from planlog.kernel.errors import ConfigError
from planlog.model.model import Chunk, Finish, Model, ModelError, Replay, Request, UsageChunk
from planlog.model.scripted import open_script

ASK = Request("", (), ())


def script(folder: Path, *lines: str) -> Path:
    path = folder / "script.jsonl"
    path.write_text("\n".join(lines))
    return path


async def spoken(model: Model, agent: str | None = None) -> list[Chunk | Replay]:
    async with model.stream(Request("", (), (), agent)) as chunks:
        return [chunk async for chunk in chunks]


async def test_a_reply_streams_its_thinking_its_text_and_its_calls(tmp_path: Path) -> None:
    line = (
        '{"text":"Hello, world.","reasoning":"Hm.","usage":{"inputTokens":1,"outputTokens":2},'
        '"tool_calls":[{"name":"say","arguments":{"b":1,"a":2}},{"id":"x","name":"say","arguments":"{raw"}]}'
    )
    chunks = await spoken(open_script(script(tmp_path, line)))
    assert [msgspec.json.encode(chunk).decode() for chunk in chunks] == snapshot(
        [
            '{"type":"block-start","index":0,"blockType":"reasoning"}',
            '{"type":"reasoning-delta","index":0,"text":"Hm."}',
            '{"type":"block-end","index":0,"block":{"type":"reasoning","text":"Hm."}}',
            '{"type":"block-start","index":1,"blockType":"text"}',
            '{"type":"text-delta","index":1,"text":"Hello, world"}',
            '{"type":"text-delta","index":1,"text":"."}',
            '{"type":"block-end","index":1,"block":{"type":"text","text":"Hello, world."}}',
            '{"type":"block-start","index":2,"blockType":"tool-call"}',
            '{"type":"tool-call-delta","index":2,"id":"call-1-1","name":"say"}',
            '{"type":"tool-call-delta","index":2,"id":"call-1-1","argumentsDelta":"{\\"b\\":1,\\"a\\":2"}',
            '{"type":"tool-call-delta","index":2,"id":"call-1-1","argumentsDelta":"}"}',
            '{"type":"block-end","index":2,"block":{"type":"tool-call","id":"call-1-1","name":"say","arguments":"{\\"b\\":1,\\"a\\":2}"}}',
            '{"type":"block-start","index":3,"blockType":"tool-call"}',
            '{"type":"tool-call-delta","index":3,"id":"x","name":"say"}',
            '{"type":"tool-call-delta","index":3,"id":"x","argumentsDelta":"{raw"}',
            '{"type":"block-end","index":3,"block":{"type":"tool-call","id":"x","name":"say","arguments":"{raw"}}',
            '{"type":"usage","usage":{"inputTokens":1,"outputTokens":2}}',
            '{"type":"finish","reason":{"kind":"tool-calls"}}',
        ]
    )


async def test_replies_come_in_order_and_those_of_a_subagent_are_its_own(tmp_path: Path) -> None:
    lines = ['{"text":"1"}', '{"text":"s","agent":"scout"}', "", '{"text":"2"}']
    model = open_script(script(tmp_path, *lines))
    assert "TextDelta(index=0, text='1')" in str(await spoken(model))
    assert "TextDelta(index=0, text='2')" in str(await spoken(model))
    assert "TextDelta(index=0, text='s')" in str(await spoken(model, "scout"))
    with pytest.raises(
        ModelError, match=r"^the script script.jsonl has no reply left, all 2 were used; add one to it$"
    ):
        await spoken(model)
    with pytest.raises(ModelError, match='no reply for the agent "scout" left, all 1 were used'):
        await spoken(model, "scout")


async def test_finishes(tmp_path: Path) -> None:
    lines = ['{"text":"x","finish":"length"}', '{"text":"x"}', '{"tool_calls":[{"name":"say"}]}', "{}"]
    model = open_script(script(tmp_path, *lines))
    kinds = [(await spoken(model))[-1] for _ in lines]
    assert [chunk.reason.kind for chunk in kinds if isinstance(chunk, Finish)] == [
        "max-tokens",
        "stop",
        "tool-calls",
        "stop",
    ]


@pytest.mark.parametrize(
    "error, retryable", [('{"status":429,"message":"m"}', True), ('{"status":400,"message":"m"}', False), ("{}", False)]
)
async def test_a_reply_fails_after_what_it_says(tmp_path: Path, error: str, retryable: bool) -> None:
    model = open_script(script(tmp_path, f'{{"text":"half","finish":"error","error":{error}}}'))
    heard: list[Chunk] = []
    with pytest.raises(ModelError) as caught:
        async with model.stream(ASK) as chunks:
            async for chunk in chunks:
                heard.append(chunk)  # noqa: PERF401
    assert caught.value.retryable is retryable
    assert "half" in str(heard)


@pytest.mark.parametrize("after, text", [(0, ""), (5, "Hello"), (15, "Hello, world.{}"), (99, "Hello, world.{}")])
async def test_a_stream_breaks_after_so_many_characters(tmp_path: Path, after: int, text: str) -> None:
    line = f'{{"text":"Hello, world.","tool_calls":[{{"name":"say"}}],"cut_after":{after}}}'
    heard = ""
    with pytest.raises(ModelError, match="cut") as caught:
        async with open_script(script(tmp_path, line)).stream(ASK) as chunks:
            async for chunk in chunks:
                assert not isinstance(chunk, Finish | UsageChunk)
                heard += getattr(chunk, "text", "") + getattr(chunk, "arguments_delta", "")
    assert heard == text
    assert caught.value.retryable


async def test_a_slow_reply_takes_its_time_spread_over_its_deltas(tmp_path: Path) -> None:
    model = open_script(script(tmp_path, '{"text":"Hello, world.","delay_ms":4000}', '{"delay_ms":3000}'))
    start = anyio.current_time()
    async with model.stream(ASK) as chunks:
        times = [anyio.current_time() - start async for chunk in chunks if getattr(chunk, "text", "")]
    assert times == [2, 4]
    await spoken(model)
    assert anyio.current_time() - start == 7


@pytest.mark.parametrize(
    "line",
    [
        "{",
        '{"txt":"x"}',
        '{"delay_ms":-5}',
        '{"cut_after":-1}',
        '{"finish":"done"}',
        '{"tool_calls":[{"arguments":{}}]}',
        "[]",
        '{"text":"\xff"}',
    ],
)
def test_a_line_that_is_no_reply_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(b'{"text":"fine"}\n\n' + line.encode("latin-1"))
    with pytest.raises(ConfigError, match=r"bad\.jsonl:3: is not a reply, which is one JSON object on one line: ."):
        open_script(path)


def test_half_a_character_in_a_script_is_mended(tmp_path: Path) -> None:
    open_script(script(tmp_path, r'{"text":"\ud83d"}'))


def test_scripts_that_are_not_there_or_empty(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.jsonl: cannot be read: No such file or directory"):
        open_script(tmp_path / "none.jsonl")
    with pytest.raises(ConfigError, match="is empty"):
        open_script(script(tmp_path, "", " "))
