import { type FakeProvider, type UpstreamTask, UpstreamTasks } from "./fake-provider.js";
import { type Answer, type Asked, type Fault, FaultyServer, json } from "./faulty-server.js";

export const FAL_KEY = "fal-id:fal-secret";

/** As much of fal's queue as the adapter needs. */
export class FakeFal extends UpstreamTasks implements FakeProvider {
  server!: FaultyServer;
  /** What a finished request's result is ... */
  result: "image" | "images" | "black image" | "no image" = "image";
  /** ... or what is answered instead of it. */
  resultFaults: Fault[] = [];

  static async start(): Promise<FakeFal> {
    const fake = new FakeFal();
    fake.server = await FaultyServer.start(
      (asked) => fake.answer(asked),
      (asked) => fake.faultOf(asked),
    );
    return fake;
  }

  get baseUrl(): string {
    return this.server.url;
  }

  close(): Promise<void> {
    return this.server.close();
  }

  private faultOf({ method, path }: Asked): Fault | undefined {
    if (path.startsWith("/files/")) return this.faults.images.shift();
    if (method === "POST") return this.faults.creates.shift();
    return path.endsWith("/status") ? this.faults.looks.shift() : this.resultFaults.shift();
  }

  private answer(asked: Asked): Answer {
    const { method, path, headers, body } = asked;
    if (path.startsWith("/files/")) return this.image(asked);
    if (headers.authorization !== `Key ${FAL_KEY}`) return json(401, { detail: "Cannot access application." });
    // The input is not looked at here: what is wrong with it shows in the result.
    if (method === "POST") return json(200, this.queued(this.start(body, `764cabcf-${this.tasks.length}`), path));
    const [, id, what] = /^\/fal-ai\/[\w-]+\/requests\/([\w-]+)(\/status)?$/.exec(path) ?? [];
    const task = this.look(id);
    if (task === undefined) return json(404, { detail: "Not found." });
    return what === "/status" ? this.status(task) : this.resultOf(task);
  }

  private queued(task: UpstreamTask, path: string) {
    // The rest of the model's name is left out, as in reality.
    const request = `${this.server.url}${path.split("/").slice(0, 3).join("/")}/requests/${task.id}`;
    return {
      status: "IN_QUEUE",
      request_id: task.id,
      response_url: request,
      status_url: `${request}/status`,
      cancel_url: `${request}/cancel`,
      queue_position: 0,
    };
  }

  private status({ id, state }: UpstreamTask): Answer {
    const running = { run: "IN_PROGRESS", "succeed without image": "IN_QUEUE", "say something unknown": "SIMMERING" };
    if (state in running) return json(202, { status: running[state as keyof typeof running], request_id: id });
    const error = state === "be cancelled" ? { error: "cancelled", error_type: "client_cancelled" } : {};
    return json(200, { status: "COMPLETED", request_id: id, ...error });
  }

  private resultOf({ id, state, input }: UpstreamTask): Answer {
    if (state !== "succeed") {
      const type = state === "be moderated" ? "content_policy_violation" : "image_too_large";
      return json(422, { detail: [{ loc: ["body", "image_url"], msg: `No: ${input.prompt}`, type }] });
    }
    const image = { url: `${this.server.url}/files/${id}.png`, width: 1920, height: 960, content_type: "image/png" };
    switch (this.result) {
      case "image":
        return json(200, { image });
      case "images":
        return json(200, { images: [image], has_nsfw_concepts: [false] });
      case "black image":
        return json(200, { images: [image], has_nsfw_concepts: [true] });
      case "no image":
        return json(200, { images: [] });
    }
  }
}
