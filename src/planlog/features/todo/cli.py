"""The commands `plan` and `demo`, and the plan's column in the list of sessions."""

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any

import click

from planlog.faces.cli import (
    Column,
    CommandLine,
    Program,
    composition_option,
    folder_option,
    home_option,
    json_option,
    session_argument,
)

if TYPE_CHECKING:
    from planlog.kernel.scope import Scope
    from planlog.log.session import Session

ROLES = ("event", "fold")


@click.command("plan")
@session_argument
@json_option
@click.option("--watch", is_flag=True, help="Follow the plan and print it whenever it changes, until Ctrl-C.")
@click.option("--history", is_flag=True, help="Every plan that ever stood, and what changed from one to the next.")
@click.option("--at", type=click.IntRange(min=0), metavar="SEQ", help="The plan that stood after event SEQ.")
@folder_option
@home_option
@composition_option
@click.pass_obj
def plan(program: Program, session: str | None, as_json: bool, watch: bool, history: bool, at: int | None) -> int:
    """Show the plan of a session.

    That of SESSION, which may be the beginning of an id; by default of the newest session in this folder.
    """
    if watch + history + (at is not None) > 1:
        raise click.UsageError("--watch, --history and --at are three different questions; ask one of them")

    async def task(scope: "Scope") -> int:
        found = await program.find_session(scope, session)
        if watch:
            await _watch(program, found, as_json)
        elif history:
            await _show_history(program, found, as_json)
        else:
            await _show_plan(program, found, as_json, at)
        return 0

    return program.run(task, roles=ROLES)


async def _show_plan(program: Program, session: "Session", as_json: bool, at: int | None) -> None:
    from planlog.features.todo.fold import TODOS
    from planlog.features.todo.history import PLAN_HISTORY
    from planlog.features.todo.report import draw_report, plan_at, report_plan

    seq = session.head - 1 if at is None else at
    plan = await session.view(TODOS) if at is None else await plan_at(session, at)
    report = report_plan(session.id, seq, plan)
    if as_json:
        _write_json(program, report)
        return
    lists = () if plan is not None else await session.view(PLAN_HISTORY)
    program.write(draw_report(report, [standing for standing in lists if standing.seq <= seq]))


async def _show_history(program: Program, session: "Session", as_json: bool) -> None:
    from planlog.faces.renders import Span
    from planlog.features.todo.history import PLAN_HISTORY
    from planlog.features.todo.report import draw_history

    lists = await session.view(PLAN_HISTORY)
    if as_json:
        _write_json(program, lists)
    else:
        program.write(draw_history(lists) or [(Span(f"no plan was written in session {session.id}"),)])


async def _watch(program: Program, session: "Session", as_json: bool) -> None:
    from contextlib import aclosing

    from planlog.features.todo.fold import TODOS

    seen = session.head - 1
    shown = await session.view(TODOS)
    await _show_plan(program, session, as_json, None)
    async with aclosing(session.follow(seen)) as news:
        async for _ in news:
            plan = await session.view(TODOS)
            if plan is not shown:
                shown = plan
                await _show_plan(program, session, as_json, None)
                await program.room()


def _write_json(program: Program, value: Any) -> None:
    import msgspec

    program.write_json(msgspec.json.encode(value))


@click.command("demo")
@home_option
@composition_option
@click.pass_obj
def demo(program: Program) -> int:
    """See it work: no key is needed.

    A scripted model plans a small job and does it with real commands, in a scratch folder that is left for you to see.
    """
    from pathlib import Path
    from tempfile import mkdtemp

    from planlog.faces.renders import Span
    from planlog.features.todo.demo import PROMPT, open_demo

    program.folder = Path(mkdtemp(prefix="planlog-demo-"))
    program.write([(Span(f"demo in {program.folder}", "dim"),)])
    code = program.run_prompt(PROMPT, model=open_demo(), approve="auto")
    return code or program.run(lambda scope: _judge(program, scope), roles=ROLES)


async def _judge(program: Program, scope: "Scope") -> int:
    from planlog.faces.renders import Span
    from planlog.features.todo.demo import unfinished
    from planlog.features.todo.fold import TODOS
    from planlog.kernel.errors import PlanlogError

    session = await program.find_session(scope, None)
    if short := unfinished(await session.view(TODOS)):
        raise PlanlogError(f"the demo did not finish: {short}")
    program.write([(Span(f"planlog plan {session.id} --history shows how the list moved", "dim"),)])
    return 0


def column_text(plan: Any) -> str:
    """`2/5 · write the tests +1`: the standing plan in a cell of the list of sessions."""
    from planlog.features.todo.summary import summarize

    if not plan:
        return ""
    summary = summarize(plan)
    named = f" · {summary.active}" if summary.active else ""
    return f"{summary.done}/{summary.total}{named}" + (f" +{summary.others}" if summary.others else "")


COLUMN = Column(key="todos", title="plan", projection="todos", text=column_text)


async def plugin(line: CommandLine) -> AsyncGenerator[None]:
    """Offers the commands and the column for as long as it is mounted."""
    with line.add(plan, demo), line.add_column(COLUMN):
        yield
