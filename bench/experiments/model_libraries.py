"""What libraries for models cost beside codecs of our own, and what they lose of what providers say.

`python -m bench.experiments.model_libraries [--environments FOLDER] [--quick]` makes a virtual environment for each
library in the folder (a temporary one by default; existing ones are used), measures them in turn against a provider
on loopback, sends each the replies of `model_probes`, prints tables and writes bench/results/models-<time>.json.
"""

import argparse
import json
import os
import platform
import subprocess
import tempfile
import time
import venv
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from tests.provider import Provider, Reply

from bench.experiments import model_probes as wire
from bench.measure import interleaved

ROOT = Path(__file__).parents[2]
CHUNKS = 20_000
TOKEN = "word "


@dataclass(frozen=True, eq=False)
class Library:
    """One candidate: what pip installs, the imports of a streamed request by dialect, and why it stands here."""

    name: str
    packages: tuple[str, ...]
    imports: dict[str, str]


_DIRECT = "import asyncio, pydantic_ai.direct, pydantic_ai.models.{0}, pydantic_ai.providers.{0}, {1}"
_ANY = "import asyncio, any_llm, any_llm.providers.{0}, {0}.{1}"
_CHAT, _MESSAGES = "openai.resources.chat.completions", "anthropic.resources.messages"
LIBRARIES = (
    Library(
        "planlog",
        (str(ROOT),),
        {
            "chat": "import asyncio, planlog.model.remote, planlog.model.chat",
            "messages": "import asyncio, planlog.model.remote, planlog.model.anthropic",
        },
    ),
    Library(
        "httpx2", ("httpx2", "msgspec", "anyio"), dict.fromkeys(("chat", "messages"), "import asyncio, httpx2, msgspec")
    ),
    Library("openai", ("openai",), {"chat": f"import asyncio, {_CHAT}"}),
    Library("anthropic", ("anthropic",), {"messages": f"import asyncio, {_MESSAGES}"}),
    Library(
        "pydantic-ai",
        ("pydantic-ai-slim[openai,anthropic]",),
        {"chat": _DIRECT.format("openai", _CHAT), "messages": _DIRECT.format("anthropic", _MESSAGES)},
    ),
    Library(
        "any-llm",
        ("any-llm-sdk[openai,anthropic]",),
        {
            "chat": _ANY.format("openai", "resources.chat.completions"),
            "messages": _ANY.format("anthropic", "resources.messages"),
        },
    ),
)
Client = tuple[Library, str]
"""A library and a dialect."""
Figures = dict[str, dict[str, list[float]]]
KINDS = ("import", "request", "chunk")


