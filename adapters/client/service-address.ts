import { err, ok, type Result } from "neverthrow";
import type { Brand } from "../../domain/brand.js";
import { type InvalidRequest, invalidRequest } from "../../domain/invalid-request.js";

/** The base URL of the REST interface: ends in `/api/v1`, without a slash behind it. */
export type ServiceAddress = Brand<string, "ServiceAddress">;

const FIELD = "service_address";

/** From a service's origin (`https://panorama.example`) or its base URL (`https://panorama.example/api/v1`). */
export const parseServiceAddress = (text: string): Result<ServiceAddress, InvalidRequest> => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The text may contain a password: it is not part of the error.
  if (url !== undefined && (url.username !== "" || url.password !== "")) {
    return err(invalidRequest(FIELD, { name: "no_user_info" }));
  }
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    return err(invalidRequest(FIELD, { name: "http_url", actual: text }));
  }
  const path = url.pathname.replace(/\/+$/, "");
  return ok(`${url.origin}${path.endsWith("/api/v1") ? path : `${path}/api/v1`}` as ServiceAddress);
};

/** Where the service's pages are, such as `/works`. */
export const siteOf = (address: ServiceAddress): string => address.replace(/\/api\/v1$/, "");
