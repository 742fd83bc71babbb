// The typed client in a browser page: creates a panorama, waits for it, and shows it. Bundle it with esbuild or Vite,
// and serve it from the origin of the service or behind the same proxy: the REST interface answers no other origin.
import { PanoramaClient } from "panorama-client";
import { parseCreationRequest } from "panorama-client/creation-request";
import { parseServiceUrl } from "panorama-client/service-url";

document.body.innerHTML = `
  <form>
    <label>API key <input name="key" type="password" required></label>
    <label>Prompt <input name="prompt" required></label>
    <button>Create</button>
  </form>
  <p role="status"></p>`;

const show = (text: string): void => {
  const status = document.querySelector("[role=status]");
  if (status !== null) status.textContent = text;
};

const create = async (apiKey: string, prompt: string): Promise<void> => {
  const baseUrl = parseServiceUrl(location.origin);
  if (baseUrl.isErr()) throw new Error(`${location.origin} is not a URL of a service`);
  const request = parseCreationRequest({ prompt, resolution: "1k" });
  if (request.isErr()) return show(`Not a valid request: ${JSON.stringify(request.error)}`);
  const client = new PanoramaClient({ baseUrl: baseUrl.value, apiKey });
  const created = await client.create(request.value, { maxCredits: 10 });
  if (created.isErr()) return show(created.error.message);
  show(`${created.value.id} is being made …`);
  const done = await client.waitUntilDone(created.value.id, { seconds: 120 });
  if (done.isErr()) return show(done.error.message);
  if (done.value.status !== "succeeded") return show(`The panorama is ${done.value.status}.`);
  const image = document.createElement("img");
  image.src = done.value.output?.image_url ?? "";
  image.alt = prompt;
  document.body.append(image);
  show("Done.");
};

document.querySelector("form")?.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!(event.target instanceof HTMLFormElement)) return;
  const form = new FormData(event.target);
  void create(String(form.get("key")), String(form.get("prompt")));
});
