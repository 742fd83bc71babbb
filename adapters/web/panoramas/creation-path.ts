import type { CreationRequest } from "../../../domain/tasks/creation-request.js";
import { QUERY_CHARACTERS_MAX } from "../next-path.js";

/** The form for a new panorama, filled with these values. A prompt that does not fit into an address is left out. */
export const creationPath = (
  values: Partial<Pick<CreationRequest, "prompt" | "resolution" | "visibility">>,
): string => {
  const { prompt = "", resolution, visibility } = values;
  const short = { ...(resolution && { resolution }), ...(visibility && { visibility }) };
  // A longer text need not be encoded: that only makes it longer.
  const isShort = prompt !== "" && prompt.length <= QUERY_CHARACTERS_MAX;
  const query = new URLSearchParams({ ...(isShort && { prompt }), ...short }).toString();
  if (query.length <= QUERY_CHARACTERS_MAX) return query === "" ? "/works" : `/works?${query}`;
  return creationPath(short);
};
