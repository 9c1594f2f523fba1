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


def form(key: str, message: str) -> types.ElicitRequest:
    """A form that asks for one string, named like the question's key."""
    schema = {"type": "object", "properties": {key: {"type": "string"}}, "required": [key]}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def asks(state: str | None = None, **questions: types.InputRequest) -> types.InputRequiredResult:
    """Ends this run of the tool with questions; it is run again with the answers and the state."""
    return types.InputRequiredResult(result_type="input_required", input_requests=questions, request_state=state)


def told(answer: types.ElicitResult, key: str) -> str:
    """What was filled in, or what was done instead."""
    return answer.content[key] if answer.action == "accept" else answer.action


@app.tool(task=FAST)
async def ask(ctx: Context) -> str | types.InputRequiredResult:
    """Asks for a name, then greets."""
    if ctx.input_responses is None:
        return asks(name=form("name", "What is your name?"))
    return f"Hello, {told(ctx.input_responses['name'], 'name')}!"


@app.tool(task=FAST_REQUIRED)
async def ask_only_task(ctx: Context) -> str | types.InputRequiredResult:
    """Asks for a name, and refuses callers that did not declare the tasks extension."""
    if ctx.input_responses is None:
        return asks(name=form("name", "What is your name?"))
    return f"Hello, {told(ctx.input_responses['name'], 'name')}!"


@app.tool(task=FAST)
async def ask_twice(ctx: Context) -> str | types.InputRequiredResult:
    """Asks two questions, the second after the first is answered."""
    if ctx.input_responses is None:
        return asks(first=form("first", "What comes first?"))
    if ctx.request_state is None:
        first = told(ctx.input_responses["first"], "first")
        return asks(state=first, second=form("second", "What comes second?"))
    return f"first: {ctx.request_state}; second: {told(ctx.input_responses['second'], 'second')}"


@app.tool(task=FAST)
async def ask_both(ctx: Context) -> str | types.InputRequiredResult:
    """Asks two questions at the same time."""
    if ctx.input_responses is None:
        return asks(left=form("left", "What is on the left?"), right=form("right", "What is on the right?"))
    left, right = (told(ctx.input_responses[key], key) for key in ("left", "right"))
    return f"left: {left}; right: {right}"


@app.tool(task=FAST)
async def confirm_delete(filename: str, ctx: Context) -> str | types.InputRequiredResult:
    """Asks whether to delete a file: the tool that the TypeScript SDK's example client calls."""
    if ctx.input_responses is None:
        schema = {"type": "object", "properties": {"confirm": {"type": "boolean"}}, "required": ["confirm"]}
        params = types.ElicitRequestFormParams(message=f"Delete '{filename}'?", requested_schema=schema)
        return asks(confirm=types.ElicitRequest(params=params))
    return "deleted" if told(ctx.input_responses["confirm"], "confirm") is True else "kept"


def wish(text: str) -> types.CreateMessageRequest:
    """A request to the client's model."""
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[message], max_tokens=50))


@app.tool(task=FAST)
async def write_haiku(topic: str, ctx: Context) -> str | types.InputRequiredResult:
    """Asks the client's model for a haiku: the other tool of that example client."""
    if ctx.input_responses is None:
        return asks(haiku=wish(f"Write a haiku about {topic}"))
    return f"Haiku: {ctx.input_responses['haiku'].content.text}"


@app.tool(task=FAST)
async def sample(ctx: Context) -> str | types.InputRequiredResult:
    """Asks the client's model for a haiku."""
    if ctx.input_responses is None:
        return asks(haiku=wish("A haiku, please."))
    return f"model said: {ctx.input_responses['haiku'].content.text}"


if __name__ == "__main__":
    host = sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1"
    port = int(sys.argv[2]) if len(sys.argv) > 2 else 18410
    app.run(transport="http", host=host, port=port, show_banner=False, log_level="warning")
