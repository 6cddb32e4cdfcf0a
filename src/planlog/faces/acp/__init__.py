"""planlog as an agent for editors that speak ACP (Agent Client Protocol), version 1, over stdio."""

from planlog.faces.acp.registry import AcpRenders

__all__ = ["AcpRenders"]
