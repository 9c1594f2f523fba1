"""A 2025-11-25 MCP server with tasks on FastMCP 3, a tool for every flow.

The runtime is FastMCP's own (package ``fastmcp`` with its extra ``tasks``): this file
only says what the tools do. Tasks live in the process (``memory://``) and die with it.

    python server.py [HOST] [PORT]      serves http://HOST:PORT/mcp (default 127.0.0.1 18411)
"""

import asyncio
import sys
from datetime import timedelta

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.elicitation import AcceptedElicitation
from fastmcp.server.tasks import TaskConfig
from pydantic import BaseModel

app = FastMCP("fastmcp3-peer", version="1.0.0")

# FastMCP asks for five seconds between polls unless told otherwise. `structured` keeps that,
# so one tool shows the production default; the others answer fast enough for a test run.
FAST = TaskConfig(mode="optional", poll_interval=timedelta(milliseconds=200))
FAST_REQUIRED = TaskConfig(mode="required", poll_interval=timedelta(milliseconds=200))


class Count(BaseModel):
    """What `structured` returns; FastMCP derives the tool's outputSchema from it."""

    n: int


class Name(BaseModel):
    name: str


class First(BaseModel):
    first: str


class Second(BaseModel):
    second: str


@app.tool
async def add(a: int, b: int) -> int:
    """Adds two numbers; never a task."""
    return a + b


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
    """Ends in a tool error."""
    raise ToolError("tool says no")


@app.tool(task=FAST_REQUIRED)
async def only_task() -> str:
    """Refuses to run without a task."""
    return "done as a task"


async def asked(ctx: Context, message: str, form: type[BaseModel]) -> str:
    """One question, and its answer as text."""
    answer = await ctx.elicit(message, response_type=form)
    if isinstance(answer, AcceptedElicitation):
        return f"accept {answer.data.model_dump_json()}"
    return answer.action


@app.tool(task=FAST_REQUIRED)
async def ask(ctx: Context) -> str:
    """Asks for a name in the middle of a task."""
    return await asked(ctx, "What is your name?", Name)


@app.tool(task=FAST_REQUIRED)
async def ask_twice(ctx: Context) -> str:
    """Asks one question after the other in a task."""
    first = await asked(ctx, "What comes first?", First)
    return f"first: {first}; second: {await asked(ctx, 'What comes second?', Second)}"


@app.tool
async def ask_plainly(ctx: Context) -> str:
    """Asks for a name in the middle of a call; never a task."""
    return await asked(ctx, "What is your name?", Name)


@app.tool
async def sample_plainly(ctx: Context) -> str:
    """Asks the client's model for a haiku in the middle of a call; never a task."""
    return f"model said: {(await ctx.sample('A haiku, please.', max_tokens=50)).text}"


if __name__ == "__main__":
    host = sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1"
    port = int(sys.argv[2]) if len(sys.argv) > 2 else 18411
    app.run(transport="http", host=host, port=port, show_banner=False, log_level="warning")
