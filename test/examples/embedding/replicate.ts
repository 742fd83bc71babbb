// Our adapter for Replicate alone: makes one panorama and writes it to panorama.jpg.
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { parseCreationRequest, taskId } from "panorama-service";
import { replicateProvider } from "panorama-service/adapters/providers";

const { REPLICATE_API_KEY = "", REPLICATE_BASE_URL } = process.env; // without a base URL: Replicate's own
const provider = replicateProvider({
  apiKey: REPLICATE_API_KEY,
  baseUrl: REPLICATE_BASE_URL,
  onEvent: (event) => console.error(event), // the circuit breaker, and answers that are not as documented
});
const checked = await provider.check(); // the API key and the model
if (checked.isErr()) throw new Error(checked.error.reason);

const request = parseCreationRequest({ prompt: "a quiet lake at sunset", resolution: "2k" });
if (request.isErr()) throw new Error(JSON.stringify(request.error));
const submitted = await provider.submit({ taskId: taskId(randomUUID()), request: request.value });
if (submitted.isErr()) throw new Error(`${submitted.error.kind}: ${submitted.error.reason}`);

const id = submitted.value;
const since = Date.now();
for (;;) {
  await setTimeout(provider.nextPollMilliseconds(id, Date.now() - since));
  const progress = await provider.poll(id);
  if (progress.isErr()) continue; // Replicate could not be reached: the next poll may succeed
  if (progress.value.state === "failed") throw new Error(progress.value.reason);
  if (progress.value.state === "running") continue;
  const image = await provider.download(progress.value.temporaryUrl, id);
  if (image.isErr()) throw new Error(image.error.reason);
  await writeFile("panorama.jpg", image.value.bytes);
  console.log(`${image.value.bytes.length} bytes`);
  break;
}
await provider.close();
