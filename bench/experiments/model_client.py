"""One streamed request through one library, in a process of its own: `model_client.py LIBRARY DIALECT URL MODEL`.

Imports only what the library needs, for this process is what gets measured, and runs where planlog is not installed.
Prints one JSON object: `blocks` in the order in which they came, what a caller can reach (`reached`), `finish`, the
`error`; or, with `--count`, `cpu` seconds after the first item and the peak of memory (`peak`, KB). `--once` asks the
library to try only once.
"""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

TOOL: Any = {"name": "todo_write", "description": "Writes.", "parameters": {"type": "object", "properties": {}}}
SAID: list[Any] = [{"role": "user", "content": "hi"}]
FUNCTIONS: list[Any] = [{"type": "function", "function": TOOL}]
TOOLS: list[Any] = [{"name": "todo_write", "description": "Writes.", "input_schema": TOOL["parameters"]}]


async def openai(url: str, dialect: str, model: str, once: dict[str, Any]) -> AsyncIterator[Any]:
    from openai import AsyncOpenAI

    client = AsyncOpenAI(api_key="k", base_url=f"{url}/v1", **once)
    options: Any = {"include_usage": True}
    request: Any = {"model": model, "messages": SAID, "tools": FUNCTIONS, "stream": True, "stream_options": options}
    async for chunk in await client.chat.completions.create(**request):
        yield chunk


async def anthropic(url: str, dialect: str, model: str, once: dict[str, Any]) -> AsyncIterator[Any]:
    from anthropic import AsyncAnthropic

    client = AsyncAnthropic(api_key="k", base_url=url, **once)
    request: Any = {"model": model, "max_tokens": 9999, "messages": SAID, "tools": TOOLS, "stream": True}
    async for event in await client.messages.create(**request):
        yield event


async def pydantic_ai(url: str, dialect: str, model: str, once: dict[str, Any]) -> AsyncIterator[Any]:
    from pydantic_ai.direct import model_request_stream
    from pydantic_ai.messages import ModelRequest
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    there: Any
    if dialect == "chat":
        from openai import AsyncOpenAI
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        chat = AsyncOpenAI(api_key="k", base_url=f"{url}/v1", **once)
        there = OpenAIChatModel(model, provider=OpenAIProvider(openai_client=chat))
    else:
        from anthropic import AsyncAnthropic
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        messages = AsyncAnthropic(api_key="k", base_url=url, **once)
        there = AnthropicModel(model, provider=AnthropicProvider(anthropic_client=messages))
    tool = ToolDefinition(name="todo_write", description="Writes.", parameters_json_schema=TOOL["parameters"])
    wishes = ModelRequestParameters(function_tools=[tool])
    said = [ModelRequest.user_text_prompt("hi")]
    async with model_request_stream(there, said, model_request_parameters=wishes) as stream:
        try:
            async for event in stream:
                yield event
        finally:
            yield stream.get()


async def any_llm(url: str, dialect: str, model: str, once: dict[str, Any]) -> AsyncIterator[Any]:
    from any_llm import AnyLLM

    base, name = (f"{url}/v1", "openai") if dialect == "chat" else (url, "anthropic")
    client = AnyLLM.create(name, api_key="k", api_base=base, **once)
    more: Any = {"stream_options": {"include_usage": True}} if dialect == "chat" else {}
    stream: Any = await client.acompletion(model=model, messages=SAID, tools=FUNCTIONS, stream=True, **more)
    async for chunk in stream:
        yield chunk


async def httpx2(url: str, dialect: str, model: str, once: dict[str, Any]) -> AsyncIterator[Any]:
    """The floor: server-sent events and a typed decode, and nothing that understands them."""
    import httpx2
    import msgspec

    delta = msgspec.defstruct("Delta", [("content", str | None, None)])
    choice = msgspec.defstruct("Choice", [("delta", delta), ("finish_reason", str | None, None)])
    part = msgspec.defstruct("Part", [("type", str, ""), ("text", str, "")])
    kinds = {
        "chat": msgspec.defstruct("Chunk", [("choices", list[choice], [])]),
        "messages": msgspec.defstruct("Event", [("type", str), ("index", int, 0), ("delta", part | None, None)]),
    }
    decode = msgspec.json.Decoder(kinds[dialect]).decode
    path = "/v1/chat/completions" if dialect == "chat" else "/v1/messages"
    request = {"model": model, "messages": SAID, "tools": FUNCTIONS if dialect == "chat" else TOOLS, "stream": True}
    body = msgspec.json.encode(request)
    async with httpx2.AsyncClient() as client, client.stream("POST", url + path, content=body) as response:
        async for event in httpx2.EventSource(response):
            if event.data != "[DONE]":
                yield decode(event.data)


