import { expect, it } from "vitest";
import { readConfig } from "../../bootstrap/config.js";
import { openProvider, webhooksOf } from "../../bootstrap/providers/open-provider.js";
import { createService } from "../../bootstrap/service.js";
import { tokens } from "../../bootstrap/tokens.js";

const enabledFor = async (environment: NodeJS.ProcessEnv): Promise<string[]> => {
  const { provider, publicUrl } = readConfig(environment)._unsafeUnwrap();
  const opened = provider.kind === "local" ? [] : provider.inOrder.map((one) => openProvider(one, { publicUrl }));
  await Promise.all(opened.map((one) => one.close()));
  return [...webhooksOf(opened).keys()];
};

it.each([
  ["skybox", { PROVIDER: "skybox", SKYBOX_API_KEY: "key" }],
  ["replicate", { PROVIDER: "replicate", REPLICATE_API_KEY: "key" }],
  ["fal", { PROVIDER: "fal", FAL_API_KEY: "key", FAL_MODEL: "fal-ai/hunyuan_world" }],
])("webhooksOf enables webhooks of %s only if the public URL is https", async (name, environment) => {
  expect(await enabledFor({ ...environment, PUBLIC_URL: "https://panoramas.example" })).toEqual([name]);
  expect(await enabledFor({ ...environment, PUBLIC_URL: "http://panoramas.example" })).toEqual([]);
});

it("webhooksOf enables no webhooks for a worker of the operator's own, which sends none", async () => {
  const worker = { PROVIDER: "http", HTTP_PROVIDER_URL: "http://localhost:8000", HTTP_PROVIDER_TOKEN: "secret" };
  expect(await enabledFor({ ...worker, PUBLIC_URL: "https://panoramas.example" })).toEqual([]);
});

it("the service enables no webhooks for the local provider", async () => {
  const service = createService(readConfig({ PUBLIC_URL: "https://panoramas.example" })._unsafeUnwrap());
  await service.loadServer();
  expect([...(await service.get(tokens.providerWebhooks))]).toEqual([]);
  await service.close();
});
