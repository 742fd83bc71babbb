import type { UseCases } from "../../application/create-application.js";
import type { RequestKind } from "../../domain/panorama-policy.js";
import type { Page, WebSide } from "../web-page/page.js";
import { Overload } from "./limits/overload.js";
import { VisitorLimits } from "./limits/visitor-limits.js";
import type { Observer } from "./observer.js";
import type { MakeServer, Server, TlsFiles } from "./request-source.js";
import type { TrustedProxies } from "./requests/client-address.js";
import { Senders } from "./requests/senders.js";
import { addRestRoutes, type RestParts, type RestSettings } from "./route-table.js";
import { type Handler, Router } from "./router.js";
import { type Assets, assetRoute } from "./routes/asset-route.js";
import { type McpPackage, mcpPackageRoute } from "./routes/mcp-package-route.js";
import { type Dependency, healthRoute, metricsRoute, readinessRoute } from "./routes/operations-routes.js";
import { pageRoute } from "./routes/page-route.js";
import { peopleFallback } from "./routes/people-fallback.js";
import { type TemporaryImage, temporaryImageRoute } from "./routes/temporary-image-route.js";
import { prepareUploadsFolder } from "./routes/upload-images-route.js";
import { paymentWebhookRoute, providerWebhookRoute } from "./routes/webhook-routes.js";

export type HttpServerParts = RestParts & {
  readonly makeServer: MakeServer;
  readonly panoramas: Pick<UseCases["panoramas"], "receiveProviderWebhook" | "isHiddenImage">;
  readonly credits: Pick<UseCases["credits"], "receivePaymentWebhook">;
  readonly web: WebSide;
  /** Absent if a bucket serves the objects. */
  readonly assets: Assets | undefined;
  /** Absent if the provider has temporary URLs of its own. */
  readonly temporaryImage: TemporaryImage | undefined;
  /** Absent if the MCP server is not built. */
  readonly mcpPackage: McpPackage | undefined;
  readonly checks: () => Promise<readonly Dependency[]>;
  /** Returns the metrics in the Prometheus text format. */
  readonly metrics: () => Promise<string>;
  readonly observer: Observer;
  /** True if so much work waits for the database that new requests of this kind should be refused. */
  readonly isDatabaseOverloaded: (kind: RequestKind) => boolean;
};

export type HttpServerSettings = RestSettings & {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly trustedProxies: TrustedProxies;
  /** A second listener that serves only the assets, over HTTPS. */
  readonly tls: (TlsFiles & { readonly port: number }) | undefined;
};

/** All HTTP endpoints: the REST interface under `/api/v1`, webhooks, web pages, images, health checks and metrics. */
export class HttpServer {
  private readonly settings: HttpServerSettings;
  private readonly main: Router<Server>;
  private readonly secure: Router<Server> | undefined;
  private stopping = false;

  constructor(parts: HttpServerParts, settings: HttpServerSettings) {
    this.settings = settings;
    const senders = new Senders(settings.trustedProxies);
    const overload = new Overload(parts.isDatabaseOverloaded, senders);
    const { uploadsFolder, trustedProxies } = settings;
    const limits = new VisitorLimits(parts.clock);
    const { limited } = parts.web;
    const pageSettings = { uploadsFolder, trustedProxies, uploads: parts.policy.uploads, limits, limited };
    const mounted = (page: Page) => pageRoute(page, pageSettings);
    const fallback = peopleFallback(parts.web, mounted);
    this.main = new Router(parts.observer, parts.makeServer(), overload, fallback);
    this.secure = settings.tls && new Router(parts.observer, parts.makeServer(settings.tls), overload);
    addRestRoutes(this.main, parts, settings, senders);
    this.addWebhooks(parts);
    this.addPages(parts, mounted);
    this.addOperations(parts);
  }

  /** Resolves when every listener is open. If one cannot be opened, rejects with one sentence and closes the other. */
  async start(): Promise<void> {
    const { host, port, tls, uploadsFolder } = this.settings;
    await prepareUploadsFolder(uploadsFolder);
    await this.main.source.listen(host, port);
    try {
      if (tls !== undefined) await this.secure?.source.listen(host, tls.port);
    } catch (error) {
      await this.main.stop(0);
      throw error;
    }
  }

  get port(): number {
    return this.main.source.port;
  }

  get tlsPort(): number | undefined {
    return this.secure?.source.port;
  }

  /**
   * Stops accepting connections, and closes those of requests that are not answered within `deadlineMilliseconds`.
   * Behind a reverse proxy, answers requests on open connections for `proxyMilliseconds` before.
   */
  async stop(deadlineMilliseconds: number, proxyMilliseconds = 0): Promise<void> {
    this.stopping = true;
    await Promise.all(
      [this.main, this.secure].map((listener) => listener?.stop(deadlineMilliseconds, proxyMilliseconds)),
    );
  }

  private addWebhooks({ credits, panoramas }: HttpServerParts): void {
    this.main.route("post", "/payments/stripe", paymentWebhookRoute(credits.receivePaymentWebhook));
    this.main.route("post", "/hooks/:provider", providerWebhookRoute(panoramas.receiveProviderWebhook));
  }

  private addPages(
    { web, assets, temporaryImage, mcpPackage, panoramas: { isHiddenImage } }: HttpServerParts,
    mounted: (page: Page) => Handler,
  ): void {
    for (const page of web.pages) {
      const method = page.method === "GET" ? "get" : "post";
      this.main.route(method, page.path, mounted(page));
    }
    if (assets !== undefined) {
      for (const listener of [this.main, this.secure]) {
        listener?.route("get", "/assets/:folder/:file", assetRoute(assets, isHiddenImage), { logs: false });
      }
    }
    if (mcpPackage !== undefined) this.main.route("get", mcpPackage.path, mcpPackageRoute(mcpPackage));
    if (temporaryImage !== undefined) {
      const route = temporaryImageRoute(temporaryImage, isHiddenImage, this.settings.publicUrl);
      this.main.route("get", "/generations/:name", route);
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
