"""What client.py can do: each flow runs one story and returns its evidence, unjudged."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import mcp.types as types
from mcp import ClientSession
from mcp.shared.exceptions import McpError

TTL_MS = 60_000
PATIENCE_S = 20
ANSWER_S = 0.1  # nobody answers a form at once
SETTLING_S = 0.5  # for what may still be on its way
MANY = 12
TERMINAL = {"completed", "failed", "cancelled"}


class NotApplicable(Exception):
    """The profile has no tool for a flow."""


def plain(model: Any) -> Any:
    """A message of the SDK as JSON: the members that came, as they came."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


async def attempt(step: Awaitable[Any]) -> dict:
    """{ok: value} or {error: ...}: an error of the peer is evidence, not the end of a flow."""
    try:
        return {"ok": plain(await step)}
    except McpError as e:
        return {"error": e.error.model_dump(mode="json", exclude_none=True)}


class Session:
    """One connected client, what it was asked and what it was told."""

    client: ClientSession
    init: types.InitializeResult
    tools: list[types.Tool]

    def __init__(self, profile: dict) -> None:
        self.profile = profile
        self.elicitations: list[Any] = []
        self.samplings: list[Any] = []
        self.notifications: list[Any] = []

    def tool(self, *keys: str) -> dict:
        """The first of the keys that the profile has a tool for."""
        for key in keys:
            if key in self.profile:
                return self.profile[key]
        raise NotApplicable(f"the profile has no tool for {' or '.join(keys)}")

    def asked(self) -> dict:
        return {"elicitations": self.elicitations, "samplings": self.samplings}

    async def elicit(self, _context: Any, params: types.ElicitRequestFormParams) -> types.ElicitResult:
        """Fills in the form with what the profile has for its fields."""
        self.elicitations.append(plain(params))
        await asyncio.sleep(ANSWER_S)
        fields = params.requestedSchema["properties"]
        return types.ElicitResult(action="accept", content={f: self.profile["elicitContent"][f] for f in fields})

    async def sample(self, _context: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        self.samplings.append(plain(params))
        text = types.TextContent(type="text", text="old pond, frog leaps in")
        return types.CreateMessageResult(role="assistant", model="test-model", content=text)

    async def roots(self, _context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri="file:///work", name="work")])

    async def message(self, message: Any) -> None:
        if isinstance(message, types.ServerNotification):
            self.notifications.append(plain(message))

    async def create(self, *keys: str) -> types.CreateTaskResult:
        tool = self.tool(*keys)
        return await self.client.experimental.call_tool_as_task(tool["name"], tool["arguments"], ttl=TTL_MS)

    def get(self, task_id: str) -> Awaitable[types.GetTaskResult]:
        return self.client.experimental.get_task(task_id)

    def result(self, task_id: str) -> Awaitable[types.CallToolResult]:
        return self.client.experimental.get_task_result(task_id, types.CallToolResult)

    def cancel(self, task_id: str) -> Awaitable[types.CancelTaskResult]:
        return self.client.experimental.cancel_task(task_id)

    async def until(self, task_id: str, reached: set[str] = TERMINAL) -> dict:
        """Polls with the SDK's own poller: the last task, every status seen without repetitions."""
        statuses: list[str] = []
        end = time.monotonic() + PATIENCE_S
        async for task in self.client.experimental.poll_task(task_id):
            if statuses[-1:] != [task.status]:
                statuses.append(task.status)
            if task.status in reached:
                return {"task": plain(task), "statuses": statuses}
            if time.monotonic() > end:
                break
        raise TimeoutError(f"task did not get there in {PATIENCE_S} s; statuses: {statuses}")


Flow = Callable[[Session], Awaitable[dict]]


async def init(s: Session) -> dict:
    tools = [plain(tool) for tool in s.tools]
    return {
        "protocol": s.init.protocolVersion,
        "serverInfo": plain(s.init.serverInfo),
        "capabilities": plain(s.init.capabilities),
        "tools": [{"name": t["name"], "taskSupport": t.get("execution", {}).get("taskSupport")} for t in tools],
    }


def calls(*keys: str) -> Flow:
    """Calls a tool plainly."""

    async def flow(s: Session) -> dict:
        tool = s.tool(*keys)
        return {"result": await attempt(s.client.call_tool(tool["name"], tool["arguments"])), **s.asked()}

    return flow


def life(*keys: str) -> Flow:
    """Creates a task, polls to the end and fetches the result."""

    async def flow(s: Session) -> dict:
        created = await s.create(*keys)
        seen = await s.until(created.task.taskId)
        return {"created": plain(created), **seen, "result": await attempt(s.result(created.task.taskId))}

    return flow


