import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { HttpServer, type HttpServerParts, type HttpServerSettings } from "../../adapters/http/http-server.js";
import type { Observer } from "../../adapters/http/observer.js";
import type { Check } from "../../adapters/http/routes/operations-routes.js";
import { HandClock } from "../../adapters/memory/hand-clock.js";
import { InProcessEventSignals, InProcessTaskSignals } from "../../adapters/memory/in-process-signals.js";
import { MemoryImaging } from "../../adapters/memory/memory-imaging.js";
import { MemoryObjectStorage } from "../../adapters/memory/memory-object-storage.js";
import { memoryPorts } from "../../adapters/memory/memory-ports.js";
import { RecordingReporter } from "../../adapters/memory/recording-ports.js";
import { ScriptedProvider } from "../../adapters/memory/scripted-provider.js";
import { ManualPayments } from "../../adapters/payments/manual-payments.js";
import { memoryDatabase, memoryStores } from "../../adapters/persistence/memory-stores.js";
import { NodeSecrets } from "../../adapters/system/node-secrets.js";
import { RandomIds } from "../../adapters/system/random-ids.js";
import type { PageReply, WebSide } from "../../adapters/web-page/page.js";
import { heldKeys } from "../../application/accounts/held-keys.js";
import { keyUses } from "../../application/accounts/key-uses.js";
import { openAccount } from "../../application/accounts/open-account.js";
import { whenReady } from "../../application/awaitable.js";
import { checkGeneratedImages } from "../../application/background/check-generated-images.js";
import { keepFinishedImages } from "../../application/background/keep-finished-images.js";
import { settleSubmittedTasks } from "../../application/background/settle-submitted-tasks.js";
import { watchStreams } from "../../application/background/watch-changes.js";
import { type Application, createApplication, type UseCases } from "../../application/create-application.js";
import { forecastTask, generationTime } from "../../application/panoramas/forecast-task.js";
import type { FinishedRequest } from "../../application/ports/reporter.js";
import type { Email } from "../../domain/accounts/account.js";
import { credits } from "../../domain/credits/credits.js";
import type { AccountId } from "../../domain/ids.js";
import type { ObjectName } from "../../domain/images/object-name.js";
import { RATE_LIMITS } from "../../domain/panorama-policy.js";
import { viewerPath } from "../../domain/tasks/slug.js";
import { CREATION_SETTINGS } from "./application.js";
import { makeServer } from "./make-server.js";

export type Customer = { readonly accountId: AccountId; readonly key: string };

const LIMITS = { leaseMilliseconds: 60_000, concurrency: 10 };

const htmlReply = (status: number, body: string): PageReply => ({
  status,
  headers: { "content-type": "text/html; charset=utf-8" },
  body,
});

/** A web side without pages of its own. */
export const NO_PAGES: WebSide = {
  pages: [],
  notFound: async () => htmlReply(404, "<p>no such page</p>"),
  failed: (requestId) => htmlReply(500, `<p>failed: ${requestId}</p>`),
  limited: (seconds) => htmlReply(429, `<p>again in ${seconds} s</p>`),
  busy: (seconds) => htmlReply(429, `<p>busy: ${seconds}</p>`),
};

type Groups = Pick<UseCases, "accounts" | "panoramas" | "credits" | "events">;

/** What a test replaces: parts of the server, and single use cases. */
type Replaced = Partial<Omit<HttpServerParts, keyof Groups>> & {
  readonly [Group in keyof Groups]?: Partial<Groups[Group]>;
};

/**
 * The HTTP server on a free port with the real use cases, stores in memory, a manual clock and a scripted provider.
 * `calls` counts the calls of each use case of a panorama.
 */
