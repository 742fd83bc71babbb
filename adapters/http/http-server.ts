import type { AdmitApiRequest } from "../../application/accounts/admit-api-request.js";
import type { KeyUses } from "../../application/accounts/key-uses.js";
import type { ReceiveProviderWebhook } from "../../application/background/receive-provider-webhook.js";
import type { ReadCreditTotals } from "../../application/credits/read-credit-totals.js";
import type { ReceivePaymentWebhook } from "../../application/credits/receive-payment-webhook.js";
import type { StreamEvents } from "../../application/events/stream-events.js";
import type { CancelTask } from "../../application/panoramas/cancel-task.js";
import type { CheckUpload } from "../../application/panoramas/check-upload.js";
import type { CreatePanorama } from "../../application/panoramas/create-panorama.js";
import type { DeletePanorama } from "../../application/panoramas/delete-panorama.js";
import type { ListTasks } from "../../application/panoramas/list-tasks.js";
import type { UploadImages } from "../../application/panoramas/upload-images.js";
import type { WaitForTask } from "../../application/panoramas/wait-for-task.js";
import type { Clock } from "../../application/ports/clock.js";
import type { ObjectStorage } from "../../application/ports/object-storage.js";
import type { RequestKind } from "../../domain/panorama-policy.js";
import type { Page } from "../web-page/page.js";
import { type Assets, assetRoute } from "./asset-route.js";
import { cancelPanoramaRoute } from "./cancel-panorama-route.js";
import type { TrustedProxies } from "./client-address.js";
import { createPanoramaRoute } from "./create-panorama-route.js";
import { deletePanoramaRoute } from "./delete-panorama-route.js";
import { accountEventsRoute, taskEventsRoute } from "./events-route.js";
import { guard } from "./guard.js";
import { HeldStreams } from "./held-streams.js";
import { listPanoramasRoute } from "./list-panoramas-route.js";
import { Listener } from "./listener.js";
import { type McpPackage, mcpPackageRoute } from "./mcp-package-route.js";
import type { Observer } from "./observer.js";
import { openApiRoute } from "./openapi-route.js";
import { type Check, healthRoute, metricsRoute, readinessRoute } from "./operations-routes.js";
import { Overload } from "./overload.js";
import { pageRoute } from "./page-route.js";
import { paymentWebhookRoute } from "./payment-webhook-route.js";
import { providerWebhookRoute } from "./provider-webhook-route.js";
import { readCreditsRoute } from "./read-credits-route.js";
import { readPanoramaRoute, taskIdOf } from "./read-panorama-route.js";
import type { MakeServer, TlsFiles } from "./server.js";
import { type TemporaryImage, temporaryImageRoute } from "./temporary-image-route.js";
import { prepareUploadsFolder, uploadImagesRoute } from "./upload-images-route.js";

export type HttpServerParts = {
  readonly makeServer: MakeServer;
  readonly admitApiRequest: AdmitApiRequest;
  readonly createPanorama: CreatePanorama;
  readonly waitForTask: WaitForTask;
  readonly listTasks: ListTasks;
  readonly cancelTask: CancelTask;
  readonly deletePanorama: DeletePanorama;
  readonly checkUpload: CheckUpload;
  readonly uploadImages: UploadImages;
  readonly readCredits: ReadCreditTotals;
  readonly keyUses: Pick<KeyUses, "note">;
  readonly streamEvents: StreamEvents;
  readonly clock: Clock;
  readonly receivePaymentWebhook: ReceivePaymentWebhook;
  readonly receiveProviderWebhook: ReceiveProviderWebhook;
  /** The web pages. */
  readonly pages: readonly Page[];
  readonly storage: Pick<ObjectStorage, "urlOf">;
  /** Absent if a bucket serves the objects. */
  readonly assets: Assets | undefined;
  /** Absent if the provider has temporary URLs of its own. */
  readonly temporaryImage: TemporaryImage | undefined;
  /** Absent if the MCP server is not built. */
  readonly mcpPackage: McpPackage | undefined;
  readonly checks: () => Promise<readonly Check[]>;
  /** Returns the metrics in the Prometheus text format. */
  readonly metrics: () => Promise<string>;
  readonly observer: Observer;
  /** Whether so much work waits for the database that new requests of this kind should be refused. */
  readonly isDatabaseOverloaded: (kind: RequestKind) => boolean;
};

export type HttpServerSettings = {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Origin of viewer links, without a trailing slash. */
  readonly publicUrl: string;
  /** For uploads while they are received. Instances may share it. */
  readonly uploadsFolder: string;
  readonly trustedProxies: TrustedProxies;
  /** A second listener that serves only the assets, over HTTPS. */
  readonly tls: (TlsFiles & { readonly port: number }) | undefined;
};