async def complete(s: Session) -> dict:
    story = await life("complete")(s)
    return {**story, "again": await attempt(s.result(story["task"]["taskId"]))}


def waits(*keys: str) -> Flow:
    """Creates a task and waits for its result at once, through every question."""

    async def flow(s: Session) -> dict:
        task_id = (await s.create(*keys)).task.taskId
        result = await attempt(s.result(task_id))
        return {"result": result, "final": await attempt(s.get(task_id)), **s.asked()}

    return flow


async def elicit(s: Session) -> dict:
    """As the SDK's documentation tells it: poll to input_required, and only then ask for the result."""
    task_id = (await s.create("elicit")).task.taskId
    seen = await s.until(task_id, TERMINAL | {"input_required"})
    before = len(s.elicitations)
    result = await attempt(s.result(task_id))
    final = await attempt(s.get(task_id))
    return {"taskId": task_id, "statuses": seen["statuses"], "before": before, "result": result, "final": final, **s.asked()}


async def elicit_polling(s: Session) -> dict:
    """Never calls tasks/result before the end: the question has to come by itself."""
    task_id = (await s.create("elicit")).task.taskId
    seen = await s.until(task_id)
    return {"taskId": task_id, "last": seen["task"], "result": await attempt(s.result(task_id)), **s.asked()}


async def progress(s: Session) -> dict:
    tool, seen = s.tool("progress"), []

    async def report(done: float, total: float | None, message: str | None) -> None:
        seen.append({"progress": done, "total": total, **({"message": message} if message else {})})

    result = await attempt(s.client.call_tool(tool["name"], tool["arguments"], progress_callback=report))
    return {"result": result, "progress": seen}


async def cancel(s: Session) -> dict:
    task_id = (await s.create("slow")).task.taskId
    await asyncio.sleep(SETTLING_S)
    cancelled = await attempt(s.cancel(task_id))
    task, result = await attempt(s.get(task_id)), await attempt(s.result(task_id))
    return {"cancel": cancelled, "get": task, "result": result, "again": await attempt(s.cancel(task_id))}


async def cancel_finished(s: Session) -> dict:
    task_id = (await s.create("instant")).task.taskId
    await s.until(task_id)
    return {"cancel": await attempt(s.cancel(task_id)), "get": await attempt(s.get(task_id))}


async def unknown(s: Session) -> dict:
    steps = {"get": s.get, "result": s.result, "cancel": s.cancel}
    return {name: await attempt(step("no-such-task")) for name, step in steps.items()}


async def notify(s: Session) -> dict:
    task_id = (await s.create("complete")).task.taskId
    await s.until(task_id)
    await asyncio.sleep(SETTLING_S)
    statuses = [n["params"]["status"] for n in s.notifications if n.get("params", {}).get("taskId") == task_id]
    return {"taskId": task_id, "notifications": s.notifications, "statuses": statuses}


async def tasks_list(s: Session) -> dict:
    for _ in range(MANY):
        await s.create("instant")
    pages, cursor = [], None
    while len(pages) < MANY:
        page = await s.client.experimental.list_tasks(cursor)
        pages.append(len(page.tasks))
        cursor = page.nextCursor
        if not cursor:
            break
    return {"pages": pages, "badCursor": await attempt(s.client.experimental.list_tasks("not-a-cursor"))}


FLOWS: dict[str, Flow] = {
    "init": init,
    "sync": calls("sync"),
    "required-sync": calls("required"),
    "progress": progress,
    "plain-elicit": calls("plain-elicit", "elicit"),
    "plain-elicit2": calls("elicit2"),
    "plain-both": calls("plain-both", "both"),
    "plain-sample": calls("plain-sample", "sample"),
    "plain-required-elicit": calls("elicit-required"),
    "complete": complete,
    "instant": life("instant"),
    "structured": life("structured"),
    "iserror": life("iserror"),
    "failed": life("failed"),
    "hosted": life("sync"),
    "hosted-slow": life("sync-slow"),
    "elicit": elicit,
    "elicit-polling": elicit_polling,
    "elicit2": waits("elicit2"),
    "both": waits("both"),
    "mrtr": waits("mrtr"),
    "sample": waits("sample"),
    "roots": waits("roots"),
    "mixed": waits("mixed"),
    "cancel": cancel,
    "cancel-finished": cancel_finished,
    "unknown": unknown,
    "notify": notify,
    "list": tasks_list,
}
