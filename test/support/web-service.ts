import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { HttpServer } from "../../adapters/http/http-server.js";
import { openApiDocument } from "../../adapters/http/openapi/openapi-document.js";
import { parseTrustedProxies } from "../../adapters/http/requests/client-address.js";
import { picturesOnDemand } from "../../adapters/imaging/pictures-on-demand.js";
import { sharpImaging } from "../../adapters/imaging/sharp-imaging.js";
import { MCP_PACKAGE_PATH, mcpConfigurations } from "../../adapters/mcp/mcp-configuration.js";
import { HandClock } from "../../adapters/memory/hand-clock.js";
import { InProcessTaskSignals } from "../../adapters/memory/in-process-signals.js";
import { memoryPorts } from "../../adapters/memory/memory-ports.js";
import { RecordingMail, RecordingReporter, RecordingWebhookSender } from "../../adapters/memory/recording-ports.js";
import { ScriptedProvider } from "../../adapters/memory/scripted-provider.js";
import { ManualPayments } from "../../adapters/payments/manual-payments.js";
import { memoryDatabase, memoryStores } from "../../adapters/persistence/memory-stores.js";
import {
  type FilesystemObjectStorage,
  filesystemObjectStorage,
} from "../../adapters/storage/filesystem-object-storage.js";
import { RandomIds } from "../../adapters/system/random-ids.js";
import { type WebSettings, webPages } from "../../adapters/web/web-pages.js";
import type { Page } from "../../adapters/web-page/page.js";
import { keyUses } from "../../application/accounts/key-uses.js";
import { openAccount } from "../../application/accounts/open-account.js";
import type { ApplicationSettings } from "../../application/application-settings.js";
import { checkGeneratedImages } from "../../application/background/check-generated-images.js";
import { keepFinishedImages } from "../../application/background/keep-finished-images.js";
import { settleSubmittedTasks } from "../../application/background/settle-submitted-tasks.js";
import { createApplication } from "../../application/create-application.js";
import { payOrder } from "../../application/credits/orders.js";
import { createPanorama } from "../../application/panoramas/create-panorama.js";
import { forecastTask, generationTime } from "../../application/panoramas/forecast-task.js";
import type { Payments } from "../../application/ports/payments.js";
import type { Email } from "../../domain/accounts/account.js";
import { credits } from "../../domain/credits/credits.js";
import type { OrderId } from "../../domain/credits/order.js";
import type { AccountId } from "../../domain/ids.js";
import { RATE_LIMITS } from "../../domain/panorama-policy.js";
import { parseCreationRequest } from "../../domain/tasks/creation-request.js";
import { type Slug, viewerPath } from "../../domain/tasks/slug.js";
import type { SucceededTask, Task } from "../../domain/tasks/task.js";
import { CREATION_SETTINGS } from "./application.js";
import { builtClient } from "./built-client.js";
import { fastSecrets } from "./fast-secrets.js";
import { freePort } from "./free-port.js";
import { makeServer } from "./make-server.js";
import { UNMARKED } from "./unmarked.js";

export const PASSWORD = "correct horse battery";

export type Person = { readonly id: AccountId; readonly email: string; readonly key: string };

/** The test image: four quarters of a sphere, each of one colour, from the back towards the east. */
export const QUARTERS = ["#d02020", "#20a040", "#2040d0", "#e0c020"] as const;

let quartered: Promise<Buffer> | undefined;

/** A PNG file of 1024 × 512 pixels, painted once. */
export const quarteredImage = (): Promise<Buffer> => {
  quartered ??= paintQuarters();
  return quartered;
};

const paintQuarters = (): Promise<Buffer> => {
  const quarters = QUARTERS.map((background, index) => ({
    input: { create: { width: 256, height: 512, channels: 3 as const, background } },
    left: index * 256,
    top: 0,
  }));
  const canvas = sharp({ create: { width: 1024, height: 512, channels: 3, background: "white" } });
  return canvas.composite(quarters).png().toBuffer();
};

