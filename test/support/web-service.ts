import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { openApiDocument } from "../../adapters/http/openapi/openapi-document.js";
import { parseTrustedProxies } from "../../adapters/http/requests/client-address.js";
import { picturesOnDemand } from "../../adapters/imaging/pictures-on-demand.js";
import { sharpImaging } from "../../adapters/imaging/sharp-imaging.js";
import { MCP_PACKAGE_PATH, mcpConfigurations } from "../../adapters/mcp/mcp-configuration.js";
import { RecordingMail, RecordingWebhookSender } from "../../adapters/memory/recording-ports.js";
import { ScriptedProvider } from "../../adapters/memory/scripted-provider.js";
import { ManualPayments } from "../../adapters/payments/manual-payments.js";
import {
  type FilesystemObjectStorage,
  filesystemObjectStorage,
} from "../../adapters/storage/filesystem-object-storage.js";
import { type WebSettings, webPages } from "../../adapters/web/web-pages.js";
import type { Page } from "../../adapters/web-page/page.js";
import type { ApplicationSettings } from "../../application/application-settings.js";
import { orders } from "../../application/credits/orders.js";
import { creations } from "../../application/panoramas/creations.js";
import type { Payments } from "../../application/ports/payments.js";
import type { OrderId } from "../../domain/credits/order.js";
import type { AccountId } from "../../domain/ids.js";
import { parseCreationRequest } from "../../domain/tasks/creation-request.js";
import type { Slug } from "../../domain/tasks/slug.js";
import type { SucceededTask, Task } from "../../domain/tasks/task.js";
import { CREATION_SETTINGS } from "./application.js";
import { builtClient } from "./built-client.js";
import { fastSecrets } from "./fast-secrets.js";
import { freePort } from "./free-port.js";
import { TestService } from "./test-service.js";
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
  Pick<
    WebSettings,
    "identity" | "legal" | "operatorEmail" | "receiptText" | "paymentText" | "demoCommand" | "suggestions" | "readWords"
  >;

/**
 * The whole service on a free port: pages, REST interface and images, with files in a temporary folder.
 */
export class WebService extends TestService {
  readonly url: string;
  readonly sessions = this.stores.sessions;
  readonly links = this.stores.links;
  readonly mail = new RecordingMail();
  readonly webhookSender = new RecordingWebhookSender();
  readonly provider = new PaintingProvider();
  readonly secrets = fastSecrets();
  readonly imaging = sharpImaging();
  /** The operator's choice of panoramas for the landing page. */
  readonly heroPanoramas: Slug[] = [];
  readonly storage: FilesystemObjectStorage;
  /** All that webPages has made. */
  pages: readonly Page[] = [];

  private constructor(url: string, folder: string, storage: FilesystemObjectStorage) {
    super(folder);
    this.url = url;
    this.storage = storage;
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
    const service = new WebService(url, folder, storage);
    const useCases = service.useCases(payments, settings);
    const web = await service.webSide(useCases, sendsMail, settings);
    const trustedProxies = parseTrustedProxies("127.0.0.1") ?? [];
    await service.serve({ ...useCases, web, assets: storage }, { port, publicUrl: url, trustedProxies });
    return service;
  }

  /** Creates an account with credits, a password and an API key. */
  person(name: string, amount = 100): Promise<Person> {
    return this.opened(`${name}@example.com`, amount, "first", PASSWORD);
  }

  /** Creates a panorama and runs the background work once, so that it reaches the state of the provider's script. */
  async panorama(owner: Person, body: Readonly<Record<string, unknown>> = {}): Promise<Task> {
    const request = parseCreationRequest({ resolution: "1k", prompt: "four quarters", visibility: "public", ...body });
    const { create } = creations(this, CREATION_SETTINGS);
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
    await this.settle();
    await this.keep();
  }

  async payEveryOrder(): Promise<void> {
    for (const { id } of await this.database.sql("select id from credit_order"))
      (await orders(this).payOrder(id as OrderId))._unsafeUnwrap();
  }

  private async webSide(useCases: ReturnType<WebService["useCases"]>, sendsMail: boolean, settings: Settings) {
    const { clock, rateLimits, storage, url } = this;
    const { policy } = useCases;
    const pictures = picturesOnDemand(storage, UNMARKED);
    const web = await webPages(
      { ...useCases, clock, rateLimits, images: storage, pictures },
      {
        publicUrl: url,
        staticFolder: await builtClient(),
        mcp: { ...mcpConfigurations(url), packagePath: MCP_PACKAGE_PATH },
        ...settings,
        sendsMail,
        policy,
        signUpMode: settings.signUp ?? "open",
        heroPanoramas: this.heroPanoramas,
        describe: async (abilities) => openApiDocument(url, policy, abilities),
        legal: settings.legal ?? [],
      },
    );
    this.pages = web.pages;
    return web;
  }
}
