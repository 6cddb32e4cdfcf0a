"""What a server's tool is called among all others, in the letters that every provider takes."""

import re
from hashlib import sha256

from planlog.tools.servers import SERVED

LONGEST = 64
_DIGEST = 8
_SAYS = re.compile(r"[A-Za-z0-9]")
_OTHER = re.compile(r"[^A-Za-z0-9_-]")


def tool_name(server: str, tool: str) -> str:
    """`mcp__server__tool`; what no provider takes becomes "_".

    A name that is too long, or says nothing any more, ends in a digest of both.
    """
    name = f"{SERVED}{_OTHER.sub('_', server)}__{_OTHER.sub('_', tool)}"
    if len(name) <= LONGEST and _SAYS.search(server) and _SAYS.search(tool):
        return name
    digest = sha256(f"{server}\n{tool}".encode(errors="surrogatepass")).hexdigest()[:_DIGEST]
    return f"{name[: LONGEST - _DIGEST - 1]}_{digest}"
