import { image } from "./fake-imaging.js";
import type { Answer, Asked, Fault, FaultyServer } from "./faulty-server.js";

/** What becomes of an upstream task when it is next looked at; one that has ended stays as it ended. */
export type Plan =
  | "run"
  | "succeed"
  | "succeed without image"
  | "fail"
  | "be cancelled"
  | "be moderated"
  | "say something unknown"
  | "be lost";

export type UpstreamTask = {
  readonly id: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** As it is, or as it ended. */
  state: Plan;
  /** Where its notices go. */
  readonly webhook?: string | undefined;
};

/** A notice of the provider, ready to be sent. */
export type SignedWebhook = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** Sends it as the provider would, but to where the service under test listens, whatever its public address. */
export const sendWebhook = ({ url, headers, body }: SignedWebhook, origin: string): Promise<Response> => {
  const { pathname, search } = new URL(url);
  return fetch(origin + pathname + search, { method: "POST", headers, body });
};

/** What befalls the next requests of each kind, one each. */
export type Faults = { creates: Fault[]; polls: Fault[]; lists: Fault[]; images: Fault[]; checks: Fault[] };

/** What the tests of every adapter need of its provider's fake. */
export interface FakeProvider {
  readonly server: FaultyServer;
  /** What was started, which is what would be paid for. */
  readonly tasks: UpstreamTask[];
  readonly faults: Faults;
  plan: Plan;
  /** What is behind every result's URL, where it is to be a real picture. */
  picture: Buffer | undefined;
  /** What the provider sends when the upstream task has news, signed at that time. */
  webhook(upstreamTask: UpstreamTask, at: Date): SignedWebhook;
  close(): Promise<void>;
}

/** What is the same for all fakes: tasks that go by the plan, and images. */
export class UpstreamTasks {
  readonly tasks: UpstreamTask[] = [];
  readonly faults: Faults = { creates: [], polls: [], lists: [], images: [], checks: [] };
  plan: Plan = "succeed";
  picture: Buffer | undefined;

  start(input: unknown, id: string, webhook?: unknown): UpstreamTask {
    const url = typeof webhook === "string" ? webhook : undefined;
    const task: UpstreamTask = { id, input: input as UpstreamTask["input"], state: "run", webhook: url };
    this.tasks.push(task);
    return task;
  }

  /** The task as it is now; `undefined` if there is none, or it is lost. */
  poll(id: string | undefined): UpstreamTask | undefined {
    const task = this.tasks.find((task) => task.id === id);
    if (task === undefined || this.plan === "be lost") return undefined;
    if (!ENDS.has(task.state)) task.state = this.plan;
    return task;
  }

  image(asked: Asked): Answer {
    return {
      status: 200,
      headers: { "content-type": "image/jpeg" },
      body: this.picture ?? Buffer.from(image(asked.path)),
    };
  }
}

const ENDS: ReadonlySet<Plan> = new Set(["succeed", "fail", "be cancelled", "be moderated"]);
