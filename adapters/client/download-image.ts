import { err, ok, type Result } from "neverthrow";
import { type ImageType, imageTypeOf } from "../../domain/images/image-type.js";
import { answererOf, connectionFailure } from "./requests/connection-failure.js";
import { readAtMost } from "./requests/send-request.js";

/** The bytes of an image, and the type that its first bytes show. */
export type DownloadedImage = { readonly bytes: Uint8Array; readonly type: ImageType };

type Limits = { readonly bytesMax: number; readonly seconds: number; readonly signal?: AbortSignal | undefined };

/** Downloads an image that a task links to. Sends no API key, because the image may be on another host. */
export const downloadImage = async (
  url: string,
  { bytesMax, seconds, signal }: Limits,
): Promise<Result<DownloadedImage, string>> => {
  try {
    const timeout = AbortSignal.timeout(seconds * 1000);
    const response = await fetch(url, { signal: signal ? AbortSignal.any([timeout, signal]) : timeout });
    if (!response.ok) return err(`${answererOf(url, response.headers)} answered ${response.status}`);
    const bytes = await readAtMost(response, bytesMax);
    if (bytes === undefined) return err(`${url} has more than ${bytesMax} bytes`);
    const type = imageTypeOf(bytes);
    return type === undefined ? err(`${url} is not an image`) : ok({ bytes, type });
  } catch (error) {
    return err(`${url} cannot be fetched: ${connectionFailure(error, url).reason}`);
  }
};
