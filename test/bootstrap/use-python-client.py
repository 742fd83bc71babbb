"""Uses the generated client as an integrator does. Prints what it saw as one JSON object."""

import json
import sys
import time
from types import SimpleNamespace

import openapi_client as panoramas

base_url, api_key, image, other_image = sys.argv[1:]


def api_with(access_token=None, api_key=None):
    configuration = panoramas.Configuration(host=base_url, api_key=api_key)
    configuration.access_token = access_token
    client = panoramas.ApiClient(configuration)
    return SimpleNamespace(
        panoramas=panoramas.PanoramasApi(client), images=panoramas.ImagesApi(client), credits=panoramas.CreditsApi(client)
    )


def refusal(call, *arguments, **options):
    """The status of a refused call, and its error body as the generated model."""
    try:
        call(*arguments, **options)
    except panoramas.ApiException as refused:
        error = json.loads(refused.body)["error"]
        return [refused.status, error["code"]]
    return None


api = api_with(access_token=api_key)
seen = {"credits_before": api.credits.read_credits().remaining_credits}

request = panoramas.CreationRequest(prompt="a quiet ocean in the fog", resolution="1k")
created, status, _ = api.panoramas.create_panorama_with_http_info(request, idempotency_key="python-1")
seen["created"] = [status, created.status, created.credits_charged]
again, _, headers = api.panoramas.create_panorama_with_http_info(request, idempotency_key="python-1")
seen["replayed"] = [again.id == created.id, headers["idempotent-replayed"]]

for _ in range(30):
    task = api.panoramas.read_panorama(created.id, prefer="wait=30")
    if task.status != "processing" and task.output and task.output.storage_status != "uploading":
        break
    time.sleep(1)
seen["task"] = [task.id == created.id, task.status, task.output.storage_status, task.output.slug in task.output.viewer_url]

seen["uploaded"] = len(set(api.images.upload_images([image, other_image]).image_urls))
from_images = panoramas.CreationRequest(
    prompt="test:slow", image_urls=api.images.upload_images([image]).image_urls, resolution="1k", visibility="public"
)
second = api.panoramas.create_panorama(from_images)
running = api.panoramas.read_panorama(second.id)
seen["running"] = [running.status, running.queue_position, running.estimated_seconds >= 1]

page = api.panoramas.list_panoramas(limit=1)
next_page = api.panoramas.list_panoramas(limit=1, cursor=page.next_cursor)
seen["listed"] = [page.data[0].id == second.id, next_page.data[0].id == created.id, next_page.next_cursor]
seen["credits_after"] = api_with(api_key={"apiKey": api_key}).credits.read_credits().remaining_credits

seen["refusals"] = [
    refusal(api_with(access_token="sk-unknown").credits.read_credits),
    refusal(api.panoramas.read_panorama, "unknown"),
    refusal(api.panoramas.create_panorama, panoramas.CreationRequest(prompt="ab", resolution="1k")),
    refusal(api.panoramas.create_panorama, panoramas.CreationRequest(prompt="another sea", resolution="1k"), idempotency_key="python-1"),
]
print(json.dumps(seen))
