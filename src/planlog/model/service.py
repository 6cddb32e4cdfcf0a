"""Models as a service of a program: its settings, and what it offers."""

import os
from collections.abc import AsyncGenerator

from planlog.model.models import Models


async def plugin(*, model: str, effort: str, max_tokens: int, context_window: int) -> AsyncGenerator[Models]:
    """`model` answers where no other is named ("": what fits the keys that are set).

    `effort` is how hard models think, in the provider's words ("": the provider decides); `max_tokens` bounds one
    answer (0: the provider decides). `context_window` is how many tokens a request and its answer may have together (0:
    nobody knows).
    """
    models = Models(os.environ, default=model, effort=effort, max_tokens=max_tokens, context_window=context_window)
    try:
        yield models
    finally:
        await models.aclose()