/** All HTTP endpoints: the REST interface under `/api/v1`, webhooks, web pages, images, health checks and metrics. */
export class HttpServer {
  private readonly settings: HttpServerSettings;
  private readonly main: Listener;
  private readonly secure: Listener | undefined;
  private stopping = false;

  constructor(parts: HttpServerParts, settings: HttpServerSettings) {
    this.settings = settings;
    const overload = new Overload(parts.isDatabaseOverloaded);
    this.main = new Listener(parts.observer, parts.makeServer(), overload);
    this.secure = settings.tls && new Listener(parts.observer, parts.makeServer(settings.tls), overload);
    this.addInterface(parts);
    this.addWebhooks(parts);
    this.addPages(parts);
    this.addOperations(parts);
  }

  /** Resolves when every listener is open. If one cannot be opened, rejects with one sentence and closes the other. */
  async start(): Promise<void> {
    const { host, port, tls, uploadsFolder } = this.settings;
    await prepareUploadsFolder(uploadsFolder);
    await this.main.listen(host, port);
    try {
      if (tls !== undefined) await this.secure?.listen(host, tls.port);
    } catch (error) {
      await this.main.stop(0);
      throw error;
    }
  }

  get port(): number {
    return this.main.port;
  }

  get tlsPort(): number | undefined {
    return this.secure?.port;
  }

  /** Stops accepting connections, and closes those of requests that are not answered within `deadlineMilliseconds`. */
  async stop(deadlineMilliseconds: number): Promise<void> {
    this.stopping = true;
    await Promise.all([this.main.stop(deadlineMilliseconds), this.secure?.stop(deadlineMilliseconds)]);
  }

  private addInterface(parts: HttpServerParts): void {
    const { admitApiRequest, createPanorama, cancelTask, deletePanorama } = parts;
    const { waitForTask, listTasks, readCredits, keyUses, storage } = parts;
    const { publicUrl, uploadsFolder } = this.settings;
    const urls = { storage, publicUrl };
    const guarded = guard(admitApiRequest, keyUses);
    // Writes log lines; reads do not.
    const api = (method: "get" | "post" | "delete", path: string, handler: Parameters<Listener["route"]>[2]) =>
      this.main.route(method, `/api/v1${path}`, handler, { logs: method !== "get" });

    api("post", "/panoramas", guarded("write", createPanoramaRoute(createPanorama)));
    api("get", "/panoramas", guarded("read", listPanoramasRoute(listTasks, urls)));
    api("get", "/panoramas/:id", guarded("read", readPanoramaRoute(waitForTask, urls), taskIdOf));
    api("delete", "/panoramas/:id", guarded("write", deletePanoramaRoute(deletePanorama)));
    api("post", "/panoramas/:id/cancel", guarded("write", cancelPanoramaRoute(cancelTask, urls)));
    api("post", "/images", guarded("write", uploadImagesRoute(parts, uploadsFolder)));
    const streams = { ...parts, held: new HeldStreams() };
    api("get", "/panoramas/:id/events", guarded("read", taskEventsRoute(streams, urls), taskIdOf));
    api("get", "/events", guarded("read", accountEventsRoute(streams, urls)));
    api("get", "/credits", guarded("read", readCreditsRoute(readCredits)));
    api("get", "/openapi.json", openApiRoute(publicUrl));
  }

  private addWebhooks({ receivePaymentWebhook, receiveProviderWebhook }: HttpServerParts): void {
    this.main.route("post", "/payments/stripe", paymentWebhookRoute(receivePaymentWebhook));
    this.main.route("post", "/hooks/:provider", providerWebhookRoute(receiveProviderWebhook));
  }

  private addPages({ pages, assets, temporaryImage, mcpPackage }: HttpServerParts): void {
    const { uploadsFolder, trustedProxies } = this.settings;
    for (const page of pages) {
      const method = page.method === "GET" ? "get" : "post";
      this.main.route(method, page.path, pageRoute(page, uploadsFolder, trustedProxies));
    }
    if (assets !== undefined) {
      for (const listener of [this.main, this.secure]) {
        listener?.route("get", "/assets/:folder/:file", assetRoute(assets), { logs: false });
      }
    }
    if (mcpPackage !== undefined) this.main.route("get", mcpPackage.path, mcpPackageRoute(mcpPackage));
    if (temporaryImage !== undefined) {
      this.main.route("get", "/generations/:name", temporaryImageRoute(temporaryImage));
    }
  }

  private addOperations({ checks, metrics }: HttpServerParts): void {
    // A load balancer must not take an overloaded instance for a broken one.
    const always = { sheds: false };
    this.main.route("get", "/healthz", healthRoute, always);
    this.main.route(
      "get",
      "/readyz",
      readinessRoute(checks, () => this.stopping),
      always,
    );
    this.main.route("get", "/metrics", metricsRoute(metrics), always);
  }
}
