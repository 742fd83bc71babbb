import { afterEach, beforeEach } from "vitest";
import { type ClientOptions, PanoramaClient } from "../../../adapters/client/panorama-client.js";
import { PanoramaError } from "../../../adapters/client/panorama-error.js";
import type { CreationInput } from "../../../adapters/client/resources.js";
import { FakeService } from "../../support/fake-service.js";
import { SkippingClock } from "../../support/skipping-clock.js";

/** What the tests of PanoramaClient share: a client of a fake service before each test. */
export const setUpClient = () => {
  let service: FakeService;
  let clock: SkippingClock;
  let client: PanoramaClient;

  const clientWith = (apiKey: string, options: ClientOptions = {}) =>
    new PanoramaClient({ baseUrl: service.origin, apiKey, ...options }, clock, () => 0.5);

  const startService = async () => {
    service = await FakeService.start();
  };

  beforeEach(async () => {
    await startService();
    clock = new SkippingClock(() => service.hanging());
    client = clientWith(service.apiKey);
  });
  afterEach(() => service.stop());

  return {
    get service() {
      return service;
    },
    get clock() {
      return clock;
    },
    get client() {
      return client;
    },
    clientWith,
    startService,
  };
};

export const aRequest = (prompt = "a quiet harbour"): CreationInput => ({ prompt, resolution: "1k" });

/** The error with which a call rejects. */
export const failureOf = async (call: Promise<unknown>): Promise<PanoramaError> => {
  const error = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (error instanceof PanoramaError) return error;
  throw new Error("The call did not reject with a PanoramaError.", { cause: error });
};

/** What the fake service says about it. */
export const A_HARBOUR_SHOWN = {
  created_at: "2026-01-01T12:00:00.000Z",
  resolution: "1k",
  visibility: "private",
  prompt: "a quiet harbour",
  image_urls: [],
  metadata: {},
};
