"""The model of `planlog demo`: it plays a script, and stops where a real model would: at the first call that fails."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from planlog.features.todo.event import Todo
from planlog.model.message import Message, Text, ToolResult
from planlog.model.model import BlockEnd, BlockStart, Chunk, Finish, FinishReason, Model, Replay, Request, TextDelta
from planlog.model.scripted import open_script

SCRIPT = Path(__file__).with_name("demo.jsonl")
PROMPT = "Count the words of a small text, and check the result."


class CarefulModel:
    """Plays the model `script` for as long as its calls succeed, and then says what went wrong.

    A script has no branches: alone, it would call its plan completed whatever its commands did.
    """

    def __init__(self, script: Model) -> None:
        self.provider = script.provider
        self.name = script.name
        self.context_window = script.context_window
        self.max_tokens = script.max_tokens
        self.effort = script.effort
        self._script = script

    def stream(self, request: Request) -> AbstractAsyncContextManager[AsyncGenerator[Chunk | Replay]]:
        """The script's next reply, or the reply that ends the turn with the plan as it stands."""
        failure = first_failure(request.messages)
        return self._script.stream(request) if failure is None else _say(f"I stop here, a step failed: {failure}")


def open_demo() -> CarefulModel:
    """The demo's model."""
    return CarefulModel(open_script(SCRIPT))


def first_failure(messages: Sequence[Message]) -> str | None:
    """The first line of the first error among the results that no answer has followed yet."""
    failure: str | None = None
    for message in reversed(messages):
        if message.role == "assistant":
            break
        for block in message.content:
            if isinstance(block, ToolResult) and block.is_error:
                text = "\n".join(part.text for part in block.content if isinstance(part, Text))
                failure = text.partition("\n")[0]
    return failure


def unfinished(plan: Sequence[Todo] | None) -> str | None:
    """Where the demo stopped short, in words; None when all that it planned is done."""
    if not plan:
        return "no plan was written"
    still_open = [todo.content for todo in plan if todo.status != "completed"]
    return f'it stopped at "{still_open[0]}", {len(plan) - len(still_open)} of {len(plan)} done' if still_open else None


@asynccontextmanager
async def _say(text: str) -> AsyncGenerator[AsyncGenerator[Chunk | Replay]]:
    yield _chunks(text)


async def _chunks(text: str) -> AsyncGenerator[Chunk | Replay]:
    yield BlockStart(0, "text")
    yield TextDelta(0, text)
    yield BlockEnd(0, Text(text))
    yield Finish(FinishReason("stop"))
