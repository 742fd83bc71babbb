import { ProviderChain } from "../../adapters/provider/provider-chain.js";
import { PublicFetch } from "../../adapters/provider/public-fetch.js";
import type { CircuitState } from "../../adapters/provider/remote/calls/circuit-breaker.js";
import { UpstreamHttp } from "../../adapters/provider/remote/calls/upstream-http.js";
import { FalProvider } from "../../adapters/provider/remote/fal/fal-provider.js";
import { ReplicateProvider } from "../../adapters/provider/remote/replicate/replicate-provider.js";
import { SkyboxProvider } from "../../adapters/provider/remote/skybox/skybox-provider.js";
import type { WebhookUrls } from "../../adapters/provider/remote/webhooks/webhook-urls.js";
import type { Clock } from "../../application/ports/clock.js";
import type { GenerationProvider } from "../../application/ports/generation-provider.js";
import type { ObjectStorage } from "../../application/ports/object-storage.js";
import { FAL_KEY, FakeFal } from "./fake-fal.js";
import type { FakeProvider } from "./fake-provider.js";
import { FakeReplicate, REPLICATE_KEY } from "./fake-replicate.js";
import { FakeSkybox, SKYBOX_KEY } from "./fake-skybox.js";
import { HandClock } from "./hand-clock.js";
import { MemoryObjectStorage } from "./memory/memory-object-storage.js";

export type Circumstances = {
  readonly clock?: Clock;
  readonly storage?: ObjectStorage;
  readonly warn?: (message: string) => void;
  readonly submitTimeoutMilliseconds?: number;
  readonly apiKey?: string;
  readonly webhookUrls?: WebhookUrls;
  /** `undefined`: as many as the provider allows. */
  readonly callsPerSecond?: number | undefined;
  readonly concurrencyMax?: number;
  readonly onCircuitChange?: (state: CircuitState) => void;
};

export const REPLICATE_MODEL = `owner/flux-360:${"5f".repeat(32)}`;

export const SUBMIT_TIMEOUT_MILLISECONDS = 5_000;
const TIMES = { submitTimeoutMilliseconds: SUBMIT_TIMEOUT_MILLISECONDS, generationDeadlineMilliseconds: 600_000 };
/** As many calls as there are: most tests have a clock that stands still. */
const LIMITS = { pollMilliseconds: undefined, callsPerSecond: Number.POSITIVE_INFINITY, concurrencyMax: undefined };

const outside = (
  origin: string,
  { clock = new HandClock(), storage = new MemoryObjectStorage(), warn, onCircuitChange }: Circumstances,
) => {
  const http = new UpstreamHttp();
  const publicFetch = new PublicFetch([origin]);
  const close = async () => {
    await Promise.all([http.close(), publicFetch.close()]);
  };
  const ignore = () => {};
  return { ports: [http, publicFetch, storage, clock, warn ?? ignore, onCircuitChange ?? ignore] as const, close };
};

/** The real adapters, each over HTTP to its provider's fake; `close` ends both. */
export const startSkybox = async (circumstances: Circumstances = {}) => {
  const fake = await FakeSkybox.start();
  const { ports, close } = outside(fake.server.url, circumstances);
  const settings = { ...TIMES, ...LIMITS, apiKey: SKYBOX_KEY, ...circumstances, baseUrl: fake.baseUrl, styleId: 67 };
  return { provider: new SkyboxProvider(settings, ...ports), fake, close: () => ends(fake, close) };
};

export const startReplicate = async (circumstances: Circumstances = {}) => {
  const fake = await FakeReplicate.start();
  const { ports, close } = outside(fake.server.url, circumstances);
  const settings = {
    ...TIMES,
    ...LIMITS,
    apiKey: REPLICATE_KEY,
    ...circumstances,
    baseUrl: fake.baseUrl,
    model: REPLICATE_MODEL,
  };
  return {
    provider: new ReplicateProvider(settings, ...ports),
    fake,
    close: () => ends(fake, close),
  };
};

export const startFal = async (circumstances: Circumstances = {}) => {
  const fake = await FakeFal.start();
  const { ports, close } = outside(fake.server.url, circumstances);
  const model = { id: "fal-ai/hunyuan_world" } as const;
  const settings = { ...TIMES, ...LIMITS, apiKey: FAL_KEY, ...circumstances, baseUrl: fake.baseUrl, model };
  return { provider: new FalProvider(settings, ...ports), fake, close: () => ends(fake, close) };
};

/** One chain of two, each over HTTP to its own fake. */
export const startChain =
  (...starts: readonly [StartOfOne, StartOfOne]) =>
  async (circumstances: Circumstances) => {
    const [first, second] = [await starts[0](circumstances), await starts[1](circumstances)];
    return {
      provider: new ProviderChain([first.provider, second.provider], circumstances.warn ?? (() => {})),
      fakes: [first.fake, second.fake],
      close: async () => {
        await first.close();
        await second.close();
      },
    };
  };

export type StartOfOne = (circumstances: Circumstances) => Promise<{
  readonly provider: GenerationProvider;
  readonly fake: FakeProvider;
  close(): Promise<void>;
}>;

const ends = async (fake: { close(): Promise<void> }, close: () => Promise<void>): Promise<void> => {
  await close();
  await fake.close();
};
