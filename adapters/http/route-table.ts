import type { ViewerUrl } from "../../application/application-settings.js";
import type { UseCases } from "../../application/create-application.js";
import type { Clock } from "../../application/ports/clock.js";
import type { ObjectStorage } from "../../application/ports/object-storage.js";
import type { PanoramaPolicy } from "../../domain/panorama-policy.js";
import { OpenStreams } from "./limits/open-requests.js";
import { VisitorLimits } from "./limits/visitor-limits.js";
import { openApiRoute } from "./openapi/openapi-route.js";
import type { Senders } from "./requests/senders.js";
import type { Handler, Router } from "./router.js";
import { createPanoramaRoute } from "./routes/create-panorama-route.js";
import { listEntriesRoute, readCreditsRoute } from "./routes/credits-routes.js";
import { accountEventsRoute, taskEventsRoute } from "./routes/events-route.js";
import { guard } from "./routes/guard.js";
import { listPanoramasRoute } from "./routes/list-panoramas-route.js";
import { otherMethodRoute } from "./routes/other-method-route.js";
import {
  cancelPanoramaRoute,
  deletePanoramaRoute,
  readAbilitiesRoute,
  readPanoramaRoute,
} from "./routes/panorama-routes.js";
import { uploadImagesRoute } from "./routes/upload-images-route.js";

/** Use cases that the routes call. */
export type RestParts = {
  readonly accounts: UseCases["accounts"];
  readonly panoramas: UseCases["panoramas"];
  readonly credits: UseCases["credits"];
  readonly events: UseCases["events"];
  readonly clock: Clock;
  readonly storage: Pick<ObjectStorage, "urlOf">;
  /** The prices and limits that the use cases apply. */
  readonly policy: PanoramaPolicy;
  /** Origins at which a `webhook_url` may use http. Default: none. */
  readonly webhookPrivateOrigins?: readonly string[] | undefined;
  /** URL of the page of a panorama. Default: tasks have no `viewer_url`. */
  readonly viewerUrl?: ViewerUrl | undefined;
  /** Hours until an unused uploaded image is deleted, for the OpenAPI description. Default: not stated. */
  readonly referenceRetentionHours?: number | undefined;
};

export type RestSettings = {
  /** Origin of the interface, without a trailing slash. */
  readonly publicUrl: string;
  /** For uploads while they are received. Instances may share it. */
  readonly uploadsFolder: string;
};

/** Adds the routes of the REST interface, below `/api/v1`. */
export const addRestRoutes = (
  router: Pick<Router, "route" | "otherMethods">,
  parts: RestParts,
  { publicUrl, uploadsFolder }: RestSettings,
  senders: Senders,
): void => {
  const { accounts, panoramas, credits, storage, policy, webhookPrivateOrigins = [], viewerUrl } = parts;
  const urls = { storage, viewerUrl };
  const visitorLimits = new VisitorLimits(parts.clock);
  const { guarded, guardedTask } = guard({ accounts, rates: policy.rates, senders, visitorLimits });
  const methods = new Map<string, readonly string[]>();
  // Writes log lines; reads do not.
  const api = (method: "get" | "post" | "delete", path: string, handler: Handler) => {
    router.route(method, `/api/v1${path}`, handler, { logs: method !== "get" });
    methods.set(path, [...(methods.get(path) ?? []), ...(method === "get" ? ["GET", "HEAD"] : [method.toUpperCase()])]);
  };

  api("post", "/panoramas", guarded("write", createPanoramaRoute(panoramas, publicUrl, webhookPrivateOrigins)));
  api("get", "/panoramas", guarded("read", listPanoramasRoute(panoramas, urls)));
  api("get", "/panoramas/:id", guardedTask(readPanoramaRoute(accounts, panoramas, urls)));
  api("delete", "/panoramas/:id", guarded("write", deletePanoramaRoute(panoramas)));
  api("post", "/panoramas/:id/cancel", guarded("write", cancelPanoramaRoute(panoramas, urls)));
  api("post", "/images", guarded("write", uploadImagesRoute(parts, uploadsFolder)));
  const streamParts = { ...parts, streams: new OpenStreams() };
  api("get", "/panoramas/:id/events", guardedTask(taskEventsRoute(streamParts, urls)));
  api("get", "/events", guarded("read", accountEventsRoute(streamParts, urls)));
  api("get", "/abilities", guarded("read", readAbilitiesRoute(panoramas)));
  api("get", "/credits", guarded("read", readCreditsRoute(credits)));
  api("get", "/credits/entries", guarded("read", listEntriesRoute(credits)));
  api("get", "/openapi.json", openApiRoute("3.1", publicUrl, parts));
  api("get", "/openapi-3.0.json", openApiRoute("3.0", publicUrl, parts));
  for (const [path, known] of methods) router.otherMethods(`/api/v1${path}`, otherMethodRoute(known));
};
