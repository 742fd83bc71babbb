import { err, ok, type Result } from "neverthrow";
import { type InvalidRequest, invalidRequest } from "../../../../domain/invalid-request.js";

/** Whether a provider that takes `min` to `max` reference images can make a request with `actual` of them. */
export const imageCountWithin = (actual: number, min: number, max: number): Result<void, InvalidRequest> => {
  if (actual < min) return err(invalidRequest("image_urls", { name: "images_only" }));
  if (actual <= max) return ok(undefined);
  return err(invalidRequest("image_urls", max === 0 ? { name: "text_only" } : { name: "items_max", max, actual }));
};
