"""What a vendor's chat completions differ in, and the two halves of the codec behind it."""

import msgspec

from planlog.model.chat.reply import ChatReply
from planlog.model.chat.request import body_of
from planlog.model.model import Request


class ChatCompletions(msgspec.Struct, frozen=True):
    """The dialect, with one field for each way in which vendors differ; the defaults suit most of them.

    Strict mode of tools is not used: it wants every property to be required, so a tool could have no optional ones.
    """

    path: str = "/chat/completions"

    length_limit: str = "max_tokens"
    """What the bound of an answer is called; OpenAI's newer models take `max_completion_tokens` alone."""

    asks_usage: bool = True
    """Whether the count of tokens has to be asked for (`stream_options`). Mistral counts unasked and refuses the wish:
    avante.nvim issue 2347."""

    effort_with_tools: str = ""
    """What `reasoning_effort` has to be where there are tools and no effort was asked for; "" where nothing has to.

    From gpt-5.4 on OpenAI's models take tools here only with "none", from gpt-5.6 on also where it is left out:
    "Function tools with reasoning_effort are not supported" (openai-openapi issue 541, litellm pull request 34569).
    Older models are not told, since those before gpt-5.1 do not know the word. An effort that was asked for goes out
    as it is, so that a refusal is seen instead of a model that thinks less than it should.
    """

    call_ids: str = r"(?s:.{1,40})"
    """A pattern of the call ids that the vendor takes; others are replaced by nine letters and digits.

    OpenAI took 40 characters at most (pydantic-ai issue 4389) and takes 64 of late (agentao pull request 321); Mistral
    wants exactly nine letters and digits (eca issue 233). Kimi's own, `functions.bash:0`, say something to its model.
    """

    reasoning_field: str = ""
    """Where the thinking of every answer has to come back, "" where it had none; "" if the vendor does not insist.

    DeepSeek refuses a request with tools if an answer lacks `reasoning_content`, whether it made calls or not
    (api-docs.deepseek.com/guides/thinking_mode, openclaw issue 73417), and so does Kimi (kimi-cli pull request 2498).
    Other vendors get back what they sent, by the name that they gave it, and nothing where they sent nothing: Groq
    refuses the very same field (jan issue 8136).
    """

    signs_calls: bool = False
    """Whether the first call of an answer needs a signature: Gemini, which documents a placeholder for calls that it
    did not make itself (ai.google.dev/gemini-api/docs/thought-signatures)."""

    plain_schemas: bool = False
    """Whether tools are described without any keyword that is not needed; Gemini refuses `additionalProperties`."""

    answers_results: bool = False
    """Whether an answer has to stand between results and what a person says next, as Mistral wants it: mistral-common
    issue 169."""

    def headers(self, key: str) -> dict[str, str]:
        """A bearer token; none for servers without keys."""
        return {"authorization": f"Bearer {key}"} if key else {}

    def body(self, model: str, provider: str, request: Request) -> bytes:
        """See `Dialect`: what does not change from request to request comes first, then the messages."""
        return body_of(self, model, provider, request)

    def decoder(self, body: bytes) -> ChatReply:
        """For the reply to that request, which it asks nothing of."""
        return ChatReply()
