import { createHash } from "node:crypto";
import type { FailureCause } from "../../../application/ports/generation-provider.js";
import type { TaskId } from "../../../domain/ids.js";
import type { PixelSize } from "../../../domain/images/resolution.js";
import type { DigitalSourceType } from "../../../domain/images/source-type.js";
import { decoding } from "../../system/load-sharp.js";
import { sourceTypeXmp } from "../../system/source-type-xmp.js";
import { photoSidePixels } from "../photo-views.js";
import type { Job, JobFailure } from "./job-folder.js";
import type { PaintingFailed, PaintPool } from "./paint-pool.js";
import { sceneOf } from "./painter/scene-of.js";
import { type LoadedReference, REFERENCE_BYTES_MAX, type ReferenceImages } from "./reference-images.js";
import { type SandboxTrigger, sandboxTriggerOf } from "./result-name.js";

const JPEG = { quality: 92, chromaSubsampling: "4:4:4" };
/** Failures that these triggers simulate. */
const CAUSES: Readonly<Partial<Record<SandboxTrigger, FailureCause>>> = {
  content: "content_refused",
  reference: "reference_unusable",
  unreachable: "reference_unreachable",
  timeout: "deadline_passed",
  "queue-timeout": "never_started",
  unavailable: "provider_unavailable",
};

/** What painting needs. */
export type PainterParts = {
  readonly references: ReferenceImages;
  readonly pool: PaintPool;
  /** Marks a painted JPEG. */
  readonly sign?: ((jpeg: Uint8Array, sourceType: DigitalSourceType) => Promise<Uint8Array>) | undefined;
};

/**
 * Paints the picture of a job. `undefined` if it was stopped, or if this process is shutting down: then the next one
 * paints it.
 */
export async function paintJob(
  { references: images, pool, sign = async (jpeg) => jpeg }: PainterParts,
  taskId: TaskId,
  job: Job,
  signal: AbortSignal,
): Promise<Uint8Array | JobFailure | undefined> {
  const { owner = taskId, widthPixels, heightPixels, imageUrls } = job;
  const trigger = sandboxTriggerOf(job.prompt);
  const cause = trigger && CAUSES[trigger];
  if (trigger === "fail" || cause !== undefined) {
    const isAboutImage = cause === "reference_unusable" || cause === "reference_unreachable";
    const imageIndex = isAboutImage && imageUrls.length > 0 ? imageUrls.length - 1 : undefined;
    return { reason: "the prompt asked for a failure", cause, imageIndex };
  }
  if (trigger === "unusable") return Buffer.from("The prompt asked for what is no picture.");

  const size = { widthPixels, heightPixels };
  if (trigger === "plain") return sign(await plain(job, size), "algorithmicMedia");
  const sidePixels = photoSidePixels(widthPixels);
  const panoramaSize = imageUrls.length === 1 ? size : undefined;
  const referencePixels = panoramaSize ? widthPixels * heightPixels : imageUrls.length * sidePixels ** 2;
  const extraBytes = imageUrls.length === 0 ? 0 : REFERENCE_BYTES_MAX + 3 * referencePixels;
  const done = await pool.run({ size, owner, extraBytes, signal }, async (paint) => {
    const references: LoadedReference[] = [];
    for (const [imageIndex, url] of imageUrls.entries()) {
      const reference = await images.load(url, sidePixels, signal, panoramaSize);
      if (signal.aborted) return undefined;
      if (reference.isErr()) return { ...reference.error, imageIndex };
      references.push(reference.value);
    }
    const painted = await paint(sceneOf(job.prompt, references, job.seed), references);
    if (painted.isErr()) return endOf(painted.error);
    const isDrawn = references.every((reference) => reference.isDrawn);
    const sourceType = isDrawn ? "algorithmicMedia" : "compositeWithTrainedAlgorithmicMedia";
    return sign(await encoded(painted.value, size, sourceType), sourceType);
  });
  return done.isErr() ? endOf(done.error) : done.value;
}

const endOf = ({ kind, reason }: PaintingFailed): JobFailure | undefined =>
  kind === "crashed" ? { reason } : undefined;

const encoded = (
  pixels: Uint8Array,
  { widthPixels: width, heightPixels: height }: PixelSize,
  sourceType: DigitalSourceType,
): Promise<Uint8Array> =>
  decoding((sharp) =>
    sharp(pixels, { raw: { width, height, channels: 3 } })
      .withXmp(sourceTypeXmp(sourceType))
      .jpeg(JPEG)
      .toBuffer(),
  );

/** Two colours that follow from prompt and seed. Blue differs, because a single colour is no usable picture. */
const plain = ({ prompt, seed }: Job, { widthPixels, heightPixels }: PixelSize): Promise<Uint8Array> => {
  const [skyRed = 0, skyGreen = 0, red = 0, green = 0] = createHash("sha256").update(`${seed} ${prompt}`).digest();
  return decoding((sharp) =>
    sharp(Uint8Array.of(skyRed, skyGreen, 255, red, green, 0), { raw: { width: 1, height: 2, channels: 3 } })
      .resize(widthPixels, heightPixels, { fit: "fill", kernel: "nearest" })
      .withXmp(sourceTypeXmp("algorithmicMedia"))
      .jpeg(JPEG)
      .toBuffer(),
  );
};
