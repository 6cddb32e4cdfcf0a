"""Four processes write as fast as they can to four sessions of one home: nothing is lost, and nobody starves."""

import json
import statistics
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

WRITERS = 4
COMMITS = 300
"""What one of them has committed when the race ends."""

WRITER = """
import asyncio, json, sys, time
from pathlib import Path
from planlog.agent.event import TURN_START, TurnStart
from planlog.log.vocabulary import Vocabulary
from planlog.log.sessions import Sessions
from planlog.log.store.sqlite import open_store

async def main(home: str, commits: int) -> None:
    async with open_store(Path(home)) as store:
        session = await Sessions(store, Vocabulary()).create(Path("/"))
        async with session.lease():
            print("ready", flush=True)
            sys.stdin.readline()
            stop = asyncio.ensure_future(asyncio.to_thread(sys.stdin.readline))
            took = []
            while not stop.done():
                began = time.perf_counter()
                await session.append(TURN_START.fact(TurnStart(len(took) + 1)))
                took.append(time.perf_counter() - began)
                if len(took) == commits:
                    print("enough", flush=True)
        print(json.dumps({"session": session.id, "took": took}), flush=True)

asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""


@pytest.mark.timeout(120)
def test_four_writers_flat_out_lose_nothing_and_each_gets_its_share(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path / "home"), str(COMMITS)]
    writers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        for _ in range(WRITERS)
    ]
    try:
        for writer in writers:
            assert writer.stdout
            assert writer.stdout.readline() == "ready\n"
        for writer in writers:
            assert writer.stdin
            writer.stdin.write("go\n")
        first = writers[0].stdout
        assert first
        assert first.readline() == "enough\n"
        said = [writer.communicate("stop\n", timeout=60)[0].splitlines()[-1] for writer in writers]
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()
    took = {result["session"]: result["took"] for result in map(json.loads, said)}
    connection = apsw.Connection(str(tmp_path / "home" / "planlog.db"))
    for session, times in took.items():
        lines = connection.execute(
            "SELECT line FROM event JOIN session ON session.key = event.session WHERE id = ? ORDER BY seq", (session,)
        )
        kept = [json.loads(bytes(line)) for (line,) in lines]
        assert [(event["seq"], event["data"]["turn"]) for event in kept] == [(n, n + 1) for n in range(len(times))]
    assert connection.pragma("integrity_check") == "ok"
    connection.close()
    shares = sorted(len(times) for times in took.values())
    p99 = statistics.quantiles([time for times in took.values() for time in times], n=100)[98]
    print(f"commits {shares}, p99 {p99 * 1000:.1f} ms")
    assert shares[0] >= sum(shares) / WRITERS / 4, shares
