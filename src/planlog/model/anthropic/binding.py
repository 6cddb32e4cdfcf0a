"""How Anthropic's server is asked to leave thoughts out that do not fit any more, instead of refusing the request.

From Claude 5.1 on, a thought is bound to the system prompt, the tools and the messages that stood before it. Ours stay
the same while a session goes its way, but not after a compaction, with other tools or with another version of planlog.
Accounts made since September 2026 would then get 400 for every further request, unless it asks for this
(platform.claude.com/docs/en/build-with-claude/preserved-thinking).
"""

import re
from typing import Any

BETA = "thinking-binding-controls-2026-08-01"
"""The value of the header `anthropic-beta` without which `LENIENT` is refused."""
LENIENT: dict[str, Any] = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
"""The option `thinking`. These models think adaptively without it too."""
_NAME = re.compile(r"claude-[a-z]+-(\d+)(?:-(\d{1,2}))?(?:-\d{8})?")
_SINCE = (5, 1)


def binds_thinking(model: str) -> bool:
    """Whether the model does; some that do not refuse the option."""
    name = _NAME.fullmatch(model)
    return name is not None and (int(name[1]), int(name[2] or 0)) >= _SINCE
