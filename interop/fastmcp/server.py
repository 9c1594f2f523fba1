"""A 2026-07-28 MCP server with the tasks extension on FastMCP, a tool for every flow.

The runtime is FastMCP's own (packages ``fastmcp`` and ``fastmcp-tasks``): this file
only says what the tools do. Tasks live in the process (``memory://``) and die with it.

    python server.py [HOST] [PORT]      serves http://HOST:PORT/mcp (default 127.0.0.1 18410)
"""

import asyncio
import sys
from datetime import timedelta

import mcp_types as types
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.utilities.tasks import TaskConfig
from fastmcp_tasks import TasksExtension
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

app = FastMCP("fastmcp-peer", version="1.0.0")
# Ten tasks at a time is the default: sleeping ones left by an earlier flow would starve the next.
app.add_extension(TasksExtension(url="memory://", concurrency=64))

# FastMCP asks for five seconds between polls unless told otherwise. `structured` keeps that,
# so one tool shows the production default; the others answer fast enough for a test run.
FAST = TaskConfig(mode="optional", poll_interval=timedelta(milliseconds=200))
FAST_REQUIRED = TaskConfig(mode="required", poll_interval=timedelta(milliseconds=200))


class Count(BaseModel):
    """What `structured` returns; FastMCP derives the tool's outputSchema from it."""

    n: int


@app.tool
async def add(a: int, b: int) -> int:
    """Adds two numbers; never a task."""
    return a + b


@app.tool
async def grind(ms: int) -> str:
    """Works for ms milliseconds; never a task, however long it takes."""
    await asyncio.sleep(ms / 1000)
    return f"ground for {ms} ms"


@app.tool
async def count(steps: int, ctx: Context) -> str:
    """Reports progress steps times; never a task."""
    for step in range(1, steps + 1):
        await ctx.report_progress(step, steps)
    return f"counted to {steps}"


@app.tool(task=FAST)
async def work(ms: int) -> str:
    """Works for ms milliseconds in a task."""
    await asyncio.sleep(ms / 1000)
    return f"worked for {ms} ms"


@app.tool(task=True)
async def structured() -> Count:
    """Returns a structured result."""
    return Count(n=7)


@app.tool(task=FAST)
async def tool_error() -> str:
    """Ends in a tool error: completed with isError in this era."""
    raise ToolError("tool says no")


@app.tool(task=FAST)
async def fail() -> str:
    """Ends in a JSON-RPC error: the task is failed."""
    raise MCPError(code=5003, message="the database is on fire", data={"shard": 3})


@app.tool(task=FAST_REQUIRED)
async def only_task() -> str:
    """Refuses callers that did not declare the tasks extension."""
    return "done as a task"


@app.tool(task=FAST)
async def ask(ctx: Context) -> str | types.InputRequiredResult:
    """Asks for a name, then greets."""
    if ctx.input_responses is None:
        schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        params = types.ElicitRequestFormParams(message="What is your name?", requested_schema=schema)
        question = types.ElicitRequest(params=params)
        return types.InputRequiredResult(result_type="input_required", input_requests={"name": question})
    answer = ctx.input_responses["name"]
    return f"Hello, {answer.content['name']}!" if answer.action == "accept" else answer.action


if __name__ == "__main__":
    host = sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1"
    port = int(sys.argv[2]) if len(sys.argv) > 2 else 18410
    app.run(transport="http", host=host, port=port, show_banner=False, log_level="warning")
