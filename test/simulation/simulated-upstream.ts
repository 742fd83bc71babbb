import { err, ok, type Result } from "neverthrow";
import { image } from "../../adapters/memory/memory-imaging.js";
import type { FetchedBytes, FetchFailure, PublicFetch } from "../../adapters/provider/public-fetch.js";
import type { Answer, Call, CallFailure, UpstreamHttp } from "../../adapters/provider/remote/calls/upstream-http.js";
import type { Dialect } from "../../adapters/provider/remote/dialect.js";
import type { Cancellation, CustomersCause, ProviderUnavailable } from "../../application/ports/generation-provider.js";
import type { TaskId } from "../../domain/ids.js";
import type { Owner, Scheduler } from "./scheduler.js";

/** How a provider behaves at the moment. */
export type Mood = {
  readonly create:
    | "accepts"
    | "refuses"
    | "refuses the content"
    | "is busy"
    | "fails"
    | "fails but starts"
    | "gives no id"
    | "loses the answer"
    | "is unreachable";
  readonly poll:
    | "runs"
    | "finishes"
    | "fails"
    | "fails because of a reference"
    | "finishes without a URL"
    | "is unavailable"
    | "loses the answer"
    | "is unknown";
  readonly find: "answers" | "is unavailable" | "loses the answer";
  readonly cancel: "stops" | "is too late" | "stops, and loses the answer" | "is unavailable";
  readonly result: "image" | "image" | "black" | "no image" | "gone" | "unusable" | "unavailable";
};

export const GOOD_MOOD: Mood = {
  create: "accepts",
  poll: "finishes",
  find: "answers",
  cancel: "stops",
  result: "image",
};

/** Moods by their frequency. */
export const MOODS: { readonly [Key in keyof Mood]: readonly Mood[Key][] } = {
  create: [
    "accepts",
    "accepts",
    "accepts",
    "accepts",
    "refuses",
    "refuses the content",
    "is busy",
    "fails",
    "fails but starts",
    "gives no id",
    "loses the answer",
    "is unreachable",
  ],
  poll: [
    "runs",
    "runs",
    "finishes",
    "finishes",
    "finishes",
    "fails",
    "fails because of a reference",
    "finishes without a URL",
    "is unavailable",
    "loses the answer",
    "is unknown",
  ],
  find: ["answers", "answers", "answers", "is unavailable", "loses the answer"],
  cancel: ["stops", "stops", "is too late", "stops, and loses the answer", "is unavailable"],
  result: ["image", "image", "image", "black", "no image", "gone", "unusable", "unavailable"],
};

/** A request that takes longer to arrive is lost. Less than what submissions keep free before their deadline. */
const NETWORK_MILLISECONDS_MAX = 10_000;

type Generation = {
  readonly id: string;
  readonly taskId: TaskId;
  state: "running" | "succeeded" | "failed" | "reference unusable" | "canceled";
  /** The provider has said that it does not know it, or not said where the result is: a failure for whoever asked. */
  wasDenied?: boolean;
};

/** A provider in memory, with the network to it. It remembers what it has started, because that is what it charges. */
export class SimulatedUpstream {
  readonly name: string;
  mood = GOOD_MOOD;
  readonly generations: Generation[] = [];
  private readonly origin: string;
  private readonly scheduler: Scheduler;
  private readonly onStart: (taskId: TaskId) => void;

  /** `onStart` is called before each generation starts. */
  constructor(name: string, scheduler: Scheduler, onStart: (taskId: TaskId) => void) {
    this.name = name;
    this.origin = originOf(name);
    this.scheduler = scheduler;
    this.onStart = onStart;
  }

  /**
   * The HTTP client of a process. A request is written at one moment and arrives at another one, also if its process
   * has been killed meanwhile; the answer needs the process again. `onCall` is called for each request.
   */
  httpOf(owner: Owner, onCall: () => void): UpstreamHttp {
    const { scheduler, name } = this;
    const call = ({ method, url, body, signal, mayBeSent }: Call): Promise<Result<Answer, CallFailure>> =>
      new Promise((resolve) => {
        onCall();
        const path = `${method} ${name} ${url.slice(this.origin.length)}`;
        signal.addEventListener("abort", () => resolve(noAnswer), { once: true });
        scheduler.add(owner, `writes ${path}`, () => {
          if (signal.aborted) return;
          if (mayBeSent?.() === false) return resolve(err({ kind: "too_late", reason: "too late" }));
          if (method === "POST" && this.mood.create === "is unreachable") return resolve(notSent);
          const writtenAt = scheduler.now;
          scheduler.add(undefined, `${path} arrives`, () => {
            if (scheduler.now - writtenAt > NETWORK_MILLISECONDS_MAX) return;
            const answer = this.answer(method, url, body);
            if (answer === undefined) return;
            scheduler.add(owner, `gets ${answer.status} for ${path}`, () => resolve(ok(answer)));
          });
        });
      });
    return { call } as unknown as UpstreamHttp;
  }

  /** How a process downloads results. */
  fetchOf(owner: Owner): PublicFetch {
    const { scheduler } = this;
    const get = (url: string): Promise<Result<FetchedBytes, FetchFailure>> =>
      new Promise((resolve) => {
        scheduler.add(owner, `downloads ${url}`, () => resolve(this.resultAt(url)));
      });
    return { get } as unknown as PublicFetch;
  }

  startedFor(taskId: TaskId): readonly Generation[] {
    return this.generations.filter((generation) => generation.taskId === taskId);
  }

