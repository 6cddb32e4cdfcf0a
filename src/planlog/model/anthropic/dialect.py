"""What stands around a request and a reply of the messages dialect, and the two halves of the codec behind it."""

import msgspec

from planlog.model.anthropic.reply import MessagesReply
from planlog.model.model import Request

VERSION = "2023-06-01"
"""Of the interface: the one that every server of this dialect knows. Anthropic has 2026-10-21 beside it."""


class AnthropicMessages(msgspec.Struct, frozen=True):
    """The dialect (platform.claude.com/docs/en/api/messages)."""

    path: str = "/v1/messages"

    own_server: bool = True
    """Whether the server is Anthropic's. Others that speak as it does may refuse what only it is known to understand: a
    cache breakpoint that it moves by itself."""

    def headers(self, key: str) -> dict[str, str]:
        """A key of its own name; none for servers without keys."""
        return {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}

    def body(self, model: str, provider: str, request: Request) -> bytes:
        """See `Dialect`: what does not change from request to request comes first, then the messages."""
        from planlog.model.anthropic.request import body_of

        return body_of(model, provider, request, own_server=self.own_server)

    def decoder(self, body: bytes) -> MessagesReply:
        """For the reply to that request."""
        from planlog.model.anthropic.kept import binding_of

        return MessagesReply(binding_of(body))
