import os
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import anyio
import pytest

from planlog.features.mcp import service
from planlog.features.mcp.names import tool_name
from planlog.features.mcp.offer import Listed, offered, unusable
from planlog.features.mcp.results import result_text
from planlog.features.mcp.schemas import inlined
from planlog.features.mcp.service import McpServers
from planlog.tools.call import present, propose, run_call
from planlog.tools.outcome import Outcome
from planlog.tools.servers import Server
from planlog.tools.tool import Execution, Proposal, ToolFailure, Tools

SERVER = Path(__file__).parents[4] / "tests" / "mcp_server.py"
NAMES = [f"mcp__test__{name}" for name in ("die", "environ", "fail", "grow", "refuse", "say", "wait")]


def server(*args: str, name: str = "test", **env: str) -> Server:
    return Server(name, sys.executable, (str(SERVER), *args), env)


def calling(tools: Tools, folder: Path) -> Callable[[str, str], Coroutine[Any, Any, Outcome]]:
    async def call(name: str, arguments: str = "{}") -> Outcome:
        with anyio.fail_after(20):
            return await run_call(tools, f"mcp__test__{name}", arguments, Execution("call-1", None, folder))

    return call


async def until(condition: Callable[[], Any]) -> None:
    with anyio.fail_after(20):
        while not condition():  # noqa: ASYNC110 - another process brings it about
            await anyio.sleep(0.01)


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


async def test_a_server_brings_its_tools_which_are_called_and_go_with_it(tmp_path: Path) -> None:
    tools, reports = Tools(), list[str]()
    call = calling(tools, tmp_path)
    async with McpServers().connect([server(GREETING="hi")], tmp_path, tools, reports.append) as connected:
        assert tools.names() == []
        await connected.settled()
        assert tools.names() == NAMES
        assert all(tool.needs_approval for name in NAMES if (tool := tools.get(name)))
        assert (await call("say", '{"text": "hello"}')).text == "said: hello"
        assert (await call("fail", "{}")).text == "Error: it went wrong"
        assert (await call("refuse", "{}")).text == "Error: not today"
        told = await call("environ", "{}")
        assert f'"cwd": "{tmp_path}"' in told.text
        assert '"GREETING": "hi"' in told.text
        pid = int((tmp_path / "started").read_text())
        assert not is_gone(pid)
    assert tools.names() == []
    assert is_gone(pid)
    assert reports == []


async def test_a_call_that_is_cancelled_is_cancelled_at_the_server(tmp_path: Path) -> None:
    tools = Tools()
    call = calling(tools, tmp_path)
    async with (
        McpServers().connect([server()], tmp_path, tools, print) as connected,
        anyio.create_task_group() as tasks,
    ):
        await connected.settled()
        tasks.start_soon(call, "wait", "{}")
        await until((tmp_path / "waiting").exists)
        tasks.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            await until((tmp_path / "cancelled").exists)


async def test_a_server_that_has_learned_something_is_asked_again(tmp_path: Path) -> None:
    tools = Tools()
    async with McpServers().connect([server()], tmp_path, tools, print) as connected:
        await connected.settled()
        await calling(tools, tmp_path)("grow", "{}")
        await until(lambda: tools.get("mcp__test__shrink"))
        assert len(tools.names()) == len(NAMES) + 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cut", "an emoji: \ufffd"),
        ("nothing", "Error: the server's answer is none"),
        ("endless", '{"a": [1, null]}'),
        ("huge", "Error: the server's answer is none"),
    ],
)
async def test_an_odd_answer_is_read_or_a_failure_at_once(tmp_path: Path, name: str, text: str) -> None:
    tools, reports = Tools(), list[str]()
    async with McpServers().connect([server("strange")], tmp_path, tools, reports.append) as connected:
        await connected.settled()
        assert (await calling(tools, tmp_path)(name, "{}")).text == text


async def test_a_server_that_asks_and_never_listens_is_ended(tmp_path: Path) -> None:
    tools, reports = Tools(), list[str]()
    async with McpServers().connect([server("asking")], tmp_path, tools, reports.append) as connected:
        await connected.settled()
        await until(lambda: reports)
        assert tools.names() == []
    assert reports == ['MCP server "test": its tools cannot be used: it asks for more and more and reads no answer']