/** Returns a real image that imaging can process, with a recognisable colour in each quarter. */
class PaintingProvider extends ScriptedProvider {
  picture: () => Promise<Buffer> = quarteredImage;

  override download: ScriptedProvider["download"] = async (url) => {
    const scripted = await ScriptedProvider.prototype.download.call(this, url);
    if (this.script.download !== "image" && this.script.download !== "image_that_expires") return scripted;
    const bytes = await this.picture();
    return scripted.map((result) => ({ ...result, bytes }));
  };
}

type Settings = Pick<ApplicationSettings, "policy" | "signUp" | "gallery" | "welcomeCredits"> &
  Pick<WebSettings, "identity" | "legal" | "operatorEmail" | "receiptText" | "paymentText" | "suggestions">;

/**
 * The whole service on a free port: pages, REST interface and images, with stores in memory, files in a temporary
 * folder, a manual clock and a scripted provider.
 */
export class WebService {
  readonly url: string;
  readonly folder: string;
  readonly clock = new HandClock();
  readonly database = memoryDatabase();
  private readonly stores = memoryStores(this.clock, RATE_LIMITS, this.database);
  readonly tasks = this.stores.tasks;
  readonly accounts = this.stores.accounts;
  readonly orders = this.stores.orders;
  readonly keys = this.stores.keys;
  readonly ledger = this.stores.ledger;
  readonly sessions = this.stores.sessions;
  readonly links = this.stores.links;
  readonly endpoints = this.stores.endpoints;
  readonly deliveries = this.stores.deliveries;
  readonly mail = new RecordingMail();
  readonly webhookSender = new RecordingWebhookSender();
  readonly references = this.stores.references;
  readonly provider = new PaintingProvider();
  readonly signals = new InProcessTaskSignals();
  readonly reporter = new RecordingReporter();
  readonly generationTime = generationTime();
  readonly secrets = fastSecrets();
  readonly imaging = sharpImaging();
  readonly ids = new RandomIds();
  readonly failures: unknown[] = [];
  private readonly settings: Settings;
  /** The operator's choice of panoramas for the landing page. */
  readonly heroPanoramas: Slug[] = [];
  readonly rateLimits = this.stores.rateLimits;
  readonly keyUses = keyUses({ keys: this.keys, clock: this.clock });
  readonly storage: FilesystemObjectStorage;
  private readonly payments: Payments;
  private readonly sendsMail: boolean;
  readonly temporaryImages = new Map<string, Uint8Array>();
  /** All that webPages has made. */
  pages: readonly Page[] = [];
  private server: HttpServer | undefined;

  private constructor(
    url: string,
    folder: string,
    storage: FilesystemObjectStorage,
    { payments, sendsMail, ...settings }: { payments: Payments; sendsMail: boolean } & Settings,
  ) {
    this.url = url;
    this.folder = folder;
    this.storage = storage;
    this.payments = payments;
    this.sendsMail = sendsMail;
    this.settings = settings;
  }

  /** With `sendsMail`, sign-up confirms addresses. In both cases `mail` records the e-mails. */
  static async start(
    payments: Payments = new ManualPayments(),
    sendsMail = false,
    settings: Settings = {},
  ): Promise<WebService> {
    const folder = await mkdtemp(join(tmpdir(), "panorama-web-"));
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const storage = await filesystemObjectStorage({
      folder: join(folder, "objects"),
      assetUrl: `${url}/assets`,
      referenceUrl: "https://references.example/assets",
    });
    const service = new WebService(url, folder, storage, { ...settings, payments, sendsMail });
    await service.listen(port);
    return service;
  }

  /** Creates an account with credits, a password and an API key. */
  async person(name: string, amount = 100): Promise<Person> {
    const email = `${name}@example.com`;
    const opened = await openAccount(this)({
      email: email as Email,
      password: PASSWORD,
      credits: credits(amount),
      keyName: "first",
    });
    const { account, secret } = opened._unsafeUnwrap();
    return { id: account.id, email, key: secret ?? "" };
  }

