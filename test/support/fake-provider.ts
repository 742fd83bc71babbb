import { image } from "../../adapters/memory/memory-imaging.js";
import type { IncomingWebhook } from "../../application/ports/generation-provider.js";
import { type Answer, type Fault, FaultyServer, type ReceivedRequest } from "./faulty-server.js";

/** The state that the next poll gives to an upstream task, unless it has ended. */
export type Plan =
  | "run"
  | "succeed"
  | "succeed without image"
  | "fail"
  | "be cancelled"
  | "be moderated"
  | "report an unknown status"
  | "be lost";

export type UpstreamTask = {
  readonly id: string;
  readonly input: Readonly<Record<string, unknown>>;
  state: Plan;
  readonly createdAt?: Date;
  /** Where its webhooks are sent. */
  readonly webhook?: string | undefined;
};

/** A webhook of the provider, ready to be sent. */
export type SignedWebhook = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** The webhook as the HTTP server passes it on. */
export const arrived = ({ url, headers, body }: SignedWebhook): IncomingWebhook => ({
  body: Buffer.from(body),
  headers,
  query: new URL(url).searchParams,
});

/** Sends the webhook to `origin`, where the service under test listens, instead of its public URL. */
export const sendWebhook = ({ url, headers, body }: SignedWebhook, origin: string): Promise<Response> => {
  const { pathname, search } = new URL(url);
  return fetch(origin + pathname + search, { method: "POST", headers, body });
};

/** A fake of a provider's HTTP interface: a server, tasks that follow the plan, and images. */
export abstract class FakeProvider {
  server!: FaultyServer;
  abstract readonly baseUrl: string;
  /** Every task that was started; the provider would bill each one. */
  readonly tasks: UpstreamTask[] = [];
  /** Tasks that a restart of the provider's server has lost: without results and costs, and not in `tasks`. */
  readonly lost: UpstreamTask[] = [];
  /** Faults of the next requests of each kind, one each. `keys`: those that verify webhooks. */
  readonly faults = {
    creates: [] as Fault[],
    polls: [] as Fault[],
    lists: [] as Fault[],
    images: [] as Fault[],
    checks: [] as Fault[],
    cancels: [] as Fault[],
    uploads: [] as Fault[],
    keys: [] as Fault[],
  };
  plan: Plan = "succeed";
  /** Whether tasks that run still wait in the provider's own queue. */
  waiting = false;
  /** The ids of the tasks that were canceled before they had started. */
  readonly neverStarted = new Set<string>();
  /** The image behind every result URL; `undefined` for a small stand-in. */
  picture: Buffer | undefined;
  /** A cancellation is confirmed at once, and has its effect after this number of further reads. */
  readsUntilCanceled = 0;
  /** Tasks whose cancellation has no effect yet, with the number of reads until then. */
  private readonly canceling = new Map<UpstreamTask, number>();
  /** The provider's clock. */
  now: () => Date = () => new Date();

  static async start<Fake extends FakeProvider>(this: new () => Fake): Promise<Fake> {
    const fake = new this();
    fake.server = await FaultyServer.start(
      (request) => fake.answer(request),
      (request) => fake.faultOf(request),
    );
    return fake;
  }

  close(): Promise<void> {
    return this.server.close();
  }

  /** The reference images that the upstream task was given, in order. */
  abstract referencesOf(task: UpstreamTask): readonly unknown[];
  abstract promptOf(task: UpstreamTask): string | undefined;
  /** The size that was asked for; `undefined` if it is not said in pixels. */
  abstract sizeOf(task: UpstreamTask): { readonly width: number; readonly height: number } | undefined;

  protected abstract answer(request: ReceivedRequest): Answer;

  /** The fault with which the request is answered instead, if there is one. */
  protected abstract faultOf(request: ReceivedRequest): Fault | undefined;

  /** The webhook that the provider sends when the upstream task has changed, signed at this time. */
  webhook(_task: UpstreamTask, _at: Date): SignedWebhook {
    throw new Error("This provider sends no webhooks.");
  }

  start(input: unknown, id: string, webhook?: unknown): UpstreamTask {
    const url = typeof webhook === "string" ? webhook : undefined;
    const createdAt = this.now();
    const task: UpstreamTask = { id, input: input as UpstreamTask["input"], state: "run", createdAt, webhook: url };
    this.tasks.push(task);
    return task;
  }

  /** A server that keeps its tasks in memory forgets them. */
  restart(): void {
    this.lost.push(...this.tasks.splice(0));
  }

  /** The current state of the task; `undefined` if it does not exist or is lost. */
  poll(id: string | undefined): UpstreamTask | undefined {
    const task = this.tasks.find((task) => task.id === id);
    if (task === undefined || this.plan === "be lost") return undefined;
    if (!ENDS.has(task.state)) task.state = this.plan;
    return task;
  }

  /** The owner cancels a task. Returns whether that has an effect. */
  cancel(id: string | undefined): boolean {
    const task = this.poll(id);
    if (task === undefined || ENDS.has(task.state)) return false;
    if (this.readsUntilCanceled > 0) this.canceling.set(task, this.readsUntilCanceled);
    else this.endCanceled(task);
    return true;
  }

  /** Call it for each read of the provider's state, before the answer. */
  countRead(): void {
    for (const [task, reads] of this.canceling) {
      this.canceling.set(task, reads - 1);
      if (reads > 0) continue;
      this.canceling.delete(task);
      this.endCanceled(task);
    }
  }

  private endCanceled(task: UpstreamTask): void {
    task.state = "be cancelled";
    if (this.waiting) this.neverStarted.add(task.id);
  }

  image({ path }: ReceivedRequest): Answer {
    return {
      status: 200,
      headers: { "content-type": "image/jpeg" },
      body: this.picture ?? Buffer.from(image(path)),
    };
  }
}

const ENDS: ReadonlySet<Plan> = new Set(["succeed", "fail", "be cancelled", "be moderated"]);
