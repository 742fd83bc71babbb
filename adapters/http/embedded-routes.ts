import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import type { Duplex } from "node:stream";
import { openKeys } from "../../application/accounts/api-requests.js";
import type { ViewerUrl } from "../../application/application-settings.js";
import type { UseCases } from "../../application/create-application.js";
import type { Clock } from "../../application/ports/clock.js";
import type { ObjectStorage } from "../../application/ports/object-storage.js";
import type { PanoramaPolicy, RequestKind } from "../../domain/panorama-policy.js";
import { SystemClock } from "../system/system-clock.js";
import { Overload } from "./limits/overload.js";
import type { Observer } from "./observer.js";
import type { RequestSource } from "./request-source.js";
import type { Cors } from "./requests/allow-origin.js";
import { parseTrustedProxies } from "./requests/client-address.js";
import { Senders } from "./requests/senders.js";
import { addRestRoutes, type RestParts } from "./route-table.js";
import { Router } from "./router.js";
import { type Assets, assetRoute } from "./routes/asset-route.js";
import { temporaryImageRoute } from "./routes/temporary-image-route.js";
import { prepareUploadsFolder } from "./routes/upload-images-route.js";
import { paymentWebhookRoute, providerWebhookRoute } from "./routes/webhook-routes.js";
import { FetchRequests } from "./servers/fetch/fetch-requests.js";
import { MountedRequests } from "./servers/node-server/mounted-requests.js";

/** A group in which some use cases may be absent. */
type Without<Group, Name extends keyof Group> = Omit<Group, Name> & {
  readonly [Absent in Name]?: Group[Absent] | undefined;
};

/**
 * The use cases of the routes, as `createApplication` returns them. Without one that may be absent, its route does not
 * exist; without `watchKey`, only the expiry of its API key ends a stream or a wait early.
 */
export type RestUseCases = {
  readonly accounts: Without<UseCases["accounts"], "watchKey">;
  /**
   * `receiveProviderWebhook`: `POST /hooks/{provider}`. `isHiddenImage`: which images are not served, because an
   * operator has hidden their panorama; without it all are.
   */
  readonly panoramas: Without<UseCases["panoramas"], "receiveProviderWebhook" | "isHiddenImage">;
  /** `receivePaymentWebhook`: `POST /payments/stripe`. */
  readonly credits: Without<UseCases["credits"], "receivePaymentWebhook">;
  readonly events: UseCases["events"];
  /** The prices and limits that the use cases apply. */
  readonly policy: PanoramaPolicy;
  /** Origins at which a `webhook_url` may use http. Default: none. */
  readonly webhookPrivateOrigins?: readonly string[] | undefined;
  /** URL of the page of a panorama. Default: tasks have no `viewer_url`. */
  readonly viewerUrl?: ViewerUrl | undefined;
  /** Hours until an unused uploaded image is deleted, for the OpenAPI description. Default: not stated. */
  readonly referenceRetentionHours?: number | undefined;
};

/** Mount options of the routes. `publicUrl` and `storage` are required. */
export type RestRoutesOptions = {
  /**
   * URL of the routes for clients: an origin with `basePath`, without a trailing slash, such as
   * `https://example.com/panoramas`. The OpenAPI description begins with it.
   */
  readonly publicUrl: string;
  /** The object storage of the use cases. */
  readonly storage: Pick<ObjectStorage, "urlOf">;
  /** Path before `/api/v1`, such as `/panoramas`. Default: none. */
  readonly basePath?: string | undefined;
  /** Pages of these origins may call the routes from browsers. Default: only pages of the same origin. */
  readonly cors?: Cors | undefined;
  /** For uploads while they are received. Default: the folder of the operating system for temporary files. */
  readonly uploadsFolder?: string | undefined;
  /** Serves the objects of a storage in files as `/assets/{folder}/{file}`. */
  readonly assets?: Assets | undefined;
  /** Serves the temporary images of the local provider as `/generations/{name}`. */
  readonly temporaryImage?: ((name: string) => Promise<Uint8Array | undefined>) | undefined;
  /**
   * Proxies in front of your server, as addresses or networks such as `10.0.0.0/8`: requests with invalid keys are
   * limited for each network, and behind these it is taken from `x-forwarded-for`. By default those on the same
   * machine.
   */
  readonly trustedProxies?: readonly string[] | undefined;
  /** For a log and metrics. By default unexpected errors are written to the standard error output. */
  readonly observer?: Observer | undefined;
  /** Requests of a kind for which it returns `true` are refused with 429. By default none. */
  readonly isDatabaseOverloaded?: ((kind: RequestKind) => boolean) | undefined;
  /** Default: the clock of the operating system. */
  readonly clock?: Clock | undefined;
};

