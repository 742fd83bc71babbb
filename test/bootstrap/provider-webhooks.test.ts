import { afterEach, expect, it } from "vitest";
import { HandClock } from "../../adapters/memory/hand-clock.js";
import { UpstreamHttp } from "../../adapters/provider/remote/calls/upstream-http.js";
import { readConfig } from "../../bootstrap/config.js";
import { webhooksOf } from "../../bootstrap/provider-webhooks.js";

const http = new UpstreamHttp();
afterEach(() => http.close());

const enabledFor = (environment: NodeJS.ProcessEnv): string[] => {
  const config = readConfig(environment)._unsafeUnwrap();
  return [...webhooksOf(config, http, new HandClock()).keys()];
};

it.each([
  ["skybox", { PROVIDER: "skybox", SKYBOX_API_KEY: "key" }],
  ["replicate", { PROVIDER: "replicate", REPLICATE_API_KEY: "key" }],
  ["fal", { PROVIDER: "fal", FAL_API_KEY: "key", FAL_MODEL: "fal-ai/hunyuan_world" }],
])("webhooksOf enables webhooks of %s only if the public URL is https", (name, environment) => {
  expect(enabledFor({ ...environment, PUBLIC_URL: "https://panoramas.example" })).toEqual([name]);
  expect(enabledFor({ ...environment, PUBLIC_URL: "http://panoramas.example" })).toEqual([]);
});

it("webhooksOf enables no webhooks for a worker of the operator's own, which sends none", () => {
  const worker = { PROVIDER: "http", HTTP_PROVIDER_URL: "http://localhost:8000", HTTP_PROVIDER_TOKEN: "secret" };
  expect(enabledFor({ ...worker, PUBLIC_URL: "https://panoramas.example" })).toEqual([]);
});

it("webhooksOf enables no webhooks for the local provider", () => {
  expect(enabledFor({ PUBLIC_URL: "https://panoramas.example" })).toEqual([]);
});
