import * as z from "zod";
import { parseBody } from "../answers/read-answer.js";
import type { TaskPages } from "../dialect.js";

const listSchema = z.object({
  items: z.array(
    z.object({
      request_id: z.string(),
      json_input: z.object({ seed: z.unknown().optional() }).optional().catch(undefined),
    }),
  ),
  next_cursor: z.string().nullish(),
});
const PAGE_SIZE = 100;

/** The path that lists the requests to one endpoint. */
export const requestsPath = (endpointId: string, filters: Readonly<Record<string, string>>): string =>
  `/models/requests/by-endpoint?${new URLSearchParams({ endpoint_id: endpointId, ...filters })}`;

/**
 * The requests to several endpoints, by turns: a page of each, then the next page of each that has one. The platform
 * lists requests by their end, and so only finished ones: a missing request may be running. Pages must be read in
 * order, because only the order tells to which endpoint a page belongs.
 */
export const requestsSince = (
  platformUrl: string,
  endpointIds: readonly [string, ...string[]],
  since: Date,
): TaskPages => {
  const filters = { start: since.toISOString(), expand: "payloads", limit: String(PAGE_SIZE) };
  const pages = endpointIds.map((id) => ({ id, path: requestsPath(id, filters) }));
  return {
    firstPath: requestsPath(endpointIds[0], filters),
    pageOf: (body) => {
      const id = pages.shift()?.id ?? endpointIds[0];
      return parseBody(listSchema, "a list of requests", body).map(({ items, next_cursor: cursor }) => {
        if (cursor) pages.push({ id, path: requestsPath(id, { ...filters, cursor }) });
        return {
          tasks: items.map(({ request_id, json_input }) => ({
            id: upstreamTaskIdFor(`/${appOf(id)}/requests/${encodeURIComponent(request_id)}`),
            seed: json_input?.seed,
          })),
          nextUrl: pages[0] && platformUrl + pages[0].path,
          allSeedsKnown: false,
        };
      });
    },
  };
};

/** The paths of requests have only the first two parts of an endpoint's id. */
const appOf = (endpointId: string): string => endpointId.split("/").slice(0, 2).join("/");

/** As the dialect's `upstreamTaskIdOf`, for a request at this path. */
const upstreamTaskIdFor = (path: string): string => `${path}/status ${path}`;