async def test_a_restless_server_is_asked_now_and_then_and_its_tools_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "PAUSE_SECONDS", 0.3)
    tools, reports = Tools(), list[str]()
    async with McpServers().connect([server("restless")], tmp_path, tools, reports.append) as connected:
        await connected.settled()
        tool = tools.get("mcp__test__say")
        await until(lambda: len((tmp_path / "listed").read_text()) >= 3)
        assert tools.get("mcp__test__say") is tool
        first = len((tmp_path / "listed").read_text())
        await anyio.sleep(1)
        assert len((tmp_path / "listed").read_text()) - first <= 5
    assert len(reports) == 1
    assert "tools that cannot be offered" in reports[0]


def test_a_schema_says_everything_where_it_is_used() -> None:
    schema = {
        "type": "object",
        "properties": {
            "$ref": {"type": "string", "description": "a property of that name"},
            "place": {"$ref": "#/$defs/Place", "description": "where"},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None, "title": "Note"},
            "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "tree": {"$ref": "#/$defs/Tree"},
            "lost": {"$ref": "#/$defs/Nobody"},
        },
        "$defs": {
            "Place": {"type": "object", "properties": {"line": {"allOf": [{"$ref": "#/$defs/Line"}]}}},
            "Line": {"type": "integer"},
            "Tree": {"type": "object", "properties": {"leaves": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}}},
        },
    }
    assert inlined(schema) == {
        "type": "object",
        "properties": {
            "$ref": {"type": "string", "description": "a property of that name"},
            "place": {"type": "object", "properties": {"line": {"type": "integer"}}, "description": "where"},
            "note": {"type": "string", "default": None, "title": "Note"},
            "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "tree": {"type": "object", "properties": {"leaves": {"type": "array", "items": {}}}},
            "lost": {},
        },
    }