/** The routes, ready for the requests of your server. The functions need no `this`. */
export type RestRoutes = {
  /**
   * Answers a request of `node:http` or `node:https`, or calls `next` if it has no route for it. Without `next` such a
   * request is answered with 404. Throws if something has read the body before. Usable as the listener of
   * `createServer`, and as a middleware of Connect and Express.
   */
  readonly handle: (request: IncomingMessage, response: ServerResponse, next?: () => void) => void;
  /**
   * A listener for the event `clientError` of your server: answers what cannot be parsed as HTTP with the JSON of an
   * error, instead of the empty 400 of Node.js. Give it only to a server whose clients expect JSON everywhere.
   */
  readonly clientError: (error: Error, socket: Duplex) => void;
  /**
   * Ends long waits and event streams, and resolves when every request in flight is answered. After
   * `deadlineMilliseconds`, closes the connections of those that are not. Call `server.close()` first, so that no new
   * ones come.
   */
  readonly stop: (deadlineMilliseconds: number) => Promise<void>;
};

/**
 * The REST interface under `/api/v1` for a `node:http` server of your own: the same routes, limits and answers as in
 * the service. `application` is what `createApplication` returns, or an object with these use cases. Rejects if
 * `uploadsFolder` cannot be written.
 */
export const restRoutes = async (application: RestUseCases, options: RestRoutesOptions): Promise<RestRoutes> => {
  const requests = new MountedRequests(basePathOf(options), options.cors);
  const { stop } = await mount(requests, application, options);
  return {
    handle: (request, response, next) => requests.handle(request, response, next),
    clientError: (error, socket) => requests.malformed(error, socket),
    stop,
  };
};

/** The routes as a function of the Fetch standard. */
export type FetchRoutes = Pick<RestRoutes, "stop"> & {
  /**
   * Answers a request, with 404 if it has no route. Rejects if something has read its body before. Needs no `this`.
   */
  readonly fetch: (request: Request) => Promise<Response>;
};

/** Mount options for requests of the Fetch standard. */
export type FetchRoutesOptions = RestRoutesOptions & {
  /**
   * The IP address from which a request was sent, as your server tells it. Default: that of a proxy on this machine, so
   * that `x-forwarded-for` counts.
   */
  readonly peerAddressOf?: ((request: Request) => string | undefined) | undefined;
};

/** `restRoutes` for Hono, Next, Bun, Deno and others that pass a `Request` and send a `Response`. */
export const fetchRoutes = async (application: RestUseCases, options: FetchRoutesOptions): Promise<FetchRoutes> => {
  const { peerAddressOf = () => undefined } = options;
  const requests = new FetchRequests(basePathOf(options), options.cors);
  const { stop } = await mount(requests, application, options);
  return { fetch: async (request) => requests.handle(request, peerAddressOf(request) ?? "::1"), stop };
};

const basePathOf = ({ basePath = "" }: RestRoutesOptions): string => {
  if (/^(\/[^/?#:]+)*$/.test(basePath)) return basePath;
  throw new TypeError(`basePath must be empty or as in "/panoramas", and is ${JSON.stringify(basePath)}.`);
};

const mount = async (
  requests: RequestSource,
  application: RestUseCases,
  options: RestRoutesOptions,
): Promise<Pick<RestRoutes, "stop">> => {
  const { publicUrl, storage, assets, temporaryImage, trustedProxies = THIS_MACHINE } = options;
  const { observer = ON_STDERR, isDatabaseOverloaded = () => false, clock = new SystemClock() } = options;
  const proxies = parseTrustedProxies(trustedProxies.join(","));
  if (proxies === undefined && trustedProxies.length > 0) {
    throw new TypeError(`trustedProxies must be addresses and networks, and is ${JSON.stringify(trustedProxies)}.`);
  }
  const { uploadsFolder = tmpdir() } = options;
  if (options.uploadsFolder !== undefined) await prepareUploadsFolder(uploadsFolder);

  const senders = new Senders(proxies ?? []);
  const router = new Router(observer, requests, new Overload(isDatabaseOverloaded, senders));
  const { accounts, panoramas, credits } = application;
  const { watchKey = openKeys({ clock }).watch } = accounts;
  // The REST interface calls none of those that may be absent: they are added here. Whole groups let an editor follow a
  // call from a route to its use case.
  const parts = { ...application, accounts: { ...accounts, watchKey }, clock, storage } as RestParts;
  addRestRoutes(router, parts, { publicUrl, uploadsFolder }, senders);
  const { receiveProviderWebhook, isHiddenImage = async () => false } = panoramas;
  const { receivePaymentWebhook } = credits;
  if (receivePaymentWebhook) router.route("post", "/payments/stripe", paymentWebhookRoute(receivePaymentWebhook));
  if (receiveProviderWebhook) router.route("post", "/hooks/:provider", providerWebhookRoute(receiveProviderWebhook));
  if (assets) router.route("get", "/assets/:folder/:file", assetRoute(assets, isHiddenImage), { logs: false });
  if (temporaryImage) {
    router.route("get", "/generations/:name", temporaryImageRoute(temporaryImage, isHiddenImage, publicUrl));
  }
  return { stop: (deadlineMilliseconds) => router.stop(deadlineMilliseconds) };
};

const THIS_MACHINE = ["127.0.0.0/8", "::1"];

const ON_STDERR: Observer = {
  run: (_requestId, work) => void work(),
  finished: () => {},
  failed: (requestId, error) => console.error(`Request ${requestId} failed:`, error),
  overloaded: () => {},
};
