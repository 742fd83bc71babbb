import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { aCreationRequest } from "../../adapters/contracts/support/builders.js";
import type { GenerationProvider, ProviderWebhooks } from "../../application/ports/generation-provider.js";
import { audit } from "../../domain/credits/ledger.js";
import { isActive, type Task } from "../../domain/tasks/task.js";
import { GENERATION_DEADLINE_MILLISECONDS, useCases } from "../support/application.js";
import type { FakeProvider, Faults, Plan } from "../support/fake-provider.js";
import type { Answer, Fault } from "../support/faulty-server.js";
import { ImmediateClock } from "../support/immediate-clock.js";
import {
  type Overrides,
  startComfy,
  startComfyui,
  startHttp,
  startWorldlabs,
} from "../support/providers-under-test.js";
import {
  arrived,
  startFalWebhooks,
  startReplicateWebhooks,
  startSkyboxWebhooks,
} from "../support/webhooks-under-test.js";
import { anOwner, aWorld } from "../support/world.js";
import { mutatedJson, oddText } from "./odd-values.js";

type Started = {
  readonly provider: GenerationProvider & { check(): Promise<unknown> };
  readonly fake: FakeProvider;
  readonly webhooks?: ProviderWebhooks;
  readonly keyFaults?: Fault[];
  close(): Promise<void>;
};

/** The remote providers, in turn. */
const PROVIDERS: readonly (readonly [
  string,
  (overrides: Overrides & { clock: ImmediateClock }) => Promise<Started>,
])[] = [
  ["skybox", ({ clock }) => startSkyboxWebhooks(clock)],
  ["replicate", ({ clock }) => startReplicateWebhooks(clock)],
  ["fal", ({ clock }) => startFalWebhooks(clock)],
  ["comfyui", startComfyui],
  ["comfy", startComfy],
  ["http", startHttp],
  ["worldlabs", startWorldlabs],
];

/** Decompressed, 64 MB of zeros. */
const bombs = [gzipSync, deflateSync, brotliCompressSync].map((compress) => compress(Buffer.alloc(64 * 1024 * 1024)));
const ENCODINGS = ["gzip", "deflate", "br"] as const;

type Change = (usual: Answer) => Answer;

const withHeaders =
  (headers: Answer["headers"]): Change =>
  (usual) => ({
    ...usual,
    headers: { ...usual.headers, ...headers },
  });

/** Drawn before the answer is known: the seed decides how its JSON is changed. */
const ofJson = fc.integer().map(
  (seed): Change =>
    (usual) => {
      try {
        const [value] = fc.sample(mutatedJson(JSON.parse(usual.body.toString())), { seed, numRuns: 1 });
        return { ...usual, body: JSON.stringify(value) ?? "" };
      } catch {
        return usual; // an image
      }
    },
);

const ofBytes: fc.Arbitrary<Change> = fc.oneof(
  fc.nat({ max: 999 }).map((permille) => (usual: Answer) => {
    const bytes = Buffer.from(usual.body);
    return { ...usual, body: bytes.subarray(0, Math.floor((bytes.length * permille) / 1_000)) };
  }),
  fc
    .tuple(fc.nat({ max: 999 }), fc.uint8Array({ minLength: 1, maxLength: 8 }))
    .map(([permille, bad]) => (usual: Answer) => {
      const bytes = Buffer.from(usual.body);
      const at = Math.floor((bytes.length * permille) / 1_000);
      return { ...usual, body: Buffer.concat([bytes.subarray(0, at), bad, bytes.subarray(at + bad.length)]) };
    }),
  fc.constantFrom<Change>(
    (usual) => ({ ...usual, body: "" }),
    (usual) => ({ ...usual, body: Buffer.from(usual.body.toString(), "utf16le") }),
    (usual) => ({ ...usual, body: Buffer.concat([Buffer.from("\ufeff"), Buffer.from(usual.body)]) }),
    (usual) => ({ ...usual, body: "[".repeat(500_000) }),
    (usual) => ({ ...usual, body: `{"a":${'{"a":'.repeat(100_000)}` }),
    (usual) => ({ ...usual, body: Buffer.alloc(33 * 1024 * 1024, " ") }),
    (usual) => ({ ...usual, body: usual.body, cutShort: true }),
  ),
);

const ofHead: fc.Arbitrary<Change> = fc.oneof(
  fc
    .constantFrom(
      201,
      202,
      204,
      206,
      301,
      304,
      400,
      401,
      402,
      403,
      404,
      409,
      410,
      418,
      422,
      429,
      451,
      500,
      503,
      599,
      999,
    )
    .map(
      (status): Change =>
        (usual) => ({ ...usual, status }),
    ),
  fc
    .constantFrom("", "text/html", "application/json; charset=utf-16", "image/png", "x")
    .map((type) => withHeaders({ "content-type": type })),
  fc
    .tuple(
      fc.constantFrom(429, 503),
      fc.constantFrom("-1", "1e9", "99999999999999999999", "soon", "0", "Wed, 21 Oct 2099 07:28:00 GMT", ""),
    )
    .map(
      ([status, after]): Change =>
        (usual) => ({ ...withHeaders({ "retry-after": after })(usual), status }),
    ),
  fc
    .tuple(
      fc.constantFrom(301, 302, 307),
      fc.constantFrom("/", "", "//", "http://169.254.169.254/", "file:///etc/passwd", "/same"),
    )
    .map(
      ([status, location]): Change =>
        (usual) => ({ ...withHeaders({ location })(usual), status }),
    ),
  fc.nat({ max: 2 }).map(
    (n): Change =>
      (usual) => ({
        ...withHeaders({ "content-encoding": ENCODINGS[n] ?? "gzip" })(usual),
        body: bombs[n] ?? "",
      }),
  ),
  fc.constant(withHeaders({ "content-encoding": "gzip" })),
  fc.constant(withHeaders({ "x-large": "x".repeat(10_000) })),
  fc.constant(withHeaders({ "x-large": "x".repeat(100_000) })),
);

