"""The REAL client of the Python SDK (PyPI ``mcp`` 1.x) speaking 2025-11-25 tasks.

    python client.py URL FLOW[,FLOW...]|all --profile NAME [--profiles FILE]

The profile says which tool stands for each flow on the server (behind URL). Prints
one JSON verdict a flow, as the drivers beside it do: {client, server, flow, ok,
notApplicable?, error?, ...evidence}. Exit 0 when every flow ran or has no tool, 1 when
one broke off, 2 for a mistake in the command.
"""

import argparse
import asyncio
import json
import sys
import warnings
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

import anyio
import mcp.types as types
from flows import FLOWS, NotApplicable, Session
from mcp import ClientSession
from mcp.client.experimental.task_handlers import ExperimentalTaskHandlers
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import McpError

CLIENT = f"mcp (Python) {version('mcp')}"
FLOW_LIMIT_S = 45
AT_A_TIME = 6  # every flow has a session of its own, so they can share a server

# The SDK calls its tasks experimental, and says so at every use.
warnings.filterwarnings("ignore", category=DeprecationWarning)


def innermost(error: BaseException) -> BaseException:
    """The error that a task group has wrapped."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


@asynccontextmanager
async def connected(url: str, profile: dict):
    """One session of a host with every client capability."""
    session = Session(profile)
    async with streamable_http_client(url) as (read, write, _):
        async with ClientSession(
            read,
            write,
            elicitation_callback=session.elicit,
            sampling_callback=session.sample,
            list_roots_callback=session.roots,
            message_handler=session.message,
            experimental_task_handlers=ExperimentalTaskHandlers(),
            client_info=types.Implementation(name="python-legacy-client", version="1.0.0"),
        ) as client:
            session.client = client
            session.init = await client.initialize()
            session.tools = (await client.list_tools()).tools
            yield session


async def run(url: str, profile: dict, name: str, flow: str) -> dict:
    """One flow in a session of its own: its verdict."""
    verdict = {"client": CLIENT, "server": name, "flow": flow, "ok": False}
    try:
        with anyio.fail_after(FLOW_LIMIT_S):
            async with connected(url, profile) as session:
                verdict.update(await FLOWS[flow](session))
                verdict["ok"] = True
    except BaseException as wrapped:
        error = innermost(wrapped)
        if isinstance(error, NotApplicable):
            verdict["notApplicable"] = str(error)
        elif isinstance(error, Exception):
            verdict["ok"] = False
            code = error.error.code if isinstance(error, McpError) else None
            verdict["error"] = {"code": code, "message": f"{type(error).__name__}: {error}"}
        else:
            raise
    return verdict


async def run_all(url: str, profile: dict, name: str, asked: list[str]) -> bool:
    """Runs the flows, a few at a time: whether all went through."""
    turns = asyncio.Semaphore(AT_A_TIME)

    async def one(flow: str) -> bool:
        async with turns:
            verdict = await run(url, profile, name, flow)
        print(json.dumps(verdict), flush=True)
        return verdict["ok"] or "notApplicable" in verdict

    return all(await asyncio.gather(*(one(flow) for flow in asked)))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("flows")
    parser.add_argument("--profile", required=True)
    parser.add_argument("--profiles", default=Path(__file__).parent.parent / "profiles.json")
    options = parser.parse_args()
    try:
        profiles = json.loads(Path(options.profiles).read_text())
    except (OSError, ValueError) as error:
        parser.error(f"cannot read profiles: {error}")
    if options.profile.startswith("_") or options.profile not in profiles:
        parser.error(f"unknown profile {options.profile!r}")
    asked = list(FLOWS) if options.flows == "all" else options.flows.split(",")
    for flow in asked:
        if flow not in FLOWS:
            parser.error(f"unknown flow {flow!r}; known: {', '.join(FLOWS)}")
    profile = profiles[options.profile]
    sys.exit(0 if asyncio.run(run_all(options.url, profile, options.profile, asked)) else 1)


if __name__ == "__main__":
    main()
