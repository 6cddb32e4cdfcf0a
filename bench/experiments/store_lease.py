"""How soon the lease of a process that was killed is free, and what taking, looking at and giving back one costs."""

import asyncio
import os
import sys
import tempfile
import time
from asyncio.subprocess import PIPE
from pathlib import Path
from statistics import quantiles

from planlog.log.store import SessionBusy, SessionRecord
from planlog.log.store.sqlite import open_store


async def hold(home: Path) -> None:
    async with open_store(home) as store:
        await store.acquire("s")
        print("held", flush=True)
        await asyncio.sleep(3600)


async def main() -> None:
    with tempfile.TemporaryDirectory(dir=os.environ.get("PLANLOG_BENCH_DIR")) as folder:
        home = Path(folder)
        async with open_store(home) as store:
            await store.create(SessionRecord("s", 1, "/", b"h"))
            taken: dict[str, list[float]] = {
                "acquire": [],
                "owner": [],
                "refused": [],
                "release": [],
                "after SIGKILL": [],
            }

            def note(what: str, begin: float) -> None:
                taken[what].append(time.perf_counter() - begin)

            for _ in range(500):
                begin = time.perf_counter()
                lease = await store.acquire("s")
                note("acquire", begin)
                begin = time.perf_counter()
                await store.owner("s")
                note("owner", begin)
                begin = time.perf_counter()
                try:
                    await store.acquire("s")
                except SessionBusy:
                    note("refused", begin)
                begin = time.perf_counter()
                await lease.release()
                note("release", begin)
            for _ in range(10):
                command = [sys.executable, "-m", "bench.experiments.store_lease", folder]
                holder = await asyncio.create_subprocess_exec(*command, stdout=PIPE)
                assert holder.stdout is not None
                await holder.stdout.readline()
                holder.kill()
                begin = time.perf_counter()
                while True:
                    try:
                        lease = await store.acquire("s")
                        break
                    except SessionBusy:
                        await asyncio.sleep(0)
                note("after SIGKILL", begin)
                await holder.wait()
                await lease.release()
    for what, seconds in taken.items():
        cuts = quantiles(seconds, n=100)
        print(f"{what:14} p50 {cuts[49] * 1e6:7.0f} µs   p99 {cuts[98] * 1e6:7.0f} µs")


if __name__ == "__main__":
    asyncio.run(hold(Path(sys.argv[1])) if len(sys.argv) > 1 else main())