  /** Creates a panorama and runs the background work once, so that it reaches the state of the provider's script. */
  async panorama(owner: Person, body: Readonly<Record<string, unknown>> = {}): Promise<Task> {
    const request = parseCreationRequest({ resolution: "1k", prompt: "four quarters", visibility: "public", ...body });
    const create = createPanorama(this, CREATION_SETTINGS);
    const { task } = (await create(owner.id, request._unsafeUnwrap()))._unsafeUnwrap();
    await this.work();
    return (await this.tasks.find(task.id, owner.id))!;
  }

  async kept(owner: Person, body: Readonly<Record<string, unknown>> = {}): Promise<SucceededTask> {
    const task = await this.panorama(owner, body);
    if (task.state !== "succeeded" || task.image.status !== "saved")
      throw new Error(`the image was not saved: ${JSON.stringify(this.reporter.events)}`);
    return task;
  }

  /** Runs the background work once: polls every submitted task and saves finished images. */
  async work(): Promise<void> {
    const limits = { leaseMilliseconds: 60_000, concurrency: 10 };
    await this.clock.advance(this.provider.nextPollMilliseconds());
    const generation = { ...limits, generationDeadlineMilliseconds: 600_000 };
    await settleSubmittedTasks(this, generation)();
    await checkGeneratedImages(this, { ...generation, resultBounds: {} })();
    await keepFinishedImages(this, limits)();
  }

  async payEveryOrder(): Promise<void> {
    for (const { id } of await this.database.sql("select id from credit_order"))
      (await payOrder(this)(id as OrderId))._unsafeUnwrap();
  }

  async end(): Promise<void> {
    await this.server?.stop(0);
    await rm(this.folder, { recursive: true, force: true });
  }

  private async listen(port: number): Promise<void> {
    const staticFolder = await builtClient();
    const { clock, storage, url, rateLimits, settings } = this;
    const application = createApplication({
      ports: {
        ...memoryPorts(clock),
        ...this.stores,
        ...this,
        payments: this.payments,
        providerWebhooks: new Map(),
      },
      settings: { ...CREATION_SETTINGS, ...settings, generationDeadlineMilliseconds: 600_000 },
    });
    const { policy } = application;
    const useCases = {
      ...application,
      accounts: { ...application.accounts, noteKeyUse: this.keyUses.note },
      panoramas: {
        ...application.panoramas,
        isLate: this.generationTime.isLate,
        forecast: forecastTask(this),
      },
    };
    const web = await webPages(
      {
        ...useCases,
        clock,
        rateLimits,
        images: storage,
        pictures: picturesOnDemand(storage, UNMARKED),
      },
      {
        publicUrl: url,
        staticFolder,
        mcp: { ...mcpConfigurations(url), packagePath: MCP_PACKAGE_PATH },
        ...settings,
        sendsMail: this.sendsMail,
        policy,
        signUpMode: settings.signUp ?? "open",
        heroPanoramas: this.heroPanoramas,
        describe: async (abilities) => openApiDocument(url, policy, abilities),
        legal: settings.legal ?? [],
      },
    );
    this.pages = web.pages;
    this.server = new HttpServer(
      {
        makeServer,
        ...useCases,
        clock,
        viewerUrl: (slug, visibility) => url + viewerPath(slug, visibility),
        web,
        storage,
        assets: storage,
        temporaryImage: async (name) => this.temporaryImages.get(name),
        mcpPackage: undefined,
        checks: async () => [],
        metrics: async () => "",
        observer: {
          run: (_requestId, work) => work(),
          finished: () => {},
          failed: (_requestId, error) => void this.failures.push(error),
          overloaded: () => {},
        },
        isDatabaseOverloaded: () => false,
      },
      {
        host: "127.0.0.1",
        port,
        publicUrl: url,
        uploadsFolder: join(this.folder, "uploads"),
        trustedProxies: parseTrustedProxies("127.0.0.1") ?? [],
        tls: undefined,
      },
    );
    await this.server.start();
  }
}
