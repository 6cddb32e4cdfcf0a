"""The dialect "chat completions": OpenAI's, and that of all who are compatible with it, each in its own way."""

from planlog.model.chat.dialect import ChatCompletions

__all__ = ["ChatCompletions"]
