"""What stands around a request and a reply of the messages dialect, and the two halves of the codec behind it."""

import msgspec

from planlog.model.anthropic.reply import MessagesReply
from planlog.model.model import Request

VERSION = "2023-06-01"


class AnthropicMessages(msgspec.Struct, frozen=True):
    """The dialect (platform.claude.com/docs/en/api/messages)."""

    path: str = "/v1/messages"

    caches_by_itself: bool = True
    """Whether the server moves a cache breakpoint to the end of each request (`cache_control` at the top level).

    Anthropic does (platform.claude.com/docs/en/build-with-claude/prompt-caching), so no byte of an earlier message
    changes. Servers that only speak as it does may refuse the field; the breakpoint on the system prompt is for all.
    """

    def headers(self, key: str) -> dict[str, str]:
        """A key of its own name; none for servers without keys."""
        return {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}

    def body(self, model: str, provider: str, request: Request) -> bytes:
        """See `Dialect`: what does not change from request to request comes first, then the messages."""
        from planlog.model.anthropic.request import body_of

        return body_of(model, provider, request, caches_by_itself=self.caches_by_itself)

    def decoder(self) -> MessagesReply:
        """For one reply."""
        return MessagesReply()
