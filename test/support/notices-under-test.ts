import { FalNotices } from "../../adapters/provider/fal/fal-notices.js";
import { NoticeAddress } from "../../adapters/provider/notice-address.js";
import { ReplicateNotices } from "../../adapters/provider/replicate/replicate-notices.js";
import { SkyboxNotices } from "../../adapters/provider/skybox/skybox-notices.js";
import { UpstreamHttp } from "../../adapters/provider/upstream-http.js";
import type { Clock } from "../../application/ports/clock.js";
import type { ProviderNotice, ProviderNotices } from "../../application/ports/provider-notices.js";
import type { RemoteProvider } from "./contracts/remote-provider-contract.js";
import { FAL_KEY } from "./fake-fal.js";
import type { SignedNotice } from "./fake-provider.js";
import { REPLICATE_KEY } from "./fake-replicate.js";
import { SKYBOX_KEY } from "./fake-skybox.js";
import type { Fault } from "./faulty-server.js";
import { startFal, startReplicate, startSkybox } from "./providers-under-test.js";

export const PUBLIC_URL = "https://panoramas.example";

export type RemoteNotices = RemoteProvider & { readonly notices: ProviderNotices };

/** `keyFaults`: what befalls the next readings of the keys that sign. */
export type SignedRemoteNotices = RemoteNotices & { readonly keyFaults: Fault[] };

/** The real adapters of a provider and of its notices, over HTTP to its fake. */
export const startSkyboxNotices = async (clock: Clock) => {
  const noticeAddress = new NoticeAddress(PUBLIC_URL, "skybox", SKYBOX_KEY);
  const remote = await startSkybox({ clock, noticeAddress, atOnceMax: 2 });
  return { ...remote, notices: new SkyboxNotices(noticeAddress) };
};

export const startReplicateNotices = async (clock: Clock) => {
  const noticeAddress = new NoticeAddress(PUBLIC_URL, "replicate", REPLICATE_KEY);
  const remote = await startReplicate({ clock, noticeAddress });
  const http = new UpstreamHttp();
  const access = { apiKey: REPLICATE_KEY, baseUrl: remote.fake.baseUrl };
  const notices = new ReplicateNotices(access, noticeAddress, http, clock);
  return { ...remote, notices, keyFaults: remote.fake.secretFaults, close: () => ends(http, remote) };
};

export const startFalNotices = async (clock: Clock) => {
  const noticeAddress = new NoticeAddress(PUBLIC_URL, "fal", FAL_KEY);
  const remote = await startFal({ clock, noticeAddress });
  const http = new UpstreamHttp();
  const notices = new FalNotices(remote.fake.jwksUrl, noticeAddress, http, clock);
  return { ...remote, notices, keyFaults: remote.fake.jwksFaults, close: () => ends(http, remote) };
};

/** The notice as it arrives. */
export const arrived = ({ url, headers, body }: SignedNotice): ProviderNotice => ({
  body: Buffer.from(body),
  headers,
  query: new URL(url).searchParams,
});

const ends = async (http: UpstreamHttp, remote: { close(): Promise<void> }): Promise<void> => {
  await http.close();
  await remote.close();
};
