"""Models as a service of a program: its settings, and what it offers."""

import os
from collections.abc import AsyncGenerator

from planlog.model.models import Models


async def plugin(*, model: str, effort: str, max_tokens: int) -> AsyncGenerator[Models]:
    """`model` answers where no other is named ("": what fits the keys that are set).

    `effort` is how hard models think, in the provider's words ("": the provider decides); `max_tokens` bounds one
    answer (0: the provider decides).
    """
    models = Models(os.environ, default=model, effort=effort, max_tokens=max_tokens)
    try:
        yield models
    finally:
        await models.aclose()
