import { err, ok, type Result } from "neverthrow";
import type { ClientErrorCode } from "./client-error.js";
import { PanoramaError } from "./panorama-error.js";

/** The error of one request. */
export type CallError = PanoramaError & { readonly code: ClientErrorCode };

/** A call of the client as a value, as expected failures are in this project. Bugs stay rejections. */
export const resultOf = async <T>(call: Promise<T>): Promise<Result<T, CallError>> => {
  try {
    return ok(await call);
  } catch (error) {
    if (error instanceof PanoramaError && error.code !== "generation_failed") return err(error as CallError);
    throw error;
  }
};
