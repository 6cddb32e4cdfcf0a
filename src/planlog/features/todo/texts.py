"""What people read about plans, in English and Chinese. What the model reads is in `tool.py`."""

from typing import Literal

import msgspec

from planlog.features.todo.history import Standing
from planlog.features.todo.summary import Summary, summarize

Language = Literal["en", "zh"]


class Texts(msgspec.Struct, frozen=True):
    """Patterns for `str.format`; `others` says in words what the suffix `+n` means, `active` the same with no name."""

    heading: str
    tasks: str
    completed: str
    in_progress: str
    pending: str
    title: str
    cleared: str
    others: str
    active: str
    none_stands: str
    left_open: str


ENGLISH = Texts(
    heading="To-dos",
    tasks="{done}/{total} tasks",
    completed="{done}/{total} completed",
    in_progress="{n} in progress",
    pending="{n} pending",
    title="Update to-do list",
    cleared="list cleared",
    others="and {n} more in progress",
    active="{n} in progress",
    none_stands="no plan stands",
    left_open="left open in turn {turn}: {done} of {total} done",
)

CHINESE = Texts(
    heading="任务",
    tasks="{done}/{total} 个任务",
    completed="{done}/{total} 已完成",
    in_progress="{n} 进行中",
    pending="{n} 待处理",
    title="更新任务清单",
    cleared="清单已清空",
    others="另有 {n} 项进行中",
    active="{n} 项进行中",
    none_stands="当前没有计划",
    left_open="第 {turn} 轮遗留：{total} 项中已完成 {done} 项",
)

TEXTS: dict[Language, Texts] = {"en": ENGLISH, "zh": CHINESE}


def summary_text(summary: Summary, texts: Texts = ENGLISH) -> str:
    """`2/5 completed · write the tests`: the part of a row that may be shortened."""
    if not summary.total:
        return texts.cleared
    done = texts.completed.format(done=summary.done, total=summary.total)
    return f"{done} · {summary.active}" if summary.active else done


def suffix_text(summary: Summary, texts: Texts = ENGLISH) -> tuple[str, str]:
    """`+2` and what it means in words: the part of a row that is never shortened. Empty where no other is active."""
    if not summary.others:
        return "", ""
    words = texts.others if summary.active else texts.active
    return f"+{summary.others}", words.format(n=summary.others)


def left_open_text(standing: Standing, texts: Texts = ENGLISH) -> str:
    """`left open in turn 4: 2 of 5 done`."""
    summary = summarize(standing.todos)
    return texts.left_open.format(turn=standing.turn, done=summary.done, total=summary.total)
