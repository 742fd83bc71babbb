"""Uses the Python client with a real service, and prints what it has seen as JSON."""

import asyncio
import json
import sys
import time

from panorama_client import (
    AsyncPanoramaClient,
    NotFoundError,
    PanoramaClient,
    PanoramaError,
    TaskFailedError,
    WebhookError,
    sign_webhook,
    verify_webhook,
)

service, faulty, faulty_key, picture, webhook = sys.argv[1:]
seen = {}
client = PanoramaClient(base_url=service, default_headers={"authorization": "Bearer other"})  # the key: environment

with open(picture, "rb") as file:
    uploaded = client.upload([picture, file, file.name.encode() and open(picture, "rb").read()])
seen["uploaded"] = len(uploaded["image_urls"])
task = client.run(image_urls=uploaded["image_urls"][:1], prompt="a lake", resolution="1k", metadata={"order": "17"})
seen["run"] = [task["status"], task["output"]["storage_status"]]
seen["read"] = client.read(task["id"], wait_seconds=1)["metadata"]
seen["listed"] = [one["id"] == task["id"] for one in client.list(metadata={"order": "17"}, limit=1)]
seen["events"] = [event["type"] for event in client.events(task=task["id"])]
seen["provenance"] = client.provenance("0" * 64)
seen["abilities"] = client.abilities()["images_max"]
client.delete(task["id"])
try:
    client.read(task["id"])
except NotFoundError as error:
    seen["deleted"] = [error.code, error.status, error.task_id == task["id"], error.request_id is not None]
try:
    client.create(prompt="x", resolution="1k")
except PanoramaError as error:
    seen["refused"] = [type(error).__name__, error.param]
try:
    client.create(prompt="a lake", resolution="1k", visibilty="public")
except TypeError:
    seen["misspelt"] = True
try:
    PanoramaClient(base_url=service, api_key="sk-wrong").credits()
except PanoramaError as error:
    seen["key"] = [type(error).__name__, "sk-wrong" in repr(client) + str(error)]


async def concurrently() -> None:
    client = AsyncPanoramaClient(base_url=service)
    tasks = await asyncio.gather(*(client.run(prompt=f"a lake {n}", resolution="1k") for n in range(2)))
    seen["async"] = [task["status"] for task in tasks]
    seen["async listed"] = len([task async for task in client.list(limit=1)])
    seen["async credits"] = (await client.credits())["remaining_credits"]
    newest = [entry async for entry in client.entries(limit=1)]
    seen["entries"] = [[entry["kind"], entry["credits"], entry["balance_after"]] for entry in newest]
    page = await client.entries_page(limit=3)
    seen["entries page"] = [len(page["data"]), newest[3:] == (await client.entries_page(cursor=page["next_cursor"]))["data"]]
    async for event in client.events(task=tasks[0]["id"]):
        seen["async event"] = event["type"]
        break


asyncio.run(concurrently())

# Its answers are lost twice: more often than this client repeats.
doubtful = PanoramaClient(base_url=faulty, api_key=faulty_key, max_retries=1)
try:
    doubtful.run(prompt="a lake", resolution="1k")
except PanoramaError as error:
    seen["lost"] = [type(error).__name__, error.may_have_been_accepted]
    seen["continued"] = doubtful.run(prompt="a lake", resolution="1k", idempotency_key=error.idempotency_key)["id"]
try:
    doubtful.run(prompt="a storm test:fail", resolution="1k")
except TaskFailedError as error:
    seen["failed"] = [error.code, error.task["status"], error.reason]

# The task's key is refused while it waits; then answers come that are not from the service.
try:
    doubtful.run(prompt="a hill", resolution="1k")
except PanoramaError as error:
    seen["while waiting"] = [error.code, error.may_have_been_accepted, error.idempotency_key is not None]
strange = []
for call in (lambda: doubtful.delete("task-2"), lambda: list(doubtful.list()), doubtful.credits):
    try:
        call()
    except PanoramaError as error:
        strange.append([error.code, error.status])
seen["strange"] = strange

body, headers, secret = json.loads(webhook)
seen["webhook"] = verify_webhook(body, headers, secret)["id"]
seen["signed"] = verify_webhook(body, sign_webhook(body, secret), ["whsec_b3RoZXI=", secret])["id"]
kinds = []
for given in ({}, {**headers, "webhook-timestamp": str(int(time.time()) - 400)}, {**headers, "webhook-id": "other"}):
    try:
        verify_webhook(body.encode(), given, secret)
    except WebhookError as error:
        kinds.append(error.kind)
seen["untrusted"] = kinds
print(json.dumps(seen))
