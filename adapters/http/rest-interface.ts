import type { AdmitApiRequest } from "../../application/accounts/admit-api-request.js";
import type { HeldKeys } from "../../application/accounts/held-keys.js";
import type { KeyUses } from "../../application/accounts/key-uses.js";
import type { ReadCreditTotals } from "../../application/credits/read-credit-totals.js";
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
import type { PanoramaPolicy } from "../../domain/panorama-policy.js";
import { cancelPanoramaRoute } from "./cancel-panorama-route.js";
import { createPanoramaRoute } from "./create-panorama-route.js";
import { deletePanoramaRoute } from "./delete-panorama-route.js";
import { accountEventsRoute, taskEventsRoute } from "./events-route.js";
import { guard } from "./guard.js";
import { HeldStreams } from "./held-streams.js";
import { listPanoramasRoute } from "./list-panoramas-route.js";
import { openApiRoute } from "./openapi-route.js";
import { readCreditsRoute } from "./read-credits-route.js";
import { readPanoramaRoute, taskIdOf } from "./read-panorama-route.js";
import type { Handler, Routes } from "./routes.js";
import type { Senders } from "./senders.js";
import { uploadImagesRoute } from "./upload-images-route.js";
import { VisitorLimits } from "./visitor-limits.js";

/** What the routes call. */
export type RestParts = {
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
  readonly heldKeys: Pick<HeldKeys, "hold">;
  readonly streamEvents: StreamEvents;
  readonly clock: Clock;
  readonly storage: Pick<ObjectStorage, "urlOf">;
  /** The prices and limits that the use cases apply. */
  readonly policy: PanoramaPolicy;
  /** Origins at which a `webhook_url` may use http. Default: none. */
  readonly webhookPrivateOrigins?: readonly string[] | undefined;
};

export type RestSettings = {
  /** Origin of viewer links, without a trailing slash. */
  readonly publicUrl: string;
  /** For uploads while they are received. Instances may share it. */
  readonly uploadsFolder: string;
};

/** Adds the routes of the REST interface, below `/api/v1`. */
export const addRestInterface = (
  routes: Pick<Routes, "route">,
  parts: RestParts,
  { publicUrl, uploadsFolder }: RestSettings,
  senders: Senders,
): void => {
  const { admitApiRequest, createPanorama, cancelTask, deletePanorama } = parts;
  const { waitForTask, listTasks, readCredits, keyUses, heldKeys, storage, policy, webhookPrivateOrigins = [] } = parts;
  const urls = { storage, publicUrl };
  const limits = new VisitorLimits(parts.clock);
  const guarded = guard({ admitApiRequest, uses: keyUses, rates: policy.rates, senders, limits });
  // Writes log lines; reads do not.
  const api = (method: "get" | "post" | "delete", path: string, handler: Handler) =>
    routes.route(method, `/api/v1${path}`, handler, { logs: method !== "get" });

  api("post", "/panoramas", guarded("write", createPanoramaRoute(createPanorama, publicUrl, webhookPrivateOrigins)));
  api("get", "/panoramas", guarded("read", listPanoramasRoute(listTasks, urls)));
  api("get", "/panoramas/:id", guarded("read", readPanoramaRoute(waitForTask, heldKeys, urls), taskIdOf));
  api("delete", "/panoramas/:id", guarded("write", deletePanoramaRoute(deletePanorama)));
  api("post", "/panoramas/:id/cancel", guarded("write", cancelPanoramaRoute(cancelTask, urls)));
  api("post", "/images", guarded("write", uploadImagesRoute(parts, uploadsFolder)));
  const streams = { ...parts, held: new HeldStreams() };
  api("get", "/panoramas/:id/events", guarded("read", taskEventsRoute(streams, urls), taskIdOf));
  api("get", "/events", guarded("read", accountEventsRoute(streams, urls)));
  api("get", "/credits", guarded("read", readCreditsRoute(readCredits)));
  api("get", "/openapi.json", openApiRoute(publicUrl, policy));
};
