import type { AdmitApiRequest } from "../../application/accounts/admit-api-request.js";
import type { HeldKeys } from "../../application/accounts/held-keys.js";
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
import type { PanoramaPolicy } from "../../domain/panorama-policy.js";

/** The use cases that the routes call, grouped as by the application. Without an optional one, its route does not exist. */
export type RestUseCases = {
  /** The prices and limits that the use cases apply. Default: those of the specification. */
  readonly policy?: PanoramaPolicy | undefined;
  /** Origins at which a `webhook_url` may use http. Default: none. */
  readonly webhookPrivateOrigins?: readonly string[] | undefined;
  readonly accounts: {
    readonly admitApiRequest: AdmitApiRequest;
    readonly noteKeyUse: KeyUses["note"];
    /** Without it, only the expiry of its API key ends a stream or a wait early. */
    readonly holdKey?: HeldKeys["hold"] | undefined;
  };
  readonly panoramas: {
    readonly create: CreatePanorama;
    readonly waitFor: WaitForTask;
    readonly list: ListTasks;
    readonly cancel: CancelTask;
    readonly delete: DeletePanorama;
    readonly checkUpload: CheckUpload;
    readonly uploadImages: UploadImages;
    /** `POST /hooks/{provider}`. */
    readonly receiveProviderWebhook?: ReceiveProviderWebhook | undefined;
  };
  readonly credits: {
    readonly readTotals: ReadCreditTotals;
    /** `POST /payments/stripe`. */
    readonly receivePaymentWebhook?: ReceivePaymentWebhook | undefined;
  };
  readonly events: { readonly stream: StreamEvents };
};
