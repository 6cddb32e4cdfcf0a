import asyncio
import os
import resource
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import pytest

from planlog.features.shell.process import Patience, Ran, run_command
from planlog.tools import posix_session
from planlog.tools.child import Child, kill_living
from planlog.tools.environment import command_environment
from planlog.tools.tool import ToolFailure

QUICK = Patience(timed_out=0.2, cancelled=0.2, closing=10)
"""Short where the stubborn are waited for; long where the wait ends by itself, however busy the machine is."""


async def run(
    command: str,
    *,
    cwd: Path | None = None,
    timeout: float = 20,
    limit: int = 1000,
    hear: Callable[[str], None] = lambda text: None,
    patience: Patience = QUICK,
) -> Ran:
    return await run_command(
        command,
        cwd=cwd or Path.cwd(),
        env=command_environment(os.environ),
        timeout=timeout,
        output_limit=limit,
        hear=hear,
        patience=patience,
    )


async def until(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(10):
        while not condition():  # noqa: ASYNC110 - the system sends no event for a process that is not ours
            await anyio.sleep(0.01)


async def within_seconds(running: Awaitable[Ran]) -> Ran:
    """The result, for which nobody waited as long as the sleepers in these commands sleep."""
    return await asyncio.wait_for(running, 20)


def is_gone(pid: int) -> bool:
    """No such process, or one that only waits for its parent, which is not us, to notice its end."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"


def session_is_empty(leader: int) -> bool:
    """Nothing runs in the POSIX session that the shell `leader` led; look after it was reaped."""
    return all(is_gone(pid) for pid in posix_session.process_ids() if session_of(pid) == leader)


def session_of(pid: int) -> int | None:
    with suppress(ProcessLookupError):
        return os.getsid(pid)
    return None


look_at_children = os.waitid


def has_no_child() -> bool:
    """This process has neither a living child nor a zombie."""
    try:
        look_at_children(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False


class Ear:
    """Hears the output of a running command, and lets a test wait for a word in it."""

    def __init__(self) -> None:
        self.text = ""

    def __call__(self, piece: str) -> None:
        self.text += piece

    async def line(self) -> str:
        await until(lambda: "\n" in self.text)
        return self.text.partition("\n")[0]


# --- how it ends


async def test_both_outputs_are_merged_in_order_of_arrival() -> None:
    ran = await run("echo one; echo two >&2; echo three")
    assert (ran.status, ran.output, ran.dropped, ran.timed_out, ran.held) == (0, "one\ntwo\nthree\n", 0, False, False)


@pytest.mark.parametrize(
    "command, status, ending",
    [
        ("true", 0, "exit code 0"),
        ("exit 3", 3, "exit code 3"),
        ("kill -9 $$", -signal.SIGKILL, "killed by SIGKILL"),
        ("kill -SEGV $$", -signal.SIGSEGV, "killed by SIGSEGV"),
        ("no-such-program 2>/dev/null", 127, "exit code 127"),
    ],
)
async def test_the_exit_code_or_the_signal_is_told(command: str, status: int, ending: str) -> None:
    ran = await run(command)
    assert (ran.status, ran.ending()) == (status, ending)
    assert has_no_child()


async def test_it_runs_in_the_folder_with_empty_input_and_nothing_of_an_earlier_call(tmp_path: Path) -> None:
    ran = await run("pwd; cat; cd /; x=1", cwd=tmp_path)
    assert ran.output == f"{tmp_path}\n"
    assert (await run("pwd; echo $x", cwd=tmp_path)).output == f"{tmp_path}\n\n"


async def test_a_command_that_begins_with_a_dash_is_a_command() -> None:
    assert (await run("-e 2>/dev/null; echo ran")).output == "ran\n"


async def test_a_command_has_a_session_of_its_own_and_so_cannot_ask_on_the_terminal() -> None:
    ran = await run(
        """[ $$ = "$(cut -d ' ' -f 6 /proc/$$/stat)" ] && echo leads; (true </dev/tty) 2>/dev/null || echo mute"""
    )
    assert ran.output == "leads\nmute\n"


async def test_a_command_sees_its_environment_and_nothing_else() -> None:
    ran = await run_command(
        "echo $GREETING $OPENAI_API_KEY $PAGER",
        cwd=Path.cwd(),
        env=command_environment({"PATH": os.environ["PATH"], "GREETING": "hi", "OPENAI_API_KEY": "secret"}),
        timeout=20,
        output_limit=1000,
        hear=lambda text: None,
    )
    assert ran.output == "hi cat\n"


async def test_what_cannot_be_started_says_where_and_why(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(ToolFailure, match=r"could not be started in .*/gone: No such file or directory"):
        await run("true", cwd=tmp_path / "gone")
    with pytest.raises(ToolFailure, match="Argument list too long"):
        await run("true " + "x" * 3_000_000)
    assert len(os.listdir("/proc/self/fd")) == before


async def test_a_command_that_reads_its_own_output_takes_it_from_nobody_but_itself() -> None:
    ran = await run("cat /proc/$$/fd/1 >/dev/null & for i in $(seq 20000); do echo $i; done; kill %1; wait; exit 7")
    assert ran.status == 7


async def test_output_arrives_while_the_command_runs(tmp_path: Path) -> None:
    ear, gate = Ear(), tmp_path / "gate"
    os.mkfifo(gate)

    async def answer() -> None:
        await ear.line()
        await anyio.to_thread.run_sync(gate.write_text, "go")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(answer)
        ran = await run(f"echo ready; cat {gate}", hear=ear)
        assert ran.output == ear.text == "ready\ngo"


async def test_many_at_once_keep_their_outputs_apart_and_leave_nothing() -> None:
    files = len(os.listdir("/proc/self/fd"))
    outputs: dict[int, str] = {}

    async def one(number: int) -> None:
        outputs[number] = (await run(f"echo {number}")).output

    async with anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(one, number)
    assert outputs == {number: f"{number}\n" for number in range(20)}
    assert has_no_child()
    assert len(os.listdir("/proc/self/fd")) == files


# --- what it leaves


@pytest.mark.parametrize("where", ["", ">/dev/null 2>&1"])
async def test_a_process_in_the_background_neither_delays_the_result_nor_outlives_it(where: str) -> None:
    ran = await within_seconds(run(f"sleep 300 {where} & echo $!"))
    assert (ran.status, ran.held) == (0, False)
    await until(lambda: is_gone(int(ran.output)))


async def test_a_busy_grandchild_is_stopped_with_its_shell() -> None:
    ran = await run("(yes >/dev/null & echo $!); echo done")
    pid, _, rest = ran.output.partition("\n")
    assert rest == "done\n"
    await until(lambda: is_gone(int(pid)))


# Each prints the number of a process in a group that is not the shell's, when it is there.
OTHER_GROUPS = {
    "timeout": "timeout 300 sh -c 'echo $$; exec sleep 300'; true",
    "job control": "set -m; sh -c 'echo $$; exec sleep 300' & wait",
    "a timeout in a timeout": "timeout 300 timeout 300 sh -c 'echo $$; exec sleep 300'; true",
    "groups without end": "timeout 300 bash -c 'set -m; sleep 300 & echo $!; for i in {1..99}; do sleep 300 & done; wait'; true",
    "stubborn": """timeout -k 300 300 sh -c 'trap "" TERM; echo $$; sleep 300; sleep 300'; true""",
}
other_groups = pytest.mark.parametrize("command", OTHER_GROUPS.values(), ids=OTHER_GROUPS.keys())


@other_groups
async def test_a_process_in_another_group_does_not_outlive_its_shell(command: str, tmp_path: Path) -> None:
    ran = await within_seconds(run(f"mkfifo gate; ({command}) >gate & read pid <gate; echo $$ $pid", cwd=tmp_path))
    shell, pid = map(int, ran.output.split())
    assert (ran.status, ran.held) == (0, False)
    await until(lambda: is_gone(pid) and session_is_empty(shell))


async def test_without_proc_the_processes_are_asked_of_ps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(posix_session, "PROC", tmp_path)
    assert os.getpid() in posix_session.process_ids()
    ran = await within_seconds(run("set -m; sleep 300 & echo $!"))
    await until(lambda: is_gone(int(ran.output)))
    monkeypatch.setenv("PATH", "")
    assert posix_session.process_ids() == []


async def test_a_process_that_left_the_session_does_not_delay_the_result_and_is_told(tmp_path: Path) -> None:
    escape = "setsid sh -c 'echo $$ >pid; exec sleep 300' & until [ -s pid ]; do sleep 0.01; done; cat pid"
    ran = await within_seconds(run(escape, cwd=tmp_path, patience=Patience(closing=0.1)))
    detached = int(ran.output)
    try:
        assert (ran.status, ran.held) == (0, True)
        assert not is_gone(detached)
    finally:
        os.kill(detached, signal.SIGKILL)


async def test_where_the_system_cannot_wait_without_reaping_nothing_is_left_either(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(os, "waitid")
    ran = await within_seconds(run("sleep 300 & echo $!; exit 3"))
    assert ran.status == 3
    await until(lambda: is_gone(int(ran.output)) and has_no_child())


# --- time


Skip = Callable[[float], None]


async def run_out_of_time(command: str, skip: Skip, *, lines: int = 1, patience: Patience = QUICK) -> Ran:
    """What becomes of a command whose time is over as soon as it has printed `lines`, however long that takes."""
    ear = Ear()
    task = asyncio.create_task(run(command, hear=ear, timeout=300, patience=patience))
    try:
        await until(lambda: ear.text.count("\n") >= lines)
        skip(300)
        return await within_seconds(task)
    finally:
        task.cancel()


async def test_a_command_that_takes_too_long_is_stopped_and_what_it_printed_is_kept(skip: Skip) -> None:
    ran = await run_out_of_time("echo before; sleep 300; echo after", skip, patience=Patience(timed_out=10))
    assert (ran.status, ran.output, ran.timed_out) == (-signal.SIGTERM, "before\n", True)
    assert has_no_child()


async def test_a_command_that_is_stopped_may_put_its_things_in_order(skip: Skip) -> None:
    tidy = "trap 'echo tidied; exit 0' TERM; echo ready; while :; do sleep 300; done"
    ran = await run_out_of_time(tidy, skip, patience=Patience(timed_out=10))
    assert (ran.status, ran.timed_out) == (0, True)
    assert ran.output.endswith("tidied\n")


async def test_a_command_that_ignores_every_request_to_stop_is_killed(skip: Skip) -> None:
    stubborn = """trap "" TERM; sh -c 'echo $$; sleep 300; sleep 300'; sleep 300"""
    ran = await run_out_of_time(stubborn, skip)
    assert (ran.status, ran.timed_out) == (-signal.SIGKILL, True)
    await until(lambda: is_gone(int(ran.output)))


@other_groups
async def test_a_process_in_another_group_is_stopped_when_the_time_is_over(command: str, skip: Skip) -> None:
    ran = await run_out_of_time(f"echo $$; {command}", skip, lines=2)
    assert ran.timed_out
    shell, pid = map(int, ran.output.split())
    await until(lambda: is_gone(pid) and session_is_empty(shell))


@pytest.mark.parametrize("flood", ["yes", "tr '\\0' x </dev/zero", "cat /dev/urandom"])
async def test_a_flood_is_stopped_in_time_costs_no_memory_and_lets_others_work(flood: str, skip: Skip) -> None:
    heard: list[str] = []
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    task = asyncio.create_task(run(flood, timeout=300, hear=heard.append))
    try:
        # Whoever gets to count these has turns of its own while the flood is read.
        await until(lambda: sum(piece.startswith("…") for piece in heard) > 3)
        skip(300)
        ran = await within_seconds(task)
    finally:
        task.cancel()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert ran.timed_out
    assert len(ran.output) < 1100
    assert sum(map(len, heard)) < ran.dropped
    assert grown < (20 << 10 if sys.platform == "linux" else 20 << 20)  # KiB there, bytes on macOS


# --- cancellation


@asynccontextmanager
async def running(command: str) -> AsyncIterator[tuple[asyncio.Task[Ran], int]]:
    """A command in a task, and the number that it printed first."""
    ear = Ear()
    task = asyncio.create_task(run(command, hear=ear))
    try:
        yield task, int(await ear.line())
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@pytest.mark.parametrize(
    "command",
    [
        "echo $$; sleep 300",
        "sleep 300 & echo $!; wait",
        """trap "" TERM; echo $$; sleep 300; sleep 300""",
        *OTHER_GROUPS.values(),
    ],
)
async def test_a_cancel_stops_all_processes_first_and_then_travels_on(command: str) -> None:
    async with running(command) as (task, pid):
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: is_gone(pid))
        assert has_no_child()


async def test_a_second_cancel_while_the_first_one_waits_kills_at_once() -> None:
    async with running("""trap "" TERM; echo $$; sleep 300; sleep 300""") as (task, pid):
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: is_gone(pid) and has_no_child())


async def test_a_cancel_before_the_first_breath_of_the_process_leaves_no_orphan(tmp_path: Path) -> None:
    for turns in range(4):
        task = asyncio.create_task(run(f"echo > {tmp_path}/born; sleep 300"))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(has_no_child)


async def test_a_cancelled_scope_gets_no_result_out_of_it() -> None:
    with anyio.CancelScope() as scope:
        scope.cancel()
        await run("sleep 300")
        pytest.fail("the cancel was swallowed")
    assert scope.cancelled_caught
    assert has_no_child()


async def test_whoever_leaves_without_waiting_kills_all_commands_at_once() -> None:
    stubborn = """trap "" TERM; timeout 300 sh -c 'trap "" TERM; echo $$; sleep 300; sleep 300'; sleep 300"""
    async with running(stubborn) as (one, first), running(stubborn) as (other, second):
        kill_living()
        await until(lambda: is_gone(first) and is_gone(second))
        assert [(await task).status for task in (one, other)] == [-signal.SIGKILL, -signal.SIGKILL]
    assert has_no_child()


def test_a_loop_that_ends_in_the_middle_leaves_nothing_behind() -> None:
    async def main() -> int:
        ear = Ear()
        task = asyncio.create_task(run("echo $$; sleep 300", hear=ear))
        pid = int(await ear.line())
        assert not task.done()
        return pid

    pid = asyncio.run(main())
    assert is_gone(pid)


def test_a_loop_that_is_closed_at_once_leaves_the_reaping_to_the_watcher() -> None:
    async def main() -> None:
        pipe, entry = os.pipe()
        process = subprocess.Popen(["sleep", "300"], stdout=entry, start_new_session=True)
        os.close(entry)
        child = Child(process, pipe, lambda data: None)
        child.watch()
        child.release()

    asyncio.run(main())
    asyncio.run(until(has_no_child))
