import { ContainerModule } from "inversify";
import { cancelTask } from "../../application/panoramas/cancel-task.js";
import { changeVisibility } from "../../application/panoramas/change-visibility.js";
import { checkUpload } from "../../application/panoramas/check-upload.js";
import { createPanorama } from "../../application/panoramas/create-panorama.js";
import { deletePanorama } from "../../application/panoramas/delete-panorama.js";
import { findOwnPanorama } from "../../application/panoramas/find-own-panorama.js";
import { findPublicPanorama } from "../../application/panoramas/find-public-panorama.js";
import { generationTime } from "../../application/panoramas/generation-time.js";
import { listPublicPanoramas } from "../../application/panoramas/list-public-panoramas.js";
import { listTasks } from "../../application/panoramas/list-tasks.js";
import { retryFailedImages } from "../../application/panoramas/retry-failed-images.js";
import { retryImage } from "../../application/panoramas/retry-image.js";
import { uploadImages } from "../../application/panoramas/upload-images.js";
import { waitForTask } from "../../application/panoramas/wait-for-task.js";
import { provide } from "../provide.js";
import { submissionDeadlineMilliseconds } from "../submission-deadline.js";
import { tokens } from "../tokens.js";

/** The use cases about panoramas and their tasks. */
export const panoramas = new ContainerModule(({ bind }) => {
  const { config, tasks, references, provider, storage, imaging, clock, ids, secrets, signals, reporter } = tokens;

  provide(bind, tokens.generationTime, { signals }, ({ signals }) => {
    const time = generationTime();
    signals.subscribe((task) => time.add(task));
    return time;
  });
  provide(
    bind,
    tokens.createPanorama,
    {
      config,
      tasks,
      provider,
      generationTime: tokens.generationTime,
      storage,
      clock,
      ids,
      secrets,
      signals,
      reporter,
      ensureDefaultEndpoint: tokens.ensureDefaultEndpoint,
    },
    ({ config, ...ports }) =>
      createPanorama(ports, {
        submissionDeadlineMilliseconds: submissionDeadlineMilliseconds(config),
        queueDeadlineMilliseconds: config.generationDeadlineMilliseconds,
        queueMax: config.queueMax,
      }),
  );
  provide(bind, tokens.checkUpload, { references }, checkUpload);
  provide(bind, tokens.uploadImages, { references, storage, imaging, secrets, clock, ids }, uploadImages);

  provide(bind, tokens.waitForTask, { tasks, clock, signals }, waitForTask);
  provide(bind, tokens.cancelTask, { tasks, provider, clock, signals, reporter }, cancelTask);
  provide(bind, tokens.listTasks, { tasks }, listTasks);
  provide(bind, tokens.findOwnPanorama, { tasks }, findOwnPanorama);
  provide(bind, tokens.findPublicPanorama, { tasks }, findPublicPanorama);
  provide(bind, tokens.listPublicPanoramas, { tasks }, listPublicPanoramas);

  provide(bind, tokens.changeVisibility, { tasks }, changeVisibility);
  provide(bind, tokens.deletePanorama, { tasks, storage, clock }, deletePanorama);
  provide(bind, tokens.retryImage, { tasks, clock }, retryImage);
  provide(bind, tokens.retryFailedImages, { tasks, clock }, retryFailedImages);
});
