"""Prints a whole session as it stands, without taking part in it."""

from planlog.agent.event import TURN_END, EndReason
from planlog.agent.repair import closed_in_memory
from planlog.faces.renders import Span
from planlog.faces.stdio import StdioRenders
from planlog.faces.stdio.console import Console
from planlog.faces.stdio.endings import ending
from planlog.faces.stdio.transcript import FAILED, Transcript
from planlog.kernel.scope import Scope
from planlog.log.session import Session
from planlog.log.store import Store


async def show_session(console: Console, scope: Scope, session: Session) -> None:
    """The transcript of all that is committed; a turn that is still open is said to be running, or interrupted."""

    def ended(reason: EndReason) -> None:
        text, exit_code = ending(reason)
        if text:
            console.out.lines([(FAILED, Span(f" {text}", "bad")) if exit_code == 1 else (Span(text, "dim"),)])

    transcript = Transcript(console, scope.get(StdioRenders), ended, summary_on=console.out)
    async for page in session.pages():
        for event in page:
            transcript.event(event)
            await console.room()
    turn = transcript.open_turn
    if not turn:
        transcript.finish()
        return
    owner = await scope.get(Store).owner(session.id)
    if owner is None:
        # What the next run will write is shown as if it stood there: what was streamed, and a row for each call.
        for event in await closed_in_memory(session):
            if event.type != TURN_END.name:
                transcript.event(event)
        text = f"turn {turn} was interrupted: the process that ran it is gone; --resume goes on"
    else:
        transcript.pending()
        text = f"turn {turn} is being run by process {owner.pid} on {owner.host}"
    transcript.finish()
    console.out.lines([(Span(text, "busy"),)])
