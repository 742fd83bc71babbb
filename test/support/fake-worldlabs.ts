import { randomUUID } from "node:crypto";
import { FakeProvider, type UpstreamTask } from "./fake-provider.js";
import { type Answer, type Fault, json, type ReceivedRequest } from "./faulty-server.js";

export const WORLDLABS_KEY = "worldlabs-secret";

const OPERATION = /^\/marble\/v1\/operations\/([^/]+)$/;
const WORLD = /^\/marble\/v1\/worlds\/([^/:]+)$/;

/** World Labs' Marble, as the vendor's OpenAPI file describes it: the part that the adapter uses. */
export class FakeWorldlabs extends FakeProvider {
  credits: unknown = { remaining_credits: 6_250 };
  /** How a world is wrapped in the answer to a read of it. */
  wrapper: "world" | "bare" = "bare";
  /** The ids of the worlds that were deleted; their operations remain. */
  readonly deleted = new Set<string>();

  get baseUrl(): string {
    return this.server.url;
  }

  /** As URLs and data URIs, without their directions. */
  referencesOf({ input }: UpstreamTask): readonly unknown[] {
    const { image_prompt: one, multi_image_prompt: several = [] } = promptIn(input);
    return (one === undefined ? several.map(({ content }) => content) : [one]).map(uriOf);
  }

  promptOf({ input }: UpstreamTask): string | undefined {
    return promptIn(input).text_prompt;
  }

  /** It is not asked for a size. */
  sizeOf(): undefined {
    return undefined;
  }

  protected override faultOf({ method, path }: ReceivedRequest): Fault | undefined {
    if (path.startsWith("/panoramas/")) return this.faults.images.shift();
    if (path.endsWith("/worlds:list")) return this.faults.lists.shift();
    if (path.endsWith("/credits")) return this.faults.checks.shift();
    if (method === "POST") return this.faults.creates.shift();
    return method === "DELETE" ? this.faults.cancels.shift() : this.faults.polls.shift();
  }

  protected override answer(request: ReceivedRequest): Answer {
    const { method, path, headers, body } = request;
    if (path.startsWith("/panoramas/")) return this.image(request);
    if (headers["wlt-api-key"] !== WORLDLABS_KEY) return json(401, { detail: "Invalid API key" });
    const call = `${method} ${path}`;
    if (call === "POST /marble/v1/worlds:generate") return this.create(body as Record<string, unknown>);
    if (call === "POST /marble/v1/worlds:list") return this.list(body as Record<string, unknown>);
    if (call === "GET /marble/v1/credits") return json(200, this.credits);
    const operation = method === "GET" ? OPERATION.exec(path)?.[1] : undefined;
    if (operation !== undefined) {
      const task = this.poll(operation);
      return task === undefined ? json(404, { detail: "Operation not found" }) : json(200, this.operation(task));
    }
    const id = WORLD.exec(path)?.[1] ?? "";
    const task = this.deleted.has(id) ? undefined : this.poll(id.replace(/^world-/, ""));
    if (task === undefined) return json(404, { detail: "World not found" });
    if (method === "DELETE") {
      this.deleted.add(id);
      return json(200, { world_id: id, deleted: true });
    }
    return json(200, this.wrapper === "bare" ? this.world(task) : { world: this.world(task) });
  }

  private create(body: Record<string, unknown>): Answer {
    const task = this.start({ prompt: promptIn(body).text_prompt, ...body }, randomUUID());
    // The first answer does not name the world yet.
    return json(200, { ...this.operation({ ...task, state: "run" }), metadata: null });
  }

  /** Worlds with any of the tags. */
  private list({ tags, page_size, ...others }: Record<string, unknown>): Answer {
    if (!isTags(tags) || !isPageSize(page_size) || Object.keys(others).length > 0) {
      return json(422, { detail: [{ loc: ["body"], msg: "Invalid", type: "value_error" }] });
    }
    const hasTag = ({ input }: UpstreamTask) => isTags(input.tags) && input.tags.some((tag) => tags.includes(tag));
    const listed = this.tasks.filter((task) => hasTag(task) && !this.deleted.has(worldIdOf(task))).reverse();
    const worlds = listed.slice(0, page_size).map((task) => this.world(task));
    return json(200, { worlds, next_page_token: listed.length > page_size ? "bmV4dA==" : null });
  }

  private operation(task: UpstreamTask) {
    const { state, input } = task;
    const isDone = DONE.has(state);
    const failure = FAILURES[state];
    const isOk = isDone && failure === undefined;
    return {
      operation_id: task.id,
      done: isDone,
      error: failure === undefined ? null : { ...failure, message: `${failure.message}: ${input.prompt}` },
      metadata: { progress: { status: "IN_PROGRESS", description: "Building" }, world_id: worldIdOf(task) },
      response: isOk ? this.world(task) : null,
    };
  }

  private world(task: UpstreamTask) {
    const { id, state, input } = task;
    const pano_url = state === "succeed" ? `${this.server.url}/panoramas/${id}.png?sig=1` : null;
    return {
      world_id: worldIdOf(task),
      display_name: input.display_name,
      tags: input.tags,
      assets:
        DONE.has(state) && !(state in FAILURES) ? { caption: "A place", imagery: { pano_url }, mesh: null } : null,
    };
  }
}

type Prompt = {
  readonly type?: unknown;
  readonly text_prompt?: string;
  readonly image_prompt?: unknown;
  readonly is_pano?: unknown;
  readonly multi_image_prompt?: readonly { readonly azimuth?: unknown; readonly content?: unknown }[];
};

const promptIn = (input: Readonly<Record<string, unknown>>): Prompt => (input.world_prompt ?? {}) as Prompt;

const worldIdOf = ({ id }: UpstreamTask): string => `world-${id}`;

const isPageSize = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 100;

const isTags = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length <= 10 && value.every((tag) => typeof tag === "string" && tag.length <= 32);

const uriOf = (content: unknown): string => {
  const { uri, data_base64, extension } = content as Record<string, string>;
  return uri ?? `data:image/${extension === "jpg" ? "jpeg" : extension};base64,${data_base64}`;
};

const FAILURES: Readonly<Partial<Record<UpstreamTask["state"], { readonly code: number; readonly message: string }>>> =
  {
    fail: { code: 13, message: "Out of memory" },
    "be moderated": { code: 3, message: "The content violates our policy" },
    "be cancelled": { code: 1, message: "Stopped" },
  };

const DONE: ReadonlySet<UpstreamTask["state"]> = new Set([
  "succeed",
  "succeed without image",
  "fail",
  "be moderated",
  "be cancelled",
]);
