import { FakeProvider, type UpstreamTask } from "./fake-provider.js";
import { type Answer, type Fault, json, type ReceivedRequest } from "./faulty-server.js";
import { type Graph, NODE_CLASSES, promptIn, referencesIn, sizeIn } from "./workflow-graph.js";

/** The part of a ComfyUI server that the adapter uses. */
export class FakeComfyui extends FakeProvider {
  classes = NODE_CLASSES;
  /** Files in the input folder. */
  readonly uploads: string[] = [];
  /** Prompts of others, which wait in front. */
  foreignPrompts = 0;
  interruptedOthers = false;
  /** Prompts end with their image at the moment when they are interrupted. */
  endsFirst = false;

  get baseUrl(): string {
    return `${this.server.url}/api`;
  }

  referencesOf(task: UpstreamTask): readonly unknown[] {
    return referencesIn(task.input.workflow as Graph);
  }

  promptOf(task: UpstreamTask): string | undefined {
    return promptIn(task.input.workflow as Graph);
  }

  sizeOf(task: UpstreamTask) {
    return sizeIn(task.input.workflow as Graph);
  }

  protected override faultOf({ method, path }: ReceivedRequest): Fault | undefined {
    if (path === "/api/view") return this.faults.images.shift();
    if (method === "POST" && (path === "/api/queue" || path === "/api/interrupt")) return this.faults.cancels.shift();
    if (method === "POST") return this.faults.creates.shift();
    if (path.startsWith("/api/object_info/")) return this.faults.checks.shift();
    return path === "/api/queue" ? this.faults.lists.shift() : this.faults.polls.shift();
  }

  protected override answer(request: ReceivedRequest): Answer {
    const { method, path, body, query } = request;
    if (this.plan === "be lost") this.restart();
    if (method === "GET") this.countRead();
    if (method === "POST" && path === "/api/prompt") return this.create(body as Record<string, unknown>);
    if (method === "POST" && path === "/api/upload/image") return this.upload(String(body));
    if (method === "POST" && path === "/api/queue") return this.delete(body as { delete?: unknown });
    if (method === "POST" && path === "/api/interrupt") return this.interrupt(body as { prompt_id?: unknown });
    if (path === "/api/queue") {
      const waiting = this.tasks.filter(
        ({ state }) => state === "run" || (this.plan === "run" && state !== "be cancelled"),
      );
      const mine = waiting.map(({ id }, index) => [index, id, {}, {}, ["9"]]);
      const foreign = Array.from({ length: this.foreignPrompts }, (_, index) => [
        index,
        `foreign-${index}`,
        {},
        {},
        [],
      ]);
      const all = [...foreign, ...mine];
      return json(200, {
        queue_running: this.waiting ? [] : all.slice(0, 1),
        queue_pending: all.slice(this.waiting ? 0 : 1),
      });
    }
    const name = /^\/api\/object_info\/(.+)$/.exec(path)?.[1] ?? "";
    if (name !== "") return json(200, name in this.classes ? { [name]: { input: this.classes[name] } } : {});
    if (path === "/api/view") {
      // Images are on the disk, which outlives a restart.
      if (![...this.tasks, ...this.lost].some(({ id }) => query.get("filename") === `${id}.png`)) return json(404, {});
      return this.image(request);
    }
    const task = this.poll(/^\/api\/history\/(.+)$/.exec(path)?.[1]);
    // The real server forgets a prompt that was taken out of its queue.
    const isUnknown = task === undefined || task.state === "run" || this.neverStarted.has(task.id);
    return isUnknown ? json(200, {}) : json(200, { [task.id]: this.ended(task) });
  }

  private create({ prompt, prompt_id }: Record<string, unknown>): Answer {
    const refused = (type: string) => json(400, { error: { type, message: "No." }, node_errors: {} });
    if (typeof prompt !== "object" || prompt === null) return refused("no_prompt");
    const graph = prompt as Graph;
    const nodes = Object.values(graph);
    if (!nodes.every(({ class_type }) => String(class_type) in this.classes)) return refused("missing_node_type");
    if (!nodes.some(({ class_type }) => class_type === "SaveImage")) return refused("prompt_no_outputs");
    // The real server keeps whatever id it is given, and makes one if there is none.
    const id = String(prompt_id ?? `made-up-${this.tasks.length}`);
    this.start({ prompt: promptIn(graph), workflow: graph }, id);
    return json(200, { prompt_id: id, number: this.tasks.length, node_errors: {} });
  }

  /** The real server answers both with an empty body. */
  private delete({ delete: ids }: { delete?: unknown }): Answer {
    for (const id of Array.isArray(ids) ? ids : []) {
      const task = this.tasks.find((one) => one.id === id && one.state === "run" && this.waiting);
      if (task !== undefined) this.cancel(task.id);
    }
    return { status: 200, body: "" };
  }

  /** A current server interrupts the prompt with this id only. Without an id it interrupts whatever runs. */
  private interrupt({ prompt_id }: { prompt_id?: unknown }): Answer {
    if (prompt_id === undefined) this.interruptedOthers = true;
    if (this.endsFirst) {
      this.plan = "succeed";
      for (const { id } of this.tasks) this.poll(id);
    }
    const running =
      this.foreignPrompts === 0 && !this.waiting ? this.tasks.find(({ state }) => state === "run") : undefined;
    if (running?.id === prompt_id) this.cancel(running?.id);
    return { status: 200, body: "" };
  }

  private upload(body: string): Answer {
    const name = /name="image"; filename="([^"]+)"/.exec(body)?.[1];
    const subfolder = /name="subfolder"\r\n\r\n([^\r]*)\r\n/.exec(body)?.[1] ?? "";
    if (name === undefined) return json(400, {});
    this.uploads.push(subfolder === "" ? name : `${subfolder}/${name}`);
    return json(200, { name, subfolder, type: "input" });
  }

  private ended({ id, state, input }: UpstreamTask) {
    const image = { filename: `${id}.png`, subfolder: "", type: "output" };
    const preview = { filename: "preview.png", subfolder: "", type: "temp" };
    const error = (text: string) => ["execution_error", { exception_message: text, current_inputs: input }];
    const messages = {
      fail: [error("CUDA out of memory")],
      "be moderated": [error(`NSFW content detected: ${input.prompt}`)],
      "be cancelled": [["execution_interrupted", { prompt_id: id }]],
    };
    const done = state === "succeed" || state === "succeed without image";
    return {
      prompt: [0, id, {}, {}, []],
      outputs:
        state === "succeed" ? { "8": { images: [preview] }, "9": { images: [image] }, "10": { text: ["x"] } } : {},
      status: {
        status_str: done ? "success" : state === "report an unknown status" ? "simmering" : "error",
        completed: done,
        messages: [["execution_start", { prompt_id: id }], ...(messages[state as keyof typeof messages] ?? [])],
      },
    };
  }
}
