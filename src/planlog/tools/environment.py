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
    "AI21|ANTHROPIC|BAICHUAN|BEDROCK|CEREBRAS|CHATGLM|CHATGPT|CLAUDE|CODESTRAL|DASHSCOPE|DEEPINFRA|DEEPSEEK|DOUBAO"
    "|FIREWORKS|GEMINI|GROQ|HUGGINGFACE|HUNYUAN|LITELLM|MINIMAX|MISTRAL|MOONSHOT|NEBIUS|OLLAMA|OPENAI|OPENROUTER"
    "|PERPLEXITY|PLANLOG|QIANFAN|QWEN|SAMBANOVA|SILICONFLOW|STEPFUN|TOGETHERAI|VLLM|WATSONX|ZHIPU"
)
"""Names that mean a model provider wherever they stand."""
_PROVIDER_WORDS = (
    "AI_GATEWAY|ARK|AZURE_INFERENCE|COHERE|ERNIE|GLM|GPT|GROK|JINA|KIMI|LLAMA|LLM|LM_?STUDIO|NOVITA|REPLICATE|TOGETHER"
    "|VERTEX|VOYAGE|XAI|Z_?AI"
)
"""Names that do so as whole words only: SPARK has an ARK in it."""
_SECRETS = (
    "KEYS?|SECRETS?|PASSWORD|CREDENTIALS?|(?:API|AUTH|ACCESS)_?TOKENS"
    "|(?<!MAX_)(?<!MIN_)TOKEN(?!_(?:BUDGET|COST|COUNT|LIMIT|PRICE))"
)
"""Endings of words that mean a secret. A model's tokens are counted, too."""
_CLOUD_KEYS = (
    "(?:AZURE|GOOGLE|NVIDIA|VOLCENGINE)_(?:(?:AI|AI_STUDIO|GENAI|GENERATIVE_AI)_(?:API_?)?|API_?)(?:KEY|TOKEN)S?"
)
"""Of those who sell models and much else only what names nothing else: not GOOGLE_MAPS_API_KEY."""

_PROVIDER = re.compile(f"{_PROVIDERS}|(?<![A-Z])(?:{_PROVIDER_WORDS})(?![A-Z])", re.IGNORECASE)
_SECRET = re.compile(f"(?:{_SECRETS})(?![A-Z])", re.IGNORECASE)
_CLOUD_KEY = re.compile(f"(?<![A-Z])(?:{_CLOUD_KEYS})(?![A-Z])", re.IGNORECASE)


def is_credential(name: str) -> bool:
    """Whether a variable of this name holds a secret of a model provider, whatever else the name says."""
    return bool(_PROVIDER.search(name) and _SECRET.search(name)) or _CLOUD_KEY.search(name) is not None


def command_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What a command gets to see of `environ`."""
    return {name: value for name, value in environ.items() if not is_credential(name)} | UNATTENDED
