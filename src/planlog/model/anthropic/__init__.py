"""The dialect "messages": Anthropic's own, and that of servers that speak as it does."""

from planlog.model.anthropic.dialect import AnthropicMessages

__all__ = ["AnthropicMessages"]
