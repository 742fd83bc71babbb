import type { AdmitApiRequest } from "../../application/accounts/admit-api-request.js";
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

/** What the routes of the REST interface call. */
export type RestUseCases = {
  readonly admitApiRequest: AdmitApiRequest;
  readonly createPanorama: CreatePanorama;
  readonly waitForTask: WaitForTask;
  readonly listTasks: ListTasks;
  readonly cancelTask: CancelTask;
  readonly deletePanorama: DeletePanorama;
  readonly checkUpload: CheckUpload;
  readonly uploadImages: UploadImages;
  readonly readCreditTotals: ReadCreditTotals;
  readonly keyUses: Pick<KeyUses, "note">;
  readonly streamEvents: StreamEvents;
};
