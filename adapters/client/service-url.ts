import { err, ok, type Result } from "neverthrow";
import type { Brand } from "../../domain/ids.js";
import { type InvalidRequest, invalidRequest } from "../../domain/invalid-request.js";

/** The base URL of the REST interface: ends in `/api/v1`, without a trailing slash. */
export type ServiceUrl = Brand<string, "ServiceUrl">;

const FIELD = "service_url";

/** Takes the origin of a service (`https://panorama.example`) or its base URL (`https://panorama.example/api/v1`). */
export const parseServiceUrl = (text: string): Result<ServiceUrl, InvalidRequest> => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The error does not contain the text, because the text may contain a password.
  if (url !== undefined && (url.username !== "" || url.password !== "")) {
    return err(invalidRequest(FIELD, { name: "no_user_info" }));
  }
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    return err(invalidRequest(FIELD, { name: "http_url", actual: text }));
  }
  const path = url.pathname.replace(/\/+$/, "");
  return ok(`${url.origin}${path.endsWith("/api/v1") ? path : `${path}/api/v1`}` as ServiceUrl);
};

/** The URL of the service's web pages, without a trailing slash: append `/works`, for example. */
export const webSiteOf = (url: ServiceUrl): string => url.replace(/\/api\/v1$/, "");

/** The version in package.json. A test checks it. */
export const CLIENT_VERSION = "3.0.0";

type Runtime = {
  readonly navigator?: { readonly userAgent?: string };
  readonly process?: { readonly version?: string };
};

/** User agent: client version and runtime. `undefined` in browsers, which send their own. */
export const userAgent = ({ navigator, process }: Runtime = globalThis): string | undefined => {
  const runtime = navigator?.userAgent ?? (process?.version === undefined ? "" : `Node.js/${process.version.slice(1)}`);
  return runtime.startsWith("Mozilla/") ? undefined : `panorama-client/${CLIENT_VERSION} ${runtime}`.trim();
};