export class HttpService {
  readonly clock = new HandClock();
  readonly database = memoryDatabase();
  private readonly stores = memoryStores(this.clock, RATE_LIMITS, this.database);
  readonly tasks = this.stores.tasks;
  readonly accounts = this.stores.accounts;
  readonly orders = this.stores.orders;
  readonly keys = this.stores.keys;
  readonly ledger = this.stores.ledger;
  readonly references = this.stores.references;
  readonly events = this.stores.events;
  readonly eventSignals = new InProcessEventSignals();
  readonly storage = new MemoryObjectStorage();
  readonly imaging = new MemoryImaging();
  readonly provider = new ScriptedProvider();
  readonly signals = new InProcessTaskSignals();
  readonly reporter = new RecordingReporter();
  readonly secrets = new NodeSecrets();
  readonly ids = new RandomIds();
  readonly generationTime = generationTime();
  readonly calls: Record<string, number> = { readTask: 0 };
  readonly finished: FinishedRequest[] = [];
  readonly failures: { readonly requestId: string; readonly error: unknown }[] = [];
  /** Requests that were refused because the service is overloaded. */
  overloaded = 0;
  /** Requests that have started and are not finished. */
  inFlight = 0;
  checks: () => Promise<readonly Check[]> = async () => [{ name: "database", ok: true, detail: "answers" }];
  readonly keyUses = keyUses({ keys: this.keys, clock: this.clock });
  readonly heldKeys = heldKeys({ clock: this.clock });
  /** Runs once a second in the service. */
  readonly watchStreams = watchStreams({
    events: this.events,
    signals: this.eventSignals,
    heldKeys: this.heldKeys,
  });
  readonly observer: Observer = {
    run: (_requestId, work) => {
      this.inFlight += 1;
      work();
    },
    finished: (exchange) => {
      this.inFlight -= 1;
      this.finished.push(exchange);
    },
    failed: (requestId, error) => void this.failures.push({ requestId, error }),
    overloaded: () => {
      this.overloaded += 1;
    },
  };
  readonly temporaryImages = new Map<string, Uint8Array>();
  readonly folder: string;
  /** The use cases that the routes call, to mount them elsewhere. */
  readonly application: Groups & Pick<Application, "policy">;
  private readonly server: HttpServer;

  private constructor(folder: string, replaced: Replaced, settings: Partial<HttpServerSettings>) {
    this.folder = folder;
    const { clock, storage } = this;
    const { accounts, panoramas, credits, events, ...parts } = replaced;
    const { policy, webhookPrivateOrigins, referenceRetentionHours, ...application } = createApplication({
      ports: {
        ...memoryPorts(clock),
        ...this.stores,
        ...this,
        payments: new ManualPayments(),
        providerWebhooks: new Map(),
      },
      settings: { ...CREATION_SETTINGS, generationDeadlineMilliseconds: 600_000 },
    });
    this.application = {
      policy,
      accounts: {
        ...application.accounts,
        admitApiRequest: (apiKey, kind, task) =>
          whenReady(application.accounts.admitApiRequest(apiKey, kind, task), (admitted) => {
            if (admitted.isOk() && task !== undefined) this.calls.readTask = (this.calls.readTask ?? 0) + 1;
            return admitted;
          }),
        noteKeyUse: this.keyUses.note,
        holdKey: this.heldKeys.hold,
        ...accounts,
      },
      panoramas: { ...this.counted(application.panoramas), forecast: forecastTask(this), ...panoramas },
      credits: { ...this.counted(application.credits), ...credits },
      events: { ...application.events, ...events },
    };
    this.server = new HttpServer(
      {
        makeServer,
        ...this.application,
        clock,
        webhookPrivateOrigins,
        viewerUrl: (slug, visibility) => `https://panoramas.example${viewerPath(slug, visibility)}`,
        referenceRetentionHours,
        web: NO_PAGES,
        storage,
        assets: undefined,
        temporaryImage: async (name) => this.temporaryImages.get(name),
        mcpPackage: undefined,
        checks: () => this.checks(),
        metrics: async () => "# HELP tests of the service\n",
        observer: this.observer,
        isDatabaseOverloaded: () => false,
        ...parts,
      },
      {
        host: "127.0.0.1",
        port: 0,
        publicUrl: "https://panoramas.example",
        uploadsFolder: join(folder, "uploads"),
        trustedProxies: [],
        tls: undefined,
        ...settings,
      },
    );
  }

