import { FalNotices } from "../adapters/provider/fal/fal-notices.js";
import { NoticeAddress } from "../adapters/provider/notice-address.js";
import { ReplicateNotices } from "../adapters/provider/replicate/replicate-notices.js";
import { SkyboxNotices } from "../adapters/provider/skybox/skybox-notices.js";
import type { UpstreamHttp } from "../adapters/provider/upstream-http.js";
import type { Clock } from "../application/ports/clock.js";
import type { ProviderNotices } from "../application/ports/provider-notices.js";
import type { Config, RemoteProviderConfig } from "./config.js";

/** Where this provider is asked to send its notices; nowhere without https. */
export const noticeAddressOf = (
  { kind, apiKey }: RemoteProviderConfig,
  publicUrl: string,
): NoticeAddress | undefined =>
  publicUrl.startsWith("https://") ? new NoticeAddress(publicUrl, kind, apiKey) : undefined;

/** By the provider's name: those that send notices to this service. */
export const noticesOf = (
  { provider, publicUrl }: Pick<Config, "provider" | "publicUrl">,
  http: UpstreamHttp,
  clock: Clock,
): ReadonlyMap<string, ProviderNotices> =>
  new Map(
    (provider.kind === "local" ? [] : provider.inOrder).flatMap((remote): [string, ProviderNotices][] => {
      const address = noticeAddressOf(remote, publicUrl);
      return address === undefined ? [] : [[remote.kind, noticesAt(address, remote, http, clock)]];
    }),
  );

const noticesAt = (
  address: NoticeAddress,
  provider: RemoteProviderConfig,
  http: UpstreamHttp,
  clock: Clock,
): ProviderNotices => {
  switch (provider.kind) {
    case "skybox":
      return new SkyboxNotices(address);
    case "replicate":
      return new ReplicateNotices(provider, address, http, clock);
    case "fal":
      return new FalNotices(provider.jwksUrl, address, http, clock);
  }
};