class Bench:
    """The environments, and the provider that answers."""

    def __init__(self, folder: Path, provider: Provider) -> None:
        self.folder = folder
        self.provider = provider
        self.env = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "PYTHONDONTWRITEBYTECODE": "1"}

    def python(self, library: Library) -> str:
        return str(self.folder / library.name / "bin" / "python")

    def install(self, library: Library) -> float:
        """Makes the environment where it is missing, planlog's always anew; MB beside Python, pip and setuptools."""
        if not Path(self.python(library)).exists():
            venv.create(self.folder / library.name, with_pip=True)
        pip = [self.python(library), "-m", "pip", "-q", "--disable-pip-version-check"]
        if library.name == "planlog":
            subprocess.run([*pip, "uninstall", "-y", "planlog"], check=True, capture_output=True)
        subprocess.run([*pip, "install", *library.packages], check=True, capture_output=True)
        packages = next((self.folder / library.name / "lib").glob("python*/site-packages"))
        own = ("pip", "setuptools", "pkg_resources", "_distutils_hack", "distutils-precedence", "__pycache__")
        parts = [path for path in packages.iterdir() if not path.name.startswith(own)]
        files = [path for part in parts for path in (part.rglob("*") if part.is_dir() else [part])]
        return sum(path.lstat().st_size for path in files if path.is_file()) / 1e6

    def versions(self, library: Library) -> list[str]:
        """Everything that is installed."""
        pip = [self.python(library), "-m", "pip", "freeze", "--exclude", "planlog", "--disable-pip-version-check"]
        return subprocess.run(pip, capture_output=True, text=True, check=True).stdout.split()

    def ask(self, client: Client, reply: Reply, *flags: str) -> dict[str, Any]:
        """What one process says that streams `reply`."""
        library, dialect = client
        self.provider.queue(reply)
        model = "gpt-5.6" if dialect == "chat" else "claude-opus-5-5"
        script = str(Path(__file__).with_name("model_client.py"))
        command = [self.python(library), script, library.name, dialect, self.provider.url, model, *flags]
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=120)
        if done.returncode:
            raise RuntimeError(f"{library.name} {dialect}: {done.stderr[-2000:]}")
        return json.loads(done.stdout)

    def can(self, client: Client) -> bool:
        """Whether the library knows the dialect."""
        command = [self.python(client[0]), "-c", client[0].imports[client[1]]]
        done = subprocess.run(command, env=self.env, capture_output=True, text=True)
        if done.returncode:
            print(f"{client[0].name} {client[1]} is left out: {done.stderr.splitlines()[-1]}")
        return not done.returncode

    def load(self, library: Library, code: str) -> tuple[float, float]:
        """Seconds of `python -c` until the code has run, and until the process is gone."""
        start = time.monotonic()
        command = [self.python(library), "-c", f"{code}\nimport time; print(time.monotonic())"]
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, check=True, timeout=120)
        return float(done.stdout) - start, time.monotonic() - start


def streamed(dialect: str, count: int) -> Reply:
    """`count` chunks of text, each in an HTTP chunk of its own as providers send them."""
    if dialect == "chat":
        return _framed([wire.HELLO, *[wire.chunk({"content": TOKEN})] * count, wire.STOP, wire.DONE])
    said = {"type": "text_delta", "text": TOKEN}
    block = [part + b"\n\n" for part in wire.block(0, {"type": "text", "text": ""}).split(b"\n\n")[:-1]]
    deltas = [wire.event("content_block_delta", index=0, delta=said)] * count
    return _framed([wire.START, block[0], *deltas, block[1], wire.ended("end_turn")])


def _framed(events: Sequence[bytes]) -> Reply:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    return Reply(raw=head + b"".join(b"%x\r\n%b\r\n" % (len(event), event) for event in events) + b"0\r\n\r\n")


def timings(bench: Bench, clients: Sequence[Client], blocks: int, kinds: Sequence[str]) -> Figures:
    """Raw figures by kind and client: ms of imports, of whole processes, until the request came; µs a chunk; MB."""
    short = {dialect: streamed(dialect, 1) for dialect in ("chat", "messages")}
    long = {dialect: streamed(dialect, CHUNKS) for dialect in ("chat", "messages")}
    sides: dict[str, list[float]] = {}

    def load(name: str, library: Library, code: str) -> float:
        loaded, gone = bench.load(library, code)
        sides.setdefault(f"process of {name}", []).append(gone * 1e3)
        return loaded

    def first(name: str, client: Client) -> float:
        start = time.monotonic()
        sides.setdefault(f"peak of {name}", []).append(bench.ask(client, short[client[1]], "--count")["peak"] / 1e3)
        return bench.provider.asked[-1].time - start

    def cpu(client: Client) -> float:
        return bench.ask(client, long[client[1]], "--count")["cpu"] / CHUNKS

    if "request" in kinds:
        peek = "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
        lowest = subprocess.run([bench.python(LIBRARIES[0]), "-c", peek], capture_output=True, text=True, check=True)
        sides["peak of pass"] = [int(lowest.stdout) / 1e3]
    calls: dict[str, Callable[[], float]] = {"import of pass": partial(load, "pass", LIBRARIES[0], "pass")}
    for library, dialect in clients:
        name, client = f"{library.name} {dialect}", (library, dialect)
        calls[f"import of {name}"] = partial(load, name, library, library.imports[dialect])
        calls[f"request of {name}"] = partial(first, name, client)
        calls[f"chunk of {name}"] = partial(cpu, client)
    taken = interleaved({key: call for key, call in calls.items() if key.split(" ")[0] in kinds}, blocks)
    found: Figures = {}
    for key, some in [*taken.items(), *sides.items()]:
        kind, _, name = key.partition(" of ")
        factor = 1 if key in sides else 1e6 if kind == "chunk" else 1e3
        found.setdefault(kind, {})[name] = [one * factor for one in some]
    return found


