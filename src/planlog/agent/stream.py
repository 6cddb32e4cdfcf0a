"""Asks the model and hears the answer: shown at once, written in few pieces, kept as far as it came."""

from typing import TYPE_CHECKING

import anyio
from anyio.lowlevel import checkpoint
from msgspec.structs import replace

from planlog.agent.answer import Answer, Buffer, Collector
from planlog.agent.facts import answer_facts, chunk_fact
from planlog.agent.ledger import Ledger, Placing
from planlog.agent.live import Live, LiveDelta
from planlog.agent.tasks import task_group
from planlog.kernel.errors import first_leaf, one_line
from planlog.log.header import new_id
from planlog.model.message import ModelSource
from planlog.model.model import Chunk, Model, ModelError, Replay, Request, stream_cut

if TYPE_CHECKING:
    from planlog.log.session import Session

FLUSH_SECONDS = 0.25
FLUSH_BYTES = 4096
SILENCE_SECONDS = 900.0
"""How long a model may send nothing, also before its first word: some think for minutes where nobody sees it."""
MAX_ANSWER = 4_000_000
"""Characters of one answer, thinking and arguments included; a longer one is taken for one that never ends."""


class Hearing:
    """One request and what has come of it so far. `offset` is what earlier requests of the step had streamed."""

    def __init__(
        self, session: "Session", ledger: Ledger, live: Live, turn: int, step: int, used: set[str], offset: int
    ) -> None:
        self._session = session
        self._ledger = ledger
        self._live = live
        self._turn = turn
        self._step = step
        self._offset = offset
        self._collector = Collector(used, new_id)
        self._buffer = Buffer()
        self._unwritten: list[Chunk] = []
        self._written: list[int] = []
        self._some = anyio.Event()
        self._much = anyio.Event()
        self._source = ModelSource("", "")
        self.answer = Answer()
        """What the request came to; as far as it has come while it is being heard."""

    @property
    def chars(self) -> int:
        """Characters of text and reasoning that this step has streamed."""
        return self._offset + self._collector.chars

    async def listen(self, model: Model, request: Request) -> Answer:
        """The whole answer, or as much as came before the model failed."""
        self._source = ModelSource(model.provider, model.name)
        failure: ModelError | None = None
        try:
            async with task_group() as tasks:
                tasks.start_soon(self._write)
                failure = await self._hear(model, request)
                tasks.cancel_scope.cancel()
        finally:
            self.answer = self._collector.answer(failure)
        return self.answer

    def void(self) -> list[Placing]:
        """What has to be written before the request is made again: all that was heard."""
        return [chunk_fact(self._turn, self._step, chunk) for chunk in self._drain()]

    def keep(self, *, interrupted: bool = False) -> list[Placing]:
        """The answer as a message. Chunks are written only if some were already, or if nothing else keeps them."""
        rest = self._drain()
        if not self._written and not self.answer.empty:
            rest = []
        return answer_facts(
            self.answer,
            replace(self._source, replay_state=self.answer.replay_state),
            self._turn,
            self._step,
            written=self._written,
            rest=rest,
            interrupted=interrupted,
        )

    async def _hear(self, model: Model, request: Request) -> ModelError | None:
        ours: Exception | None = None
        silence = anyio.CancelScope(deadline=anyio.current_time() + SILENCE_SECONDS)
        try:
            with silence:
                async with model.stream(request) as chunks:
                    async for chunk in chunks:
                        silence.deadline = anyio.current_time() + SILENCE_SECONDS
                        try:
                            if isinstance(chunk, Replay):
                                self._collector.keep(chunk)
                            else:
                                self._take(chunk)
                                if self._collector.size > MAX_ANSWER:
                                    return _endless()
                        except Exception as error:
                            ours = error
                            raise
                        if self._buffer.size >= FLUSH_BYTES:
                            self._much.set()
                            await checkpoint()  # a stream that never waits must not keep the writer from its turn
        except Exception as error:  # whatever a provider's library raises must not take the session with it
            if ours is not None:
                raise ours from None
            return _silent() if silence.cancel_called else _failure(error)
        if silence.cancelled_caught:
            return _silent()
        if self._collector.finish in (None, "error", "aborted"):
            return stream_cut()
        return None

    def _take(self, chunk: Chunk) -> None:
        offset = self.chars
        chunk = self._collector.take(chunk)
        if not self._buffer:
            self._some.set()
        self._buffer.add(chunk)
        self._live.say(self._session.id, LiveDelta(self._turn, self._step, offset, chunk))

    async def _write(self) -> None:
        while True:
            await self._some.wait()
            with anyio.move_on_after(FLUSH_SECONDS):
                await self._much.wait()
            self._some, self._much = anyio.Event(), anyio.Event()
            # Only a commit that has succeeded takes them: one that is cancelled while it waits leaves them to `keep`.
            self._unwritten = self._drain()
            facts = [chunk_fact(self._turn, self._step, chunk) for chunk in self._unwritten]
            self._written += [event.seq for event in await self._ledger.commit(*facts)]
            self._unwritten = []

    def _drain(self) -> list[Chunk]:
        """The chunks that are not written yet."""
        chunks, self._unwritten = [*self._unwritten, *self._buffer.drain()], []
        return chunks


def _endless() -> ModelError:
    return ModelError(f"the answer has no end: {MAX_ANSWER} characters so far", code="ENDLESS_ANSWER")


def _silent() -> ModelError:
    return ModelError(f"the model has sent nothing for {SILENCE_SECONDS:.0f} s", code="MODEL_SILENT", retryable=True)


def _failure(error: BaseException) -> ModelError:
    """What a provider's library raised, as a model's failure; of a group its own word, else the first of all."""
    if isinstance(error, BaseExceptionGroup):
        told = error.subgroup(ModelError)
        error = first_leaf(told or error)
    return error if isinstance(error, ModelError) else ModelError(one_line(error))
