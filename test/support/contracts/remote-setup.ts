import { afterEach, beforeEach, vi } from "vitest";
import { aCreationRequest, taskId } from "../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../adapters/memory/hand-clock.js";
import { MemoryObjectStorage } from "../../../adapters/memory/memory-object-storage.js";
import type { OpenProvider } from "../../../adapters/provider/remote/remote-options.js";
import type { RemoteProvider } from "../../../adapters/provider/remote/remote-provider.js";
import type { CircuitState } from "../../../application/ports/generation-provider.js";
import type { FakeProvider } from "../fake-provider.js";
import type { Overrides } from "../providers-under-test.js";

export type RemoteUnderTest = {
  readonly provider: OpenProvider & RemoteProvider;
  readonly fake: FakeProvider;
  close(): Promise<void>;
};

export const PROMPT = "a lake with a secret";
export const FOREIGN = "https://pictures.example/p.jpg";

export type ExpectedDefaults = {
  readonly callsPerSecond: number;
  readonly concurrencyMax: number | undefined;
  /** How long calls pause after a 429 that does not say how long. */
  readonly pauseSeconds: number;
  /** `finished`: only tasks that have ended are found. */
  readonly searchable: boolean | "finished";
  /** The upstream task id under which a search finds a task of the fake. By default its id. */
  readonly upstreamTaskIdOf?: (id: string) => string;
  /** The id under which a search finds what was submitted under this one. By default the same. */
  readonly foundAs?: (upstreamTaskId: string) => string;
  /** An answer to a poll has no status that could be unknown. */
  readonly hasNoStatus?: boolean;
  /** What a generation that the provider has canceled says beyond that it has failed. */
  readonly canceled?: { readonly cause: "deadline_passed" };
  /** The provider refuses reference images. */
  readonly textOnly?: boolean;
  /** The provider has a call that stops a generation. */
  readonly cancels: boolean;
  /** Also one that has started. */
  readonly interrupts?: boolean;
  /** The variable of the API key; absent if the provider asks for none. */
  readonly keyVariable?: string;
  /** As `start`, but before the check at the start of the service; absent if that is the same. */
  readonly startUnchecked?: (overrides: Overrides) => Promise<RemoteUnderTest>;
  /** Results are read with the API key, from the provider's own host. */
  readonly resultsNeedKey?: boolean;
};

/** Text and an image, which every other provider accepts: one of them requires an image. */
export const aRemoteOrder = ({ textOnly }: Pick<ExpectedDefaults, "textOnly">, n: number) => ({
  taskId: taskId(n),
  request: aCreationRequest({ prompt: PROMPT, image_urls: textOnly ? [] : [FOREIGN] }),
});

/** New before each test. */
type UnderTest = {
  clock: HandClock;
  storage: MemoryObjectStorage;
  warnings: string[];
  circuit: CircuitState[];
  remote: RemoteUnderTest;
};

/** What the suites of remote providers share: a provider with its fake, on new stores, before each test. */
export const setUpRemote = (
  start: (overrides: Overrides) => Promise<RemoteUnderTest>,
  { textOnly = false }: Pick<ExpectedDefaults, "textOnly"> = {},
) => {
  const anOrder = (n = 1) => aRemoteOrder({ textOnly }, n);
  const submitted = async (): Promise<string> => (await on.remote.provider.submit(anOrder()))._unsafeUnwrap();
  const polled = async (id: string) => (await on.remote.provider.poll(id))._unsafeUnwrap();
  const succeeded = async () => {
    const id = await submitted();
    const progress = await polled(id);
    if (progress.state !== "succeeded") throw new Error(`The generation is ${JSON.stringify(progress)}.`);
    return { id, url: progress.temporaryUrl };
  };
  const requests = () => on.remote.fake.server.requests.length;
  const creations = () => on.remote.fake.server.requests.filter(({ method }) => method !== "GET").length;
  const helpers = { start, anOrder, submitted, polled, succeeded, requests, creations };
  const on = helpers as typeof helpers & UnderTest;

  beforeEach(async () => {
    // A real timeout would depend on the machine's load.
    manualTimeouts();
    Object.assign(on, { clock: new HandClock(), storage: new MemoryObjectStorage(), warnings: [], circuit: [] });
    on.remote = await start({
      clock: on.clock,
      storage: on.storage,
      warn: (message) => on.warnings.push(message),
      onEvent: (event) => {
        if (event.kind === "circuit") on.circuit.push(event.state);
      },
    });
  });

  afterEach(async () => {
    vi.restoreAllMocks();
    await on.remote.close();
  });

  return on;
};

export type RemoteSetup = ReturnType<typeof setUpRemote>;

/** Replaces real timeouts: all expire on `expire()`. `requested` are their milliseconds. */
export const manualTimeouts = () => {
  const requested: number[] = [];
  const timeout = new AbortController();
  vi.spyOn(AbortSignal, "timeout").mockImplementation((milliseconds) => {
    requested.push(milliseconds);
    return timeout.signal;
  });
  return { requested, expire: () => timeout.abort(new DOMException("The time is over.", "TimeoutError")) };
};
