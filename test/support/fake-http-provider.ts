import { FakeProvider, type UpstreamTask } from "./fake-provider.js";
import { type Answer, type Fault, json, type ReceivedRequest } from "./faulty-server.js";

export const HTTP_TOKEN = "worker-secret";
const GENERATION = /^\/worker\/generations\/([A-Za-z0-9_-]{1,64})$/;

/** A worker that keeps the contract in test/examples/http-provider/openapi.json. */
export class FakeHttpProvider extends FakeProvider {
  abilities: unknown = { images_min: 0, images_max: 3 };
  /** The URL of a result is relative to the base URL. */
  relativeUrls = false;

  get baseUrl(): string {
    return `${this.server.url}/worker`;
  }

  protected override faultOf({ method, path }: ReceivedRequest): Fault | undefined {
    if (path.startsWith("/worker/results/")) return this.faults.images.shift();
    if (method === "PUT") return this.faults.creates.shift();
    if (path === "/worker/abilities") return this.faults.checks.shift();
    // A search and a poll are the same call.
    return this.faults.lists.shift() ?? this.faults.polls.shift();
  }

  protected override answer(request: ReceivedRequest): Answer {
    const { method, path, headers, body } = request;
    if (path.startsWith("/worker/results/")) return this.image(request);
    if (headers.authorization !== `Bearer ${HTTP_TOKEN}`) return json(401, { error: "The token is wrong." });
    if (method === "GET" && path === "/worker/abilities") return json(200, this.abilities);
    const id = GENERATION.exec(path)?.[1];
    if (id === undefined) return json(404, { error: "There is no such path." });
    if (this.plan === "be lost") this.restart();
    if (method === "PUT") {
      const known = this.tasks.find((task) => task.id === id);
      if (known !== undefined) return json(200, this.generation(known));
      return isInput(body) ? json(201, this.generation(this.start(body, id))) : json(422, { error: "Invalid input." });
    }
    const task = this.poll(id);
    return task === undefined ? json(404, { error: "There is no such generation." }) : json(200, this.generation(task));
  }

  referencesOf({ input }: UpstreamTask): readonly unknown[] {
    return input.images as readonly unknown[];
  }

  promptOf({ input }: UpstreamTask): string {
    return String(input.prompt);
  }

  sizeOf({ input }: UpstreamTask): { width: number; height: number } {
    return { width: Number(input.width), height: Number(input.height) };
  }

  private generation({ id, state, input }: UpstreamTask) {
    const url = this.relativeUrls ? `results/${id}.png` : `${this.baseUrl}/results/${id}.png`;
    return {
      id,
      status: STATUSES[state],
      ...(state === "succeed" && { image_url: url }),
      ...(state === "fail" && { error: "out of memory" }),
      ...(state === "be moderated" && { error: `NSFW content detected: ${input.prompt}` }),
    };
  }
}

const isInput = (body: unknown): boolean => {
  const { prompt, images, ...numbers } = body as Record<string, unknown>;
  return (
    typeof prompt === "string" &&
    Array.isArray(images) &&
    images.every((image) => /^(https:\/\/|data:image\/(jpeg|png|webp);base64,)/.test(String(image))) &&
    ["width", "height", "seed", "deadline_seconds"].every((name) => Number.isInteger(numbers[name]))
  );
};

const STATUSES = {
  run: "running",
  succeed: "succeeded",
  "succeed without image": "running",
  fail: "failed",
  "be moderated": "failed",
  "be cancelled": "failed",
  "report an unknown status": "simmering",
  "be lost": "running",
} as const;
