"""What a server's tool is called among all others, in the letters that every provider takes."""

import re
from hashlib import sha256

from planlog.tools.servers import SERVED

LONGEST = 64
_DIGEST = 8
_SAYS = re.compile(r"[A-Za-z0-9]")
_OTHER = re.compile(r"[^A-Za-z0-9_-]")


def tool_name(server: str, tool: str) -> str:
    """`mcp__server__tool`; what no provider takes becomes "_". No two pairs have the same name.

    One that is changed, is too long, says nothing or could be cut elsewhere ends in a digest of both.
    """
    name = f"{SERVED}{_OTHER.sub('_', server)}__{_OTHER.sub('_', tool)}"
    is_cut_here = "__" not in server and not server.endswith("_")
    is_told = _SAYS.search(server) and _SAYS.search(tool)
    if name == f"{SERVED}{server}__{tool}" and len(name) <= LONGEST and is_cut_here and is_told:
        return name
    digest = sha256(f"{server}\n{tool}".encode(errors="surrogatepass")).hexdigest()[:_DIGEST]
    return f"{name[: LONGEST - _DIGEST - 1]}_{digest}"
