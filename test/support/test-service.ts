import { rm } from "node:fs/promises";
import { join } from "node:path";
import { HttpServer, type HttpServerParts, type HttpServerSettings } from "../../adapters/http/http-server.js";
import type { Observer } from "../../adapters/http/observer.js";
import { HandClock } from "../../adapters/memory/hand-clock.js";
import { InProcessEventSignals, InProcessTaskSignals } from "../../adapters/memory/in-process-signals.js";
import { memoryPorts } from "../../adapters/memory/memory-ports.js";
import { RecordingReporter } from "../../adapters/memory/recording-ports.js";
import type { ScriptedProvider } from "../../adapters/memory/scripted-provider.js";
import { memoryDatabase, memoryStores } from "../../adapters/persistence/memory-stores.js";
import { RandomIds } from "../../adapters/system/random-ids.js";
import { accounts } from "../../application/accounts/accounts.js";
import { keyUses, openKeys } from "../../application/accounts/api-requests.js";
import type { ApplicationSettings } from "../../application/application-settings.js";
import { resultChecks } from "../../application/background/check-generated-images.js";
import { pollSubmittedTasks } from "../../application/background/poll-submitted-tasks.js";
import { storeFinishedImages } from "../../application/background/store-finished-images.js";
import { createApplication } from "../../application/create-application.js";
import { generationTime } from "../../application/panoramas/generation-time.js";
import { progress } from "../../application/panoramas/progress.js";
import type { Imaging } from "../../application/ports/imaging.js";
import type { ObjectStorage } from "../../application/ports/object-storage.js";
import type { Payments } from "../../application/ports/payments.js";
import type { FinishedRequest } from "../../application/ports/reporter.js";
import type { Secrets } from "../../application/ports/secrets.js";
import type { Email } from "../../domain/accounts/account.js";
import { credits } from "../../domain/credits/credits.js";
import { RATE_LIMITS } from "../../domain/panorama-policy.js";
import { viewerPath } from "../../domain/tasks/slug.js";
import { CREATION_SETTINGS } from "./application.js";
import { makeServer } from "./make-server.js";

const LIMITS = { leaseMilliseconds: 60_000, concurrency: 10 };
const GENERATION = { ...LIMITS, generationDeadlineMilliseconds: 600_000 };

type UseCases = Pick<HttpServerParts, "accounts" | "panoramas" | "credits" | "events" | "policy">;

/** The HTTP server with the real use cases, stores in memory, a manual clock and a scripted provider. */
export abstract class TestService {
  readonly clock = new HandClock();
  readonly database = memoryDatabase();
  protected readonly stores = memoryStores(this.clock, RATE_LIMITS, this.database);
  readonly tasks = this.stores.tasks;
  readonly accounts = this.stores.accounts;
  readonly orders = this.stores.orders;
  readonly keys = this.stores.keys;
  readonly ledger = this.stores.ledger;
  readonly references = this.stores.references;
  readonly events = this.stores.events;
  readonly endpoints = this.stores.endpoints;
  readonly deliveries = this.stores.deliveries;
  readonly operators = this.stores.operators;
  readonly rateLimits = this.stores.rateLimits;
  readonly eventSignals = new InProcessEventSignals();
  readonly signals = new InProcessTaskSignals();
  readonly reporter = new RecordingReporter();
  readonly ids = new RandomIds();
  readonly generationTime = generationTime();
  readonly keyUses = keyUses({ keys: this.keys, clock: this.clock });
  readonly openKeys = openKeys({ clock: this.clock });
  readonly finished: FinishedRequest[] = [];
  readonly failures: { readonly requestId: string; readonly error: unknown }[] = [];
  /** Requests that were refused because the service is overloaded. */
  overloaded = 0;
  /** Requests that have started and are not finished. */
  inFlight = 0;
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
  abstract readonly storage: ObjectStorage;
  abstract readonly imaging: Imaging;
  abstract readonly provider: ScriptedProvider;
  abstract readonly secrets: Secrets;
  protected server: HttpServer | undefined;

  protected constructor(folder: string) {
    this.folder = folder;
  }

  /** Polls every submitted task once, and checks and stores the results, as the schedule does. */
  async settle(): Promise<void> {
    await this.clock.advance(this.provider.nextPollMilliseconds());
    await pollSubmittedTasks(this, GENERATION);
    await resultChecks(this, { ...GENERATION, resultBounds: {} }).checkGeneratedImages();
  }

  /** Tries once to save every finished image. */
  async keep(): Promise<void> {
    await storeFinishedImages(this, LIMITS);
  }

  stop(deadlineMilliseconds = 1_000, proxyMilliseconds = 0): Promise<void> {
    return this.server?.stop(deadlineMilliseconds, proxyMilliseconds) ?? Promise.resolve();
  }

  async end(): Promise<void> {
    await this.stop(0);
    await rm(this.folder, { recursive: true, force: true });
  }

  /** An account with a paid order and an API key. */
  protected async opened(email: string, amount: number, keyName: string, password?: string) {
    const asked = { email: email as Email, password, credits: credits(amount), keyName };
    const { account, secret } = (await accounts(this).open(asked))._unsafeUnwrap();
    return { id: account.id, email, key: secret ?? "" };
  }

  protected useCases(payments: Payments, settings: Partial<ApplicationSettings> = {}) {
    const ports = { ...memoryPorts(this.clock), ...this.stores, ...this, payments, providerWebhooks: new Map() };
    const { generationDeadlineMilliseconds } = GENERATION;
    const { accounts, panoramas, ...others } = createApplication({
      ports,
      settings: { ...CREATION_SETTINGS, generationDeadlineMilliseconds, ...settings },
    });
    return {
      ...others,
      accounts: { ...accounts, noteKeyUse: this.keyUses.note, watchKey: this.openKeys.watch },
      panoramas: { ...panoramas, ...progress(this) },
    };
  }

  protected async serve(
    parts: UseCases & Pick<HttpServerParts, "web"> & Partial<HttpServerParts>,
    settings: Pick<HttpServerSettings, "publicUrl"> & Partial<HttpServerSettings>,
  ): Promise<void> {
    this.server = new HttpServer(
      {
        makeServer,
        clock: this.clock,
        viewerUrl: (slug, visibility) => settings.publicUrl + viewerPath(slug, visibility),
        storage: this.storage,
        assets: undefined,
        temporaryImage: async (name) => this.temporaryImages.get(name),
        mcpPackage: undefined,
        checks: async () => [],
        metrics: async () => "# HELP tests of the service\n",
        observer: this.observer,
        isDatabaseOverloaded: () => false,
        ...parts,
      },
      {
        host: "127.0.0.1",
        port: 0,
        uploadsFolder: join(this.folder, "uploads"),
        trustedProxies: [],
        tls: undefined,
        ...settings,
      },
    );
    await this.server.start().catch(async (error: unknown) => {
      await this.end();
      throw error;
    });
  }
}
