import { UPLOAD_LIMITS } from "../../domain/images/upload-rules.js";
import { invalidRequestError } from "./client-error.js";
import type { CallOptions } from "./client-options.js";
import type { Offer } from "./offer.js";
import { panoramaError } from "./panorama-error.js";
import { admitImages, type ImageSource, isSizeRule, limitsOf, type ReferenceImage, readImages } from "./read-images.js";
import { isUploaded } from "./requests/check-answer.js";
import type { ApiAnswer } from "./requests/send-request.js";
import type { ServiceRequests } from "./requests/service-requests.js";
import type { UploadedImages } from "./resources.js";

/** `limits`: the upload limits of an earlier offer. */
export type UploadOptions = CallOptions & { readonly limits?: Offer["uploads"] };

/** Reads, checks and sends the images (`PanoramaClient.upload`). */
export const uploadImages = async (
  requests: ServiceRequests,
  images: ImageSource | readonly ImageSource[],
  { limits, signal, timeout = requests.limits.timeout, maxRetries }: UploadOptions,
  readOffer: (signal: AbortSignal | undefined) => Promise<Offer>,
): Promise<ApiAnswer<UploadedImages>> => {
  const sources = Array.isArray(images) ? (images as readonly ImageSource[]) : [images as ImageSource];
  const read = await readImages(sources, signal);
  let types = admitImages(read, limits === undefined ? UPLOAD_LIMITS : limitsOf(limits));
  if (types.isErr() && limits === undefined && isSizeRule(types.error)) {
    const offer = await readOffer(signal).catch(() => undefined);
    if (offer !== undefined) types = admitImages(read, limitsOf(offer.uploads));
  }
  if (types.isErr()) throw panoramaError(invalidRequestError(types.error));
  const form = new FormData();
  types.value.forEach((type, index) => {
    const { bytes, name } = read[index] as ReferenceImage;
    form.append("files", new Blob([new Uint8Array(bytes)], { type }), name ?? `image-${index + 1}`);
  });
  const request = {
    method: "POST",
    path: "/images",
    headers: {},
    body: form,
    isAnswer: isUploaded,
    signal,
  } as const;
  // An attempt gets the whole timeout: a retry would start a slow upload again.
  return requests.answer(request, { timeout, maxRetries, perAttemptTimeout: timeout });
};
