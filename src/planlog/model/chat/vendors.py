"""Who speaks chat completions in which way, by the names that the table of providers uses."""

from collections.abc import Mapping

from planlog.model.chat.dialect import ChatCompletions

VENDORS: Mapping[str, ChatCompletions] = {
    "chat": ChatCompletions(),
    "openai": ChatCompletions(length_limit="max_completion_tokens", effort_with_tools="none"),
    "gemini": ChatCompletions(signs_calls=True, plain_schemas=True),
    "deepseek": ChatCompletions(reasoning_field="reasoning_content"),
    "moonshot": ChatCompletions(reasoning_field="reasoning_content"),
    "mistral": ChatCompletions(asks_usage=False, call_ids=r"[A-Za-z0-9]{9}", answers_results=True),
}
"""The documented interfaces, as of late 2026. A server of one's own at another address is best spoken to as "chat"."""