async def planlog(url: str, dialect: str, model: str, once: dict[str, Any]) -> AsyncIterator[Any]:
    from planlog.model.connection import Connection
    from planlog.model.message import Message, Text, UserSource
    from planlog.model.model import Request
    from planlog.model.providers import Address, provider_named
    from planlog.model.remote import RemoteModel

    provider = provider_named("openai" if dialect == "chat" else "anthropic")
    assert provider is not None
    address = Address(provider, f"{url}/v1" if dialect == "chat" else url, "k", "")
    there = RemoteModel(address, model, Connection(), effort=None, max_tokens=None)
    said = [Message("1", "user", UserSource(), [Text("hi")])]
    async with there.stream(Request("Say hi.", said, [TOOL])) as chunks:
        async for chunk in chunks:
            yield chunk


def pieces_of(item: Any, calls: dict[int, int]) -> Iterator[tuple[str, str, str]]:
    """Kind, block and text of what came, as a careful caller would take it; `calls` counts those at each index."""
    kind = getattr(item, "event_kind", None) or getattr(item, "type", None) or type(item).__name__
    if hasattr(item, "choices"):
        for delta in (choice.delta for choice in item.choices):
            thought = getattr(delta, "reasoning", None) or getattr(delta, "reasoning_content", None)
            if thought:
                yield "reasoning", "", str(getattr(thought, "content", thought))
            if getattr(delta, "content", None):
                yield "text", "", str(delta.content)
            for call in getattr(delta, "tool_calls", None) or ():
                if call.id or (call.function and call.function.name):
                    calls[call.index] = calls.get(call.index, 0) + 1
                text = f"{call.function.name or ''}{call.function.arguments or ''}" if call.function else ""
                yield "call", f"{call.index} {calls.get(call.index)}", text
    elif kind == "content_block_start" and item.content_block.type == "tool_use":
        yield "call", str(item.index), item.content_block.name
    elif kind == "content_block_delta":
        for name, field in (("text", "text"), ("reasoning", "thinking"), ("call", "partial_json")):
            if getattr(item.delta, field, None):
                yield name, str(item.index), str(getattr(item.delta, field))
    elif kind in ("part_start", "part_delta"):
        part = item.part if kind == "part_start" else item.delta
        name = {"Tex": "text", "Thi": "reasoning", "Too": "call"}.get(type(part).__name__[:3], "other")
        texts = [getattr(part, field, None) for field in ("tool_name", "content", "args")]
        texts += [getattr(part, field, None) for field in ("tool_name_delta", "content_delta", "args_delta")]
        yield name, str(item.index), "".join(map(str, filter(None, texts)))
    elif kind in ("TextDelta", "ReasoningDelta"):
        yield kind[:-5].lower(), str(item.index), item.text
    elif kind == "ToolCallDelta":
        yield "call", str(item.index), (item.name or "") + item.arguments_delta


def finish_of(item: Any) -> str | None:
    if type(item).__name__ == "Finish":
        return item.reason.kind
    if hasattr(item, "choices"):
        return next((choice.finish_reason for choice in item.choices if choice.finish_reason), None)
    return getattr(item, "finish_reason", None) or getattr(getattr(item, "delta", None), "stop_reason", None)


async def looked_at(items: AsyncIterator[Any]) -> dict[str, Any]:
    blocks: list[list[str]] = []
    calls: dict[int, int] = {}
    reached, finish, error, last = "", None, None, ("", "")
    try:
        async for item in items:
            reached += item.model_dump_json(warnings=False) if hasattr(item, "model_dump_json") else repr(item)
            finish = finish_of(item) or finish
            for kind, key, text in pieces_of(item, calls):
                if last != (kind, key):
                    blocks.append([kind, ""])
                blocks[-1][1] += text
                last = kind, key
    except Exception as raised:
        error = f"{type(raised).__module__.partition('.')[0]}.{type(raised).__name__}: {raised}"
    return {"blocks": blocks, "reached": reached, "finish": finish, "error": error}


def peak() -> int:
    """Kilobytes of this process at most so far; what it was forked from does not count."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


async def counted(items: AsyncIterator[Any]) -> dict[str, Any]:
    begin = 0.0
    async for _ in items:
        begin = begin or time.process_time()
    cpu = time.process_time() - begin
    return {"cpu": cpu, "peak": peak()}


if __name__ == "__main__":
    library, dialect, url, model = sys.argv[1:5]
    once = {"max_retries": 0} if "--once" in sys.argv else {}
    items = globals()[library.replace("-", "_")](url, dialect, model, once)
    print(json.dumps(asyncio.run((counted if "--count" in sys.argv else looked_at)(items))))
