"""A 2025-11-25 MCP server with tasks on the Python SDK (PyPI ``mcp`` 1.x), a tool for every flow.

The runtime is the SDK's own (experimental tasks of its low-level server): this file only
says what the tools do. Tasks live in the process and die with it.

    python server.py [HOST] [PORT]      serves http://HOST:PORT/mcp (default 127.0.0.1 18412)
"""

import sys
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from typing import Any

import anyio
import mcp.types as types
import uvicorn
from mcp.server.experimental.task_context import ServerTaskContext
from mcp.server.fastmcp.server import StreamableHTTPASGIApp
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import McpError
from starlette.applications import Starlette
from starlette.routing import Route

# The SDK calls its tasks experimental, and says so at every use.
warnings.filterwarnings("ignore", category=DeprecationWarning)

server = Server("python-peer", version="1.0.0")
tasks = server.experimental.enable_tasks()
# The SDK runs all tasks within the session that was opened last, and makes none once any
# session has ended. Here they run as long as the server does, whoever comes and goes.
run_tasks, tasks.run = tasks.run, nullcontext

NOTHING = {"type": "object", "properties": {}}
MS = {"type": "object", "properties": {"ms": {"type": "integer"}}, "required": ["ms"]}
NUMBERS = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]}
COUNT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}

Work = Callable[[ServerTaskContext, dict[str, Any]], Awaitable[types.CallToolResult]]


def text(message: str, **more: Any) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=message)], **more)


async def work(task: ServerTaskContext, args: dict[str, Any]) -> types.CallToolResult:
    await task.update_status("working on it")
    await anyio.sleep(args["ms"] / 1000)
    return text(f"worked for {args['ms']} ms")


async def structured(_task: ServerTaskContext, _args: dict[str, Any]) -> types.CallToolResult:
    return text('{"n": 7}', structuredContent={"n": 7})


async def tool_error(_task: ServerTaskContext, _args: dict[str, Any]) -> types.CallToolResult:
    return text("tool says no", isError=True)


async def fail(_task: ServerTaskContext, _args: dict[str, Any]) -> types.CallToolResult:
    raise McpError(types.ErrorData(code=5003, message="the database is on fire", data={"shard": 3}))


async def asked(task: ServerTaskContext, field: str, message: str) -> str:
    """One question, and its answer as text."""
    schema = {"type": "object", "properties": {field: {"type": "string"}}, "required": [field]}
    answer = await task.elicit(message, requestedSchema=schema)
    return f"{answer.action} {answer.content[field] if answer.content else None}"


async def ask(task: ServerTaskContext, _args: dict[str, Any]) -> types.CallToolResult:
    return text(await asked(task, "name", "What is your name?"))


async def ask_twice(task: ServerTaskContext, _args: dict[str, Any]) -> types.CallToolResult:
    first = await asked(task, "first", "What comes first?")
    return text(f"first: {first}; second: {await asked(task, 'second', 'What comes second?')}")


async def sample(task: ServerTaskContext, _args: dict[str, Any]) -> types.CallToolResult:
    wish = types.SamplingMessage(role="user", content=types.TextContent(type="text", text="A haiku, please."))
    answer = await task.create_message([wish], max_tokens=50)
    return text(f"model said: {answer.content.text}")


TASKS: dict[str, tuple[Work, dict[str, Any]]] = {
    "work": (work, MS),
    "structured": (structured, NOTHING),
    "tool_error": (tool_error, NOTHING),
    "fail": (fail, NOTHING),
    "ask": (ask, NOTHING),
    "ask_twice": (ask_twice, NOTHING),
    "sample": (sample, NOTHING),
}


@server.list_tools()
async def list_tools() -> list[types.Tool]:
    required = types.ToolExecution(taskSupport=types.TASK_REQUIRED)
    tools = [types.Tool(name="add", description="Adds two numbers; never a task.", inputSchema=NUMBERS)]
    tools.append(types.Tool(name="ask_plainly", description="Asks for a name; never a task.", inputSchema=NOTHING))
    for name, (_, schema) in TASKS.items():
        tools.append(types.Tool(name=name, inputSchema=schema, execution=required))
        if name == "structured":
            tools[-1].outputSchema = COUNT
    return tools


@server.call_tool()
async def call_tool(name: str, args: dict[str, Any]) -> types.CallToolResult | types.CreateTaskResult:
    ctx = server.request_context
    if name == "add":
        return text(str(args["a"] + args["b"]))
    if name == "ask_plainly":
        form = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        answer = await ctx.session.elicit("What is your name?", requestedSchema=form, related_request_id=ctx.request_id)
        return text(f"{answer.action} {answer.content['name'] if answer.content else None}")
    ctx.experimental.validate_task_mode(types.TASK_REQUIRED)
    tool, _ = TASKS[name]
    return await ctx.experimental.run_task(lambda task: tool(task, args))


manager = StreamableHTTPSessionManager(app=server)


@asynccontextmanager
async def running(_app: Starlette) -> AsyncIterator[None]:
    async with run_tasks(), manager.run():
        yield
        tasks.task_group.cancel_scope.cancel()


if __name__ == "__main__":
    host = sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1"
    port = int(sys.argv[2]) if len(sys.argv) > 2 else 18412
    app = Starlette(routes=[Route("/mcp", endpoint=StreamableHTTPASGIApp(manager))], lifespan=running)
    uvicorn.run(app, host=host, port=port, log_level="warning")
