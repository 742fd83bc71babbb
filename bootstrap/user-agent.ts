import { userAgentOf } from "../adapters/system/outgoing-http.js";
import { isPublicHost } from "../domain/public-host.js";
import type { Config } from "./config.js";
import { panoramaVersion } from "./version.js";

/** Names the service to other hosts: with its public URL, or the operator's e-mail address if nobody reaches that. */
export const installationUserAgent = ({ publicUrl, operatorEmail }: Pick<Config, "publicUrl" | "operatorEmail">) => {
  const isReachable = isPublicHost(new URL(publicUrl).hostname);
  return userAgentOf(
    panoramaVersion(),
    isReachable || operatorEmail === undefined ? publicUrl : `mailto:${operatorEmail}`,
  );
};
