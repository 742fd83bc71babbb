import { afterEach, expect, it } from "vitest";
import { UpstreamHttp } from "../../adapters/provider/remote/calls/upstream-http.js";
import { readConfig } from "../../bootstrap/config.js";
import { webhooksOf } from "../../bootstrap/provider-webhooks.js";
import { HandClock } from "../support/hand-clock.js";

const http = new UpstreamHttp();
afterEach(() => http.close());

const takenFrom = (environment: NodeJS.ProcessEnv): string[] => {
  const config = readConfig(environment)._unsafeUnwrap();
  return [...webhooksOf(config, http, new HandClock()).keys()];
};

it.each([
  ["skybox", { PROVIDER: "skybox", SKYBOX_API_KEY: "key" }],
  ["replicate", { PROVIDER: "replicate", REPLICATE_API_KEY: "key" }],
  ["fal", { PROVIDER: "fal", FAL_API_KEY: "key" }],
])("notices are taken from %s if it can reach this service, which is by https", (name, environment) => {
  expect(takenFrom({ ...environment, PUBLIC_URL: "https://panoramas.example" })).toEqual([name]);
  expect(takenFrom({ ...environment, PUBLIC_URL: "http://panoramas.example" })).toEqual([]);
});

it("the embedded provider sends no notices", () => {
  expect(takenFrom({ PUBLIC_URL: "https://panoramas.example" })).toEqual([]);
});
