"""The environment of a command: the person's own, without the keys of model providers, and with nothing that waits.

docs/decisions/0030-what-a-command-finds-in-its-environment.md has the reasons.
"""

import re
from collections.abc import Mapping

UNATTENDED = {
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
}
"""Set in every command, since nobody sits before its output to turn a page, close an editor or type a password."""

_PROVIDERS = (
    "AI21|ANTHROPIC|ARK|AZURE_AI|AZURE_OPENAI|CEREBRAS|CLAUDE|CLAUDE_CODE|COHERE|DASHSCOPE|DEEPINFRA|DEEPSEEK"
    "|FIREWORKS|FIREWORKS_AI|GEMINI|GOOGLE|GOOGLE_GENERATIVE_AI|GROQ|KIMI|LITELLM|MINIMAX|MISTRAL|MOONSHOT|NVIDIA"
    "|OLLAMA|OPENAI|OPENROUTER|PERPLEXITY|PLANLOG|QWEN|SILICONFLOW|TOGETHER|TOGETHERAI|VERCEL_AI_GATEWAY|XAI|ZAI"
    "|ZHIPU|ZHIPUAI"
)
_KINDS = "(?:API|ADMIN|MASTER)_KEYS?|(?:API|AUTH|OAUTH|ACCESS)_TOKEN"
_CREDENTIAL = re.compile(f"(?:{_PROVIDERS})_(?:{_KINDS})", re.IGNORECASE)


def is_credential(name: str) -> bool:
    """Whether a variable of this name holds the key of a model provider."""
    return _CREDENTIAL.fullmatch(name) is not None


def command_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What a command gets to see of `environ`."""
    return {name: value for name, value in environ.items() if not is_credential(name)} | UNATTENDED
