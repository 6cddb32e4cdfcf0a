"""What stands around a request and a reply of the messages dialect, and the two halves of the codec behind it."""

import msgspec

from planlog.model.anthropic.binding import BETA
from planlog.model.anthropic.reply import MessagesReply
from planlog.model.model import Request

VERSION = "2023-06-01"


class AnthropicMessages(msgspec.Struct, frozen=True):
    """The dialect (platform.claude.com/docs/en/api/messages)."""

    path: str = "/v1/messages"

    own_server: bool = True
    """Whether the server is Anthropic's. Others that speak as it does may refuse what only it is known to understand:
    a cache breakpoint that it moves by itself, and that thinking be left out rather than refused."""

    def headers(self, key: str) -> dict[str, str]:
        """A key of its own name; none for servers without keys."""
        return {
            "anthropic-version": VERSION,
            **({"anthropic-beta": BETA} if self.own_server else {}),
            **({"x-api-key": key} if key else {}),
        }

    def body(self, model: str, provider: str, request: Request) -> bytes:
        """See `Dialect`: what does not change from request to request comes first, then the messages."""
        from planlog.model.anthropic.request import body_of

        return body_of(model, provider, request, own_server=self.own_server)

    def decoder(self) -> MessagesReply:
        """For one reply."""
        return MessagesReply()
