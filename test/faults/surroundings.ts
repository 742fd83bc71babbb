import { ok } from "neverthrow";
import { HandClock } from "../../adapters/memory/hand-clock.js";
import { MemoryImaging } from "../../adapters/memory/memory-imaging.js";
import { MemoryObjectStorage } from "../../adapters/memory/memory-object-storage.js";
import { MemoryPayments } from "../../adapters/memory/memory-payments.js";
import { RecordingReporter } from "../../adapters/memory/recording-ports.js";
import { ScriptedProvider } from "../../adapters/memory/scripted-provider.js";
import { ProviderChain } from "../../adapters/provider/provider-chain.js";
import { newApiKey } from "../../application/accounts/api-keys.js";
import type { ProviderWebhooks } from "../../application/ports/generation-provider.js";
import type { OutgoingWebhook, WebhookSender } from "../../application/ports/webhook-sender.js";
import { newEndpoint } from "../../application/webhooks/webhooks.js";
import { NO_LIMITS } from "../../domain/accounts/key-limits.js";
import { credits } from "../../domain/credits/credits.js";
import type { OrderId } from "../../domain/credits/order.js";
import type { TaskId } from "../../domain/ids.js";
import type { AttemptResult } from "../../domain/webhooks/webhook-delivery.js";
import { LEASE_MILLISECONDS } from "../support/application.js";
import { type AnyDatabase, sqlStores } from "../support/sql-stores.js";
import { anOwner, aWorld } from "../support/world.js";
import { CalledProvider } from "./called-provider.js";

/** What the receiver of webhooks answers, and what it has received. */
export class FakeReceiver implements WebhookSender {
  answers = true;
  /** The ids of the events that it has accepted. */
  readonly accepted = new Set<string>();

  async send({ url, id }: OutgoingWebhook): Promise<AttemptResult> {
    if (!this.answers) return { kind: "failed", detail: "status 500", isGone: false };
    this.accepted.add(`${id} at ${url}`);
    return { kind: "delivered", detail: "status 200" };
  }
}

/** The task of a webhook is its body. */
const webhooks: ProviderWebhooks = {
  taskOf: async ({ body }) => ok(Buffer.from(body).toString() as TaskId),
};

/** Work that only one worker may do at a time, with the length of its lease. */
const LEASED: Readonly<Record<string, number>> = {
  "provider.poll": LEASE_MILLISECONDS,
  "provider.download": LEASE_MILLISECONDS,
  "storage.put": LEASE_MILLISECONDS,
  "sender.send": 20_000,
};

/** Finds two workers that do the same leased work at once. */
export class WorkUnderWay {
  readonly twice: string[] = [];
  /** A fault lets leases expire while work is under way: then another worker may do the same. */
  leasesExpire = false;
  private readonly began = new Map<string, number>();
  private readonly clock: HandClock;

  constructor(clock: HandClock) {
    this.clock = clock;
  }

  /** Returns a function that ends the work. */
  begin(target: string, [first]: readonly unknown[]): () => void {
    const lease = LEASED[target];
    const what = typeof first === "object" ? webhookOf(first as OutgoingWebhook) : String(first);
    if (lease === undefined || what.startsWith("references/")) return () => {};
    const key = `${target} ${what}`;
    const now = this.clock.now().getTime();
    const other = this.began.get(key);
    if (!this.leasesExpire && other !== undefined && now - other < lease)
      this.twice.push(`${key} is done twice at once`);
    this.began.set(key, now);
    return () => {
      if (this.began.get(key) === now) this.began.delete(key);
    };
  }

  /** The process with the work was killed. */
  clear(): void {
    this.began.clear();
  }
}

const webhookOf = ({ id, url }: OutgoingWebhook): string => `${id} at ${url}`;

/** A creation that a client has sent, with the task that this call would open, and what the client was told. */
export type Creation = { readonly key: string; readonly taskId: TaskId; answer?: { readonly id: TaskId } | string };

type Providers = { readonly providers?: readonly [string, ...string[]]; readonly isCalled?: boolean };

/** Everything outside the processes: database, fakes of other services, clock, and what clients were told. */
export const surroundings = async (database: AnyDatabase, scenario: Providers) => {
  const stores = sqlStores(database);
  const clock = new HandClock();
  const { providers: names = ["first"], isCalled } = scenario;
  const [first, ...others] = names.map((name) => new (isCalled ? CalledProvider : ScriptedProvider)({}, name));
  if (first === undefined) throw new Error("a scenario needs a provider");
  const providers = [first, ...others] as const;
  const storage = new MemoryObjectStorage();
  const unreadable: string[] = [];
  for (const provider of providers) {
    provider.clock = clock;
    const submit: ScriptedProvider["submit"] = provider.submit.bind(provider);
    provider.submit = (order, submissionDeadline) => {
      const gone = order.request.imageUrls.filter((url) => !storage.objects.has(storage.nameOf(url) as never));
      unreadable.push(...gone.map((url) => `the provider cannot read ${url}, which task ${order.taskId} uses`));
      return submit(order, submissionDeadline);
    };
  }
  const world = { ...aWorld(stores), clock };
  const owner = await anOwner(world, 60);
  const limits = { ...NO_LIMITS, creditsPerDay: credits(40) };
  const { key, secret } = newApiKey(world, owner, "faults", limits);
  (await stores.keys.insert(key, () => ok(undefined)))._unsafeUnwrap();
  const endpoint = newEndpoint(world, owner, "https://receiver.example/all");
  (await stores.endpoints.insert(endpoint, () => ok(undefined)))._unsafeUnwrap();
  return {
    database,
    stores,
    clock,
    providers,
    provider: new ProviderChain(providers, () => {}),
    storage,
    /** Reference images that were gone when a provider wanted to read them, one sentence each. */
    unreadable,
    imaging: new MemoryImaging(),
    sender: new FakeReceiver(),
    webhooks,
    reporter: new RecordingReporter(),
    underWay: new WorkUnderWay(clock),
    owner,
    key,
    secretSha256: world.secrets.sha256(secret),
    /** The creations that clients have sent, oldest first. */
    creations: [] as Creation[],
    /** The tasks of which a client was told that they have failed. */
    toldFailed: new Set<TaskId>(),
    /** The tasks of whose end waiting clients were told. */
    announced: new Set<TaskId>(),
    /** The image URLs that uploads have returned. */
    uploaded: [] as string[],
    /** The orders that the account has paid. */
    orders: new Set<OrderId>(),
    payments: new MemoryPayments(),
    /** The orders of packs, and what the payment service was told is known of them. */
    packs: new Map<OrderId, Set<"paid" | "refunded" | "disputed" | "won">>(),
  };
};

export type Surroundings = Awaited<ReturnType<typeof surroundings>>;
