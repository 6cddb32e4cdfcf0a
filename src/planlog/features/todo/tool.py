"""The tool with which a model writes its plan: the whole list, every time."""

from collections.abc import AsyncGenerator

import msgspec

from planlog.features.todo import TOOL_NAME
from planlog.features.todo.blank import TOOL_SPACE, find_visible
from planlog.features.todo.event import TODO_WRITE, Status, Todo, TodosWritten, quoted
from planlog.features.todo.lines import plain_text
from planlog.features.todo.summary import Counts
from planlog.tools.tool import Execution, Presentation, Tool, ToolFailure, Tools

MAX_ITEMS = 200
MAX_CONTENT = 1000

ONE_AT_A_TIME = "Keep exactly one item in_progress while work remains."
SEVERAL_AT_ONCE = (
    "Mark every item actively worked on in_progress: several when work really runs in parallel, "
    "one when sequential, at least one while work remains."
)
DESCRIPTION = (
    "Write your task list. Every call sends the whole list, replacing the previous one; leave an item out to drop it. "
    "Before starting, list one item per concrete step; skip the list for trivial one-step work. "
    "Status: pending (not started), in_progress (being worked on), completed (done). {} "
    "Complete an item the moment it is done."
)


class Item(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """One item as the model sends it."""

    content: str
    status: Status


class TodoWrite(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The tool's parameters."""

    todos: list[Item]


class Written(msgspec.Struct, frozen=True):
    """The tool's result: the list as it stands now."""

    todos: list[Todo]
    counts: Counts


def check_items(items: list[Item], *, allow_parallel_in_progress: bool) -> Written:
    """The list that `items` make, trimmed and counted. Raises `ToolFailure` for the first rule that they break.

    Whole columns are checked at once, since nearly every list is in order; only one that is not is walked.
    """
    if len(items) > MAX_ITEMS:
        raise ToolFailure(f"invalid todos: at most {MAX_ITEMS} items, got {len(items)}")
    contents = [item.content for item in items]
    if max(map(len, contents), default=0) > MAX_CONTENT:
        index = next(index for index, content in enumerate(contents) if len(content) > MAX_CONTENT)
        raise ToolFailure(f"invalid todo: content longer than {MAX_CONTENT} characters (item {index})")
    contents = [content.strip(TOOL_SPACE) for content in contents]
    if len(set(contents)) < len(contents) or not _all_visible(contents):
        raise _first_fault(contents)
    statuses: list[Status] = [item.status for item in items]
    active, completed = statuses.count("in_progress"), statuses.count("completed")
    if active > 1 and not allow_parallel_in_progress:
        raise ToolFailure(f"invalid todos: at most one task may be in_progress, got {active}")
    return Written(list(map(Todo, contents, statuses)), Counts(len(items) - active - completed, active, completed))


def _all_visible(contents: list[str]) -> bool:
    # What sorts between "!" and "~" begins with a visible ASCII character: two comparisons for most lists.
    if contents and min(contents) >= "!" and max(contents) <= "~":
        return True
    return all(map(find_visible, contents))


def _first_fault(contents: list[str]) -> ToolFailure:
    seen: set[str] = set()
    for content in contents:
        if not find_visible(content):
            break
        if content in seen:
            return ToolFailure(f"invalid todos: duplicate content {quoted(content)}")
        seen.add(content)
    return ToolFailure("invalid todo: `content` must be a non-empty string")


def render_written(written: Written) -> str:
    """What the model reads after a success."""
    counts = written.counts
    return (
        f"Updated todo list: {counts.pending} pending, {counts.in_progress} in progress, {counts.completed} completed."
    )


def _present_call(params: TodoWrite) -> Presentation:
    return Presentation(
        card="generic",
        title="Update todo list",
        kind="think",
        raw_input=msgspec.to_builtins(params.todos),
        text=plain_text(params.todos),
    )


def todo_write(*, allow_parallel_in_progress: bool) -> Tool[TodoWrite, Written]:
    """The tool under one policy: whether several items may be in progress."""

    async def execute(params: TodoWrite, execution: Execution) -> Written:
        written = check_items(params.todos, allow_parallel_in_progress=allow_parallel_in_progress)
        if execution.session is None:
            raise ToolFailure(f"{TOOL_NAME} requires an owning agent session")
        await execution.session.append(TODO_WRITE.fact(TodosWritten(written.todos)))
        return written

    return Tool(
        name=TOOL_NAME,
        description=DESCRIPTION.format(SEVERAL_AT_ONCE if allow_parallel_in_progress else ONE_AT_A_TIME),
        params=TodoWrite,
        execute=execute,
        render=render_written,
        present_call=_present_call,
    )


async def plugin(tools: Tools, *, allow_parallel_in_progress: bool) -> AsyncGenerator[None]:
    """Offers the tool. Whether work can run in parallel is the composition's to know, so it has no default."""
    with tools.add(todo_write(allow_parallel_in_progress=allow_parallel_in_progress)):
        yield
