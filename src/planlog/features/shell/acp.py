"""How a command looks in an editor: all of it, and below it what it printed and how it ended."""

from collections.abc import AsyncGenerator

from planlog.faces.acp import AcpRenders
from planlog.faces.acp.updates import Card, text_item
from planlog.faces.acp.wording import fenced
from planlog.faces.renders import Call, Renders
from planlog.features.shell.tool import NAME, Command
from planlog.tools.schema import Violations, check_arguments


def bash_card(call: Call) -> Card:
    """The title may be cut; whoever approves the command, or reads it later, sees it whole here."""
    params = check_arguments(Command, call.arguments)
    command = () if isinstance(params, Violations) else (text_item(fenced(params.command, "sh")),)
    if call.result is None:
        return Card(command)
    return Card((*command, text_item(fenced(call.result or "[it printed nothing]"))))


async def plugin(editor: AcpRenders) -> AsyncGenerator[None]:
    """Shows `bash` for as long as it is mounted."""
    with editor.add(Renders(rows={NAME: bash_card})):
        yield
