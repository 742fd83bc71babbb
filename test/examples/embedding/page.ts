// The typed client in a browser page: creates a panorama, waits for it, and shows it. Bundle it with esbuild or Vite,
// and serve it from the origin of the service or behind the same proxy: the REST interface answers no other origin.
import { PanoramaClient, PanoramaError, type Progress } from "panorama-client";

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
  const client = new PanoramaClient({ baseUrl: location.origin, apiKey });
  const { id } = await client.create({ prompt, resolution: "1k", max_credits: 10 });
  show(`${id} is being made …`);
  const onProgress = ({ elapsedSeconds }: Progress) => show(`${id} is being made, ${Math.round(elapsedSeconds)} s …`);
  const task = await client.wait(id, { timeout: 120_000, onProgress });
  if (task.status !== "succeeded") return show(`The panorama is ${task.status}.`);
  const image = document.createElement("img");
  image.src = task.output?.image_url ?? "";
  image.alt = prompt;
  document.body.append(image);
  show("Done.");
};

document.querySelector("form")?.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!(event.target instanceof HTMLFormElement)) return;
  const form = new FormData(event.target);
  create(String(form.get("key")), String(form.get("prompt"))).catch((error: unknown) => {
    show(error instanceof PanoramaError ? error.message : String(error));
  });
});
