"""The REAL client of FastMCP (PyPI ``fastmcp`` 4.x with ``fastmcp-tasks``) speaking 2026-07-28 tasks.

    python client.py URL FLOW[,FLOW...]|all --profile NAME [--profiles FILE]

The profile says which tool stands for each flow on the server (behind URL). Prints
one JSON verdict a flow, as the drivers beside it do: {client, server, flow, ok,
notApplicable?, error?, ...evidence}. Exit 0 when every flow ran or has no tool, 1 when
one broke off, 2 for a mistake in the command.
"""

import argparse
import asyncio
import json
import logging
import sys
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import fastmcp_tasks  # noqa: F401  (teaches every client tasks)
import mcp_types as types
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.exceptions import ToolError
from fastmcp_tasks import ToolTask, call_tool_task
from fastmcp_tasks.client_models import ClientCreateTaskResult
from mcp.shared.exceptions import MCPError

CLIENT = f"fastmcp {version('fastmcp')}, fastmcp-tasks {version('fastmcp-tasks')}"
FLOW_LIMIT_S = 45
AT_A_TIME = 6  # every flow has a session of its own, so they can share a server
PATIENCE_S = 20
ANSWER_S = 0.1  # nobody answers a form at once
SETTLING_S = 0.3


class NotApplicable(Exception):
    """The profile has no tool for a flow."""