const change = fc.oneof(
  { weight: 6, arbitrary: ofJson },
  { weight: 2, arbitrary: ofBytes },
  { weight: 3, arbitrary: ofHead },
);
const fault = change.map((instead): Fault => ({ done: true, instead }));
const unchanged: Fault = { done: true, instead: (usual) => usual };
const faults = fc.array(fc.oneof({ weight: 2, arbitrary: fault }, fc.constant(unchanged)), { maxLength: 4 });

export type Generation = {
  readonly faults: Readonly<Record<keyof Faults, readonly Fault[]>>;
  readonly keyFaults: readonly Fault[];
  readonly plan: Plan;
  readonly fromImage: boolean;
  readonly cancels: boolean;
  readonly waiting: boolean;
  readonly odd: string;
};

/** The answers of a provider to everything that it is asked for a few tasks. */
export const generations: fc.Arbitrary<Generation> = fc.record({
  faults: fc.record({ creates: faults, polls: faults, lists: faults, images: faults, checks: faults, cancels: faults }),
  keyFaults: faults,
  plan: fc.constantFrom<Plan[]>(
    "succeed",
    "succeed",
    "succeed",
    "run",
    "fail",
    "be cancelled",
    "be lost",
    "succeed without image",
  ),
  fromImage: fc.boolean(),
  cancels: fc.boolean(),
  waiting: fc.boolean(),
  odd: oddText,
});

const CREDITS = 60;

/** Runs a few tasks with the real adapter of provider `n`. Returns what is wrong afterwards. */
export const runGeneration = async (drawn: Generation, n: number): Promise<readonly string[]> => {
  const [name, start] = PROVIDERS[n % PROVIDERS.length] as (typeof PROVIDERS)[number];
  const clock = new ImmediateClock();
  const world = { ...aWorld(), clock };
  const { provider, fake, webhooks, keyFaults, close } = await start({ clock, storage: world.storage });
  const wrong: string[] = [];
  const rejected = (reason: unknown): void => void wrong.push(`unhandled rejection: ${reason}`);
  process.on("unhandledRejection", rejected);
  try {
    const application = useCases({ ...world, provider });
    const owner = await anOwner(world, CREDITS);
    fake.now = () => clock.now();
    fake.plan = drawn.plan;
    fake.waiting = drawn.waiting;
    for (const [kind, list] of Object.entries(drawn.faults)) fake.faults[kind as keyof Faults].push(...list);
    keyFaults?.push(...drawn.keyFaults);
    await provider.check();

    const images = drawn.fromImage || provider.canMake(aCreationRequest()).isErr();
    const request = aCreationRequest({
      prompt: "a lake",
      ...(images && { image_urls: ["https://pictures.example/p.jpg"] }),
    });
    const unfinished = (task: Task) =>
      isActive(task) || (task.state === "succeeded" && task.image.status === "uploading");
    for (let created = 0; created < 3; created += 1) await application.createPanorama(owner, request);
    for (const task of webhooks === undefined ? [] : fake.tasks) {
      const { headers, body, url } = fake.webhook(task, clock.now());
      await webhooks?.taskOf(arrived({ headers, body, url }));
      await webhooks?.taskOf({ body: Buffer.from(drawn.odd), headers, query: new URL(url).searchParams });
    }
    for (let round = 0; round < 25; round += 1) {
      await clock.advance(round < 5 ? 5_000 : GENERATION_DEADLINE_MILLISECONDS);
      await application.sweep();
      await application.start();
      await application.settle();
      const tasks = await world.tasks.list(owner, 10, undefined);
      if (drawn.cancels && round === 1 && tasks[0] !== undefined) await application.cancelTask(tasks[0].id, owner);
      await application.keep();
      if (round >= 5 && !(await world.tasks.list(owner, 10, undefined)).some(unfinished)) break;
    }
    for await (const ledger of world.ledger.all()) {
      wrong.push(...audit(ledger.standing, ledger.entries, ledger.tasks).map((finding) => `ledger: ${finding}`));
      wrong.push(...ledger.tasks.filter(unfinished).map(({ id, state }) => `the task ${id} stays ${state}`));
    }
    wrong.push(...world.reporter.of("work_failed").map((event) => `work failed: ${describe(event)}`));
    await new Promise((next) => setImmediate(next));
  } catch (error) {
    wrong.push(`thrown: ${describe(error)}`);
  } finally {
    process.off("unhandledRejection", rejected);
    await close();
  }
  return wrong.map((finding) => `${name}: ${finding}`);
};

const describe = (value: unknown): string =>
  value instanceof Error
    ? (value.stack ?? value.message)
    : JSON.stringify(value, (_, part) => (part instanceof Error ? part.stack : part));