def probed(bench: Bench, clients: Sequence[Client]) -> list[dict[str, Any]]:
    """Each probe with each library, in the order of probes."""
    rows: list[dict[str, Any]] = []
    for probe in wire.PROBES:
        for client in clients:
            if client[1] != probe.dialect or client[0].name == "httpx2":
                continue
            before = len(bench.provider.asked)
            saw = bench.ask(client, probe.reply, *(["--once"] if probe.once else []))
            asked = bench.provider.asked[before:]
            passed, text = probe.sent(asked[0].json) if probe.schema else probe.found(saw, len(asked))
            told = {"passed": passed, "text": text}
            rows.append({"dialect": probe.dialect, "probe": probe.name, "library": client[0].name, **told})
            mark = "ok" if passed else "!!"
            print(f"{mark} {probe.dialect:9}{probe.name:27}{client[0].name:12} {text}", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.experiments.model_libraries", description=__doc__)
    parser.add_argument("--environments", type=Path, help="a folder for virtual environments, one a library")
    parser.add_argument("--quick", action="store_true", help="few rounds, to see that it runs")
    parser.add_argument("--only", nargs="*", choices=[*KINDS, "probes"], default=[*KINDS, "probes"])
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = options.environments or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        bench = Bench(folder.absolute(), stack.enter_context(Provider().in_thread()))
        sizes = {library.name: bench.install(library) for library in LIBRARIES}
        clients = [(library, dialect) for library in LIBRARIES for dialect in library.imports]
        clients = [client for client in clients if bench.can(client)]
        kinds = [kind for kind in KINDS if kind in options.only]
        figures = timings(bench, clients, 3 if options.quick else 15, kinds) if kinds else {}
        table(sizes, figures)
        rows = probed(bench, clients) if "probes" in options.only else []
        versions = {library.name: bench.versions(library) for library in LIBRARIES}
    about = {"python": platform.python_version(), "machine": platform.machine(), "system": platform.release()}
    results = Path(__file__).parents[1] / "results"
    results.mkdir(exist_ok=True)
    path = results / f"models-{time.strftime('%Y%m%d-%H%M%S')}.json"
    path.write_text(
        json.dumps({"about": about | {"versions": versions}, "install_mb": sizes, "figures": figures, "probes": rows})
    )
    print(f"raw figures: {path}")


def table(sizes: dict[str, float], figures: Figures) -> None:
    """Medians; all but those of chunks and installations over `python -c pass`."""
    heads = {
        "import": "import ms",
        "process": "import+exit",
        "request": "request ms",
        "chunk": "µs a chunk",
        "peak": "peak MB",
    }
    heads = {kind: head for kind, head in heads.items() if kind in figures}
    print(f"{'':22}{''.join(f'{head:>13}' for head in heads.values())}{'install MB':>13}")
    bare = {kind: median(some["pass"]) for kind, some in figures.items() if "pass" in some}
    print(f"{'python -c pass':22}{''.join(f'{bare[kind]:13.1f}' if kind in bare else ' ' * 13 for kind in heads)}")
    bare["request"] = bare.get("import", 0.0)
    for name in dict.fromkeys(name for some in figures.values() for name in some if name != "pass"):
        values = [median(figures[kind][name]) - bare.get(kind, 0.0) for kind in heads]
        print(f"{name:22}{''.join(f'{value:13.1f}' for value in values)}{sizes[name.split(' ')[0]]:13.1f}", flush=True)


if __name__ == "__main__":
    main()