def test_a_schema_without_end_is_none() -> None:
    doubled = {f"d{n}": {"type": "array", "items": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(20)}
    assert inlined({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": doubled}) == {}


async def test_a_server_that_dies_takes_its_tools_with_it_and_is_reported(tmp_path: Path) -> None:
    tools, reports = Tools(), list[str]()
    async with McpServers().connect([server()], tmp_path, tools, reports.append) as connected:
        await connected.settled()
        assert (await calling(tools, tmp_path)("die", "{}")).text == "Error: Connection closed"
        await until(lambda: reports)
        assert tools.names() == []
        await connected.settled()
    assert reports == ['MCP server "test": its tools cannot be used: it has ended; planlog\'s stderr has what it said']


async def test_servers_that_fail_or_hang_keep_nobody_from_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "START_SECONDS", 4)
    tools, reports = Tools(), list[str]()
    missing = Server("missing", str(tmp_path / "no-such-program"), (), {})
    wanted = [missing, server("dying", name="dying"), server("silent", name="silent"), server("junk", name="junk")]
    async with McpServers().connect([*wanted, server()], tmp_path, tools, reports.append) as connected:
        await until(lambda: NAMES[0] in tools.names())
        await connected.settled()
        assert {name.split("__")[1] for name in tools.names()} == {"test", "junk"}
    assert sorted(reports) == [
        'MCP server "dying": its tools cannot be used: it has ended; planlog\'s stderr has what it said',
        'MCP server "junk": it prints what is no message: hello, I am a server',
        f'MCP server "missing": its tools cannot be used: {tmp_path}/no-such-program cannot be started: No such file or directory',
        'MCP server "silent": it is given up: it has not said within 4 seconds what it can do',
    ]
    assert is_gone(int((tmp_path / "started-silent").read_text()))


async def test_tools_that_cannot_be_offered_are_named(tmp_path: Path) -> None:
    tools, reports = Tools(), list[str]()
    async with McpServers().connect([server("odd")], tmp_path, tools, reports.append) as connected:
        await connected.settled()
        assert tools.names() == ["mcp__test__say"]
    (report,) = reports
    assert report == (
        'MCP server "test": tools that cannot be offered: say (another has the name mcp__test__say), '
        "long (its schema is longer than 20000 characters)"
    )


async def test_a_server_that_does_not_want_to_end_is_killed(tmp_path: Path) -> None:
    async with McpServers().connect([server("stubborn")], tmp_path, Tools(), print) as connected:
        await connected.settled()
        pid = int((tmp_path / "started-stubborn").read_text())
        start = anyio.current_time()
    assert is_gone(pid)
    assert anyio.current_time() - start < 5


async def test_leaving_does_not_wait_for_a_server_that_has_not_started(tmp_path: Path) -> None:
    async with McpServers().connect([server("silent")], tmp_path, Tools(), print):
        await until((tmp_path / "started-silent").exists)
    await until(lambda: is_gone(int((tmp_path / "started-silent").read_text())))


async def test_without_the_sdk_a_report_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp.client.session", None)
    reports = list[str]()
    async with McpServers().connect([server()], tmp_path, Tools(), reports.append) as connected:
        await connected.settled()
    (report,) = reports
    assert report.endswith("pip install 'planlog[mcp]'")


@pytest.mark.parametrize(
    ("server", "tool", "name"),
    [
        ("files", "read", "mcp__files__read"),
        ("my files", "read.all", "mcp__my_files__read_all_ab80c332"),
        ("a", "b__c", "mcp__a__b__c"),
        ("a__b", "c", "mcp__a__b__c_10f3a53f"),
        ("a", "_b", "mcp__a___b"),
        ("a_", "b", "mcp__a___b_4ba558b4"),
        ("文件", "读", "mcp________c11eaf96"),
        ("s" * 40, "t" * 40, f"mcp__{'s' * 40}__tttttttt_78d4e9d0"),
    ],
)
def test_names_are_those_that_every_provider_takes(server: str, tool: str, name: str) -> None:
    assert tool_name(server, tool) == name
    assert len(name) <= 64


async def test_whoever_approves_sees_the_arguments_and_may_allow_the_tool(tmp_path: Path) -> None:
    async def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": f"{name} {arguments}"}]}

    tools = Tools()
    with tools.add(offered("box", Listed("put", "x" * 3_000, {"type": "object"}), call)):
        card = present(tools, "mcp__box__put", '{"what": ["é"]}')
        assert (card.title, card.raw_input) == ("box: put", {"what": ["é"]})
        assert card.text == '{\n  "what": [\n    "é"\n  ]\n}'
        execution = Execution("call-1", None, tmp_path)
        assert await propose(tools, "mcp__box__put", "{}", execution) == Proposal(rule="mcp__box__put")
        assert (await run_call(tools, "mcp__box__put", '{"a": 1}', execution)).text == "put {'a': 1}"
        (definition,) = tools.definitions()
        assert definition["parameters"] == {"type": "object"}
        assert len(definition["description"]) == 2_000


def test_a_schema_that_is_none_of_an_object_is_refused() -> None:
    assert unusable(Listed("put", "", {"type": "string"})) == "its schema is not that of an object"


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"content": []}, "[no output]"),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "a\nb"),
        ({"content": [{"type": "image", "data": "", "mimeType": ""}]}, "[an image, which cannot be shown here]"),
        ({"content": [{"type": "audio", "data": "", "mimeType": ""}]}, "[a recording, which cannot be played here]"),
        ({"content": [{"type": "resource_link", "uri": "a:b", "name": "b"}]}, "[the resource a:b]"),
        ({"content": [{"type": "resource", "resource": {"uri": "a:b", "text": "in it"}}]}, "in it"),
        (
            {"content": [{"type": "resource", "resource": {"uri": "a:b", "blob": ""}}]},
            "[the resource a:b, which is no text]",
        ),
        ({"content": [{"type": "new"}]}, "[new, which cannot be shown here]"),
        ({"content": [], "structuredContent": {"a": "é"}}, '{"a": "é"}'),
        ({"content": [{"type": "text", "text": "a"}], "structuredContent": {"a": 1}}, "a"),
    ],
)
def test_results_are_read_as_text(result: dict[str, Any], text: str) -> None:
    assert result_text(result) == text
    with pytest.raises(ToolFailure) as failure:
        result_text({**result, "isError": True})
    assert failure.value.text == text