def plain(model: Any) -> Any:
    """A message of the SDK as JSON: the members that came, as they came."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


async def attempt(step: Awaitable[Any]) -> dict:
    """{ok: value} or {error: ...}: an error of the peer is evidence, not the end of a flow."""
    try:
        return {"ok": await step}
    except MCPError as e:
        return {"error": plain(e.error)}
    except ToolError as e:
        return {"error": {"message": str(e)}}


class Session:
    """One connected client, and what it was asked."""

    client: Client

    def __init__(self, profile: dict) -> None:
        self.profile = profile
        self.inputs: list[dict] = []

    def tool(self, *keys: str) -> tuple[str, dict]:
        """The first of the keys that the profile has a tool for."""
        for key in keys:
            if key in self.profile:
                return self.profile[key]["name"], self.profile[key]["arguments"]
        raise NotApplicable(f"the profile has no tool for {' or '.join(keys)}")

    async def elicit(self, message: str, _kind: Any, params: Any, _context: Any) -> ElicitResult:
        """Fills in the form with what the profile has for its fields."""
        self.inputs.append({"kind": "elicitation", "message": message})
        await asyncio.sleep(ANSWER_S)
        fields = params.requested_schema["properties"]
        return ElicitResult(action="accept", content={f: self.profile["elicitContent"][f] for f in fields})

    async def sample(self, messages: list[Any], _params: Any, _context: Any) -> str:
        self.inputs.append({"kind": "sampling", "text": messages[0].content.text})
        return "old pond, frog leaps in"

    async def call(self, *keys: str) -> dict:
        """Calls a tool to its end; whether a task was made stays hidden."""
        name, arguments = self.tool(*keys)
        return await attempt(self.client.call_tool(name, arguments, raise_on_error=False))

    async def create(self, *keys: str) -> ToolTask:
        return await call_tool_task(self.client, *self.tool(*keys), raise_on_error=False)

    async def status(self, task: ToolTask) -> dict:
        answer = await attempt(task.status())
        return {"ok": plain(answer["ok"])} if "ok" in answer else answer


def content(answer: dict) -> dict:
    """What a call gave, as JSON."""
    if "error" in answer:
        return answer
    result = answer["ok"]
    return {
        "ok": {
            "content": [plain(block) for block in result.content],
            **({"structuredContent": result.structured_content} if result.structured_content is not None else {}),
            "isError": result.is_error,
            **({"_meta": result.meta} if result.meta else {}),
        }
    }


Flow = Callable[[Session], Awaitable[dict]]


async def init(s: Session) -> dict:
    tools = await s.client.list_tools()
    return {
        "protocol": s.client.protocol_version,
        "serverInfo": plain(s.client.server_info),
        "capabilities": plain(s.client.server_capabilities),
        "tools": [tool.name for tool in tools],
    }


def calls(*keys: str) -> Flow:
    """Calls a tool to its end, without a look at the task it may become."""

    async def flow(s: Session) -> dict:
        return {"result": content(await s.call(*keys)), "inputs": s.inputs}

    return flow


def life(*keys: str) -> Flow:
    """Creates a task, and drives it to its end through every question."""

    async def flow(s: Session) -> dict:
        task = await s.create(*keys)
        result = content(await attempt(asyncio.wait_for(task.result(), PATIENCE_S)))
        return {"created": plain(task.create_result), "result": result, "final": await s.status(task), "inputs": s.inputs}

    return flow


async def progress(s: Session) -> dict:
    seen: list[dict] = []

    async def report(done: float, total: float | None, _message: str | None) -> None:
        seen.append({"progress": done, "total": total})

    name, arguments = s.tool("progress")
    result = await attempt(s.client.call_tool(name, arguments, progress_handler=report, raise_on_error=False))
    return {"result": content(result), "progress": seen}


async def cancel(s: Session) -> dict:
    task = await s.create("slow")
    await asyncio.sleep(SETTLING_S)
    cancelled = await attempt(task.cancel())
    result = content(await attempt(asyncio.wait_for(task.result(), PATIENCE_S)))
    return {"cancel": cancelled, "result": result, "final": await s.status(task)}


async def cancel_finished(s: Session) -> dict:
    task = await s.create("instant", "complete")
    await task.wait(timeout=PATIENCE_S)
    return {"cancel": await attempt(task.cancel()), "final": await s.status(task)}


async def unknown(s: Session) -> dict:
    invented = {"taskId": "no-such-task", "status": "working", "createdAt": "", "lastUpdatedAt": "", "resultType": "task"}
    task = ToolTask(s.client, "none", ClientCreateTaskResult.model_validate(invented))
    return {"get": await s.status(task), "cancel": await attempt(task.cancel())}


FLOWS: dict[str, Flow] = {
    "init": init,
    "sync": calls("sync"),
    "progress": progress,
    "call-elicit": calls("call-elicit"),
    "call-sample": calls("call-sample"),
    "call-complete": calls("complete"),
    "complete": life("complete"),
    "instant": life("instant"),
    "structured": life("structured"),
    "iserror": life("iserror"),
    "iserror-completed": life("iserror-completed"),
    "failed": life("failed"),
    "elicit": life("elicit"),
    "elicit2": life("elicit2"),
    "both": life("both"),
    "push": life("push"),
    "mrtr": calls("mrtr"),
    "sample": life("sample"),
    "cancel": cancel,
    "cancel-finished": cancel_finished,
    "unknown": unknown,
}


async def run(url: str, profile: dict, name: str, flow: str) -> dict:
    """One flow in a session of its own: its verdict."""
    verdict = {"client": CLIENT, "server": name, "flow": flow, "ok": False}
    session = Session(profile)
    try:
        async with asyncio.timeout(FLOW_LIMIT_S):
            info = types.Implementation(name="fastmcp-client", version="1.0.0")
            client = Client(url, elicitation_handler=session.elicit, sampling_handler=session.sample, client_info=info)
            async with client as session.client:
                verdict.update(await FLOWS[flow](session))
                verdict["ok"] = True
    except NotApplicable as e:
        verdict["notApplicable"] = str(e)
    except Exception as e:
        verdict["ok"] = False
        verdict["error"] = {"code": e.error.code if isinstance(e, MCPError) else None, "message": f"{type(e).__name__}: {e}"}
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
    logging.disable(logging.WARNING)
    profile = profiles[options.profile]
    sys.exit(0 if asyncio.run(run_all(options.url, profile, options.profile, asked)) else 1)


if __name__ == "__main__":
    main()