  static async start(replaced: Replaced = {}, settings: Partial<HttpServerSettings> = {}): Promise<HttpService> {
    const service = new HttpService(await mkdtemp(join(tmpdir(), "panorama-http-")), replaced, settings);
    await service.server.start().catch(async (error: unknown) => {
      await service.end();
      throw error;
    });
    return service;
  }

  get port(): number {
    return this.server.port;
  }

  get tlsPort(): number {
    return this.server.tlsPort ?? 0;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Creates an account with a paid order and an API key. */
  async customer(amount = 100): Promise<Customer> {
    const email = `${this.ids.accountId()}@example.com` as Email;
    const opened = await openAccount(this)({ email, credits: credits(amount), keyName: "test" });
    const { account, secret } = opened._unsafeUnwrap();
    return { accountId: account.id, key: secret ?? "" };
  }

  /** Sends a request to the REST interface with the API key of the customer. */
  request(path: string, customer: Customer, init: RequestInit = {}): Promise<Response> {
    const headers = { authorization: `Bearer ${customer.key}`, ...init.headers };
    return fetch(`${this.url}/api/v1${path}`, { ...init, headers });
  }

  create(customer: Customer, body: unknown = A_CREATION, headers: Record<string, string> = {}): Promise<Response> {
    return this.request("/panoramas", customer, { method: "POST", body: JSON.stringify(body), headers });
  }

  /** Creates a task and returns its id. Throws if it is refused. */
  async created(customer: Customer, body: unknown = A_CREATION): Promise<string> {
    const response = await this.create(customer, body);
    if (response.status !== 202) throw new Error(await response.text());
    return ((await response.json()) as { id: string }).id;
  }

  /** Polls every submitted task once, and checks and stores the results, as the schedule does. */
  async settle(): Promise<void> {
    await this.clock.advance(this.provider.nextPollMilliseconds());
    const generation = { ...LIMITS, generationDeadlineMilliseconds: 600_000 };
    await settleSubmittedTasks(this, generation)();
    await checkGeneratedImages(this, { ...generation, resultBounds: {} })();
  }

  /** Tries once to save every finished image. */
  async keep(): Promise<void> {
    await keepFinishedImages(this, LIMITS)();
  }

  stop(deadlineMilliseconds = 1_000, proxyMilliseconds = 0): Promise<void> {
    return this.server.stop(deadlineMilliseconds, proxyMilliseconds);
  }

  async end(): Promise<void> {
    await this.stop(0);
    await rm(this.folder, { recursive: true, force: true });
  }

  private counted<Group extends Readonly<Record<string, (...args: never[]) => unknown>>>(group: Group): Group {
    const counting = Object.entries(group).map(([name, useCase]) => {
      this.calls[name] = 0;
      const count = (...args: never[]) => {
        this.calls[name] = (this.calls[name] ?? 0) + 1;
        return useCase(...args);
      };
      return [name, count];
    });
    return Object.fromEntries(counting) as Group;
  }
}

export const A_CREATION = { resolution: "1k", prompt: "a quiet lake at dawn" };

/** Serves the objects of a storage in memory. */
export const assetsOf = (storage: MemoryObjectStorage) => ({
  stat: async (name: ObjectName) =>
    (await storage.read(name)).map(({ length }) => ({
      sizeBytes: length,
      contentType: storage.objects.get(name)?.contentType ?? "",
    })),
  stream: (name: ObjectName, start: number, end: number) =>
    Readable.from([Buffer.from(storage.objects.get(name)?.bytes ?? []).subarray(start, end + 1)]),
});
