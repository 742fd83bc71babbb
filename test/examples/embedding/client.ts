// A script with the typed client: creates a panorama, waits for it, and prints its URL.
import { PanoramaClient } from "panorama-client";
import { parseCreationRequest } from "panorama-client/creation-request";
import { parseServiceUrl } from "panorama-client/service-url";

const { PANORAMA_BASE_URL = "http://localhost:8080", PANORAMA_API_KEY = "" } = process.env;
const baseUrl = parseServiceUrl(PANORAMA_BASE_URL);
if (baseUrl.isErr()) throw new Error(`${PANORAMA_BASE_URL} is not a URL of a service`);
const request = parseCreationRequest({ prompt: "a quiet lake at sunset", resolution: "1k" });
if (request.isErr()) throw new Error(JSON.stringify(request.error));

const client = new PanoramaClient({ baseUrl: baseUrl.value, apiKey: PANORAMA_API_KEY });
const created = await client.create(request.value, { maxCredits: 10 });
if (created.isErr()) throw new Error(created.error.message);
const done = await client.waitUntilDone(created.value.id, { seconds: 60 });
if (done.isErr()) throw new Error(done.error.message);
console.log(done.value.status === "succeeded" ? done.value.output?.image_url : done.value.status);