  private resultAt(url: string): Result<FetchedBytes, FetchFailure> {
    const reason = "the simulation";
    switch (this.mood.result) {
      case "image":
        return ok({ bytes: image(url), contentType: "image/jpeg" });
      case "black":
        return ok({ bytes: image("black"), contentType: "image/jpeg" });
      case "no image":
        return ok({ bytes: Buffer.from("<html>"), contentType: "text/html" });
      case "gone":
        return err({ kind: "gone", reason, problem: reason });
      case "unusable":
        return err({ kind: "forbidden", reason, problem: reason });
      case "unavailable":
        return err({ kind: "unavailable", reason, problem: reason });
    }
  }

  /** `undefined`: the answer is lost. */
  private answer(method: Call["method"], url: string, body: unknown): Answer | undefined {
    const [, kind, id = ""] = url.slice(this.origin.length).split("/");
    if (kind === "generations" && method === "POST") return this.create((body as { taskId: TaskId }).taskId);
    if (kind === "tasks") return this.find(id as TaskId);
    const generation = this.generations.find((one) => one.id === id);
    if (generation === undefined) return answerOf(404);
    return kind === "canceled" ? this.cancel(generation) : this.poll(generation);
  }

  private create(taskId: TaskId): Answer | undefined {
    const { create } = this.mood;
    if (create === "refuses") return answerOf(422);
    if (create === "refuses the content") return answerOf(422, { cause: "content_refused" });
    if (create === "is busy") return { ...answerOf(429), retryAfter: "5" };
    if (create === "fails") return answerOf(500);
    this.onStart(taskId);
    const id = `${taskId}-${this.generations.length + 1}`;
    this.generations.push({ id, taskId, state: "running" });
    if (create === "loses the answer") return undefined;
    if (create === "gives no id") return answerOf(200, {});
    return create === "fails but starts" ? answerOf(500) : answerOf(200, { id });
  }

  private poll(generation: Generation): Answer | undefined {
    const { poll } = this.mood;
    if (generation.state === "running" && poll.startsWith("finishes")) generation.state = "succeeded";
    if (generation.state === "running" && poll === "fails") generation.state = "failed";
    if (generation.state === "running" && poll.endsWith("a reference")) generation.state = "reference unusable";
    if (poll === "is unavailable") return answerOf(503);
    if (poll === "is unknown") {
      generation.wasDenied = true;
      return answerOf(404);
    }
    if (poll === "loses the answer") return undefined;
    const url = poll === "finishes without a URL" ? "" : `${this.origin}/results/${generation.id}`;
    if (generation.state === "succeeded" && url === "") generation.wasDenied = true;
    return answerOf(200, { status: generation.state, url });
  }

  private find(taskId: TaskId): Answer | undefined {
    if (this.mood.find === "is unavailable") return answerOf(500);
    if (this.mood.find === "loses the answer") return undefined;
    const found = this.generations.find((generation) => generation.taskId === taskId);
    return found === undefined ? answerOf(404, {}) : answerOf(200, { id: found.id });
  }

  private cancel(generation: Generation): Answer | undefined {
    const { cancel } = this.mood;
    if (cancel === "is unavailable") return answerOf(503);
    if (generation.state === "running" && cancel !== "is too late") generation.state = "canceled";
    return cancel === "stops, and loses the answer" ? undefined : answerOf(200, { status: generation.state });
  }
}

const answerOf = (status: number, body: unknown = {}): Answer => ({ status, retryAfter: undefined, body });

const originOf = (name: string): string => `https://${name}.example`;

const noAnswer = err({ kind: "no_answer", reason: "the simulation" } as const);
const notSent = err({ kind: "not_sent", reason: "the simulation" } as const);

/** The simulated provider knows our ids of tasks, and can stop a generation. */
export const simulatedDialect = (
  name: string,
  { callsPerSecond, concurrencyMax }: { readonly callsPerSecond: number; readonly concurrencyMax: number | undefined },
): Dialect => ({
  name,
  baseUrl: originOf(name),
  authorization: {},
  defaults: { callsPerSecond, pauseSeconds: 10, concurrencyMax },

  creation: ({ taskId }) => ({ path: "/generations", body: async () => ok({ taskId }) }),

  upstreamTaskIdOf(body) {
    const { id } = body as { readonly id?: string };
    return id === undefined ? err({ kind: "unknown", reason: "the answer has no id" }) : ok(id);
  },

  causeOf: ({ body }) => (body as { readonly cause?: CustomersCause }).cause,

  pollPath: (id) => `/generations/${id}`,

  reportOf(body) {
    const { status, url } = body as { readonly status: Generation["state"]; readonly url: string };
    if (status === "running") return ok({ state: "running" });
    if (status === "reference unusable") return ok({ state: "failed", reason: status, cause: "reference_unusable" });
    if (status !== "succeeded") return ok({ state: "failed", reason: status });
    if (url !== "") return ok({ state: "succeeded", temporaryUrl: url });
    return ok({ state: "uncertain", reason: "there is no URL", duringGracePeriod: "running" });
  },

  async find(taskId, read) {
    return (await read(`/tasks/${taskId}`)).map(({ status, body }) =>
      status === 404 ? undefined : (body as { readonly id: string }).id,
    );
  },

  async cancel(id, { change }) {
    const answer = await change("PUT", `/canceled/${id}`);
    return answer.andThen(({ status, body }): Result<Cancellation, ProviderUnavailable> => {
      if (status >= 500) return err({ kind: "provider_unavailable", reason: `status ${status}` });
      return ok((body as { readonly status: string }).status === "canceled" ? "canceled" : "too_late");
    });
  },
});
