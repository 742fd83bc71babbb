import { err } from "neverthrow";
import { expect, it } from "vitest";
import { comfyProvider } from "../../../../adapters/provider/remote/comfy/comfy-provider.js";
import { comfyuiProvider } from "../../../../adapters/provider/remote/comfyui/comfyui-provider.js";
import { falProvider } from "../../../../adapters/provider/remote/fal/fal-provider.js";
import { httpProvider } from "../../../../adapters/provider/remote/http/http-provider.js";
import type { OpenProvider, ProviderCall } from "../../../../adapters/provider/remote/remote-options.js";
import { replicateProvider } from "../../../../adapters/provider/remote/replicate/replicate-provider.js";
import { skyboxProvider } from "../../../../adapters/provider/remote/skybox/skybox-provider.js";
import { worldlabsProvider } from "../../../../adapters/provider/remote/worldlabs/worldlabs-provider.js";
import { FAULTS } from "../../../support/faulty-server.js";
import { startComfyuiServers, startHttp } from "../../../support/providers-under-test.js";

it.each<[string, (shared: object) => OpenProvider, number]>([
  ["skybox", (shared) => skyboxProvider({ apiKey: "key", ...shared }), 1],
  ["replicate:bytedance/seedream-4", (shared) => replicateProvider({ apiKey: "key", ...shared }), 3],
  ["fal:seedream-4.5", (shared) => falProvider({ apiKey: "key", ...shared }), 3],
  ["worldlabs:marble-1.0-draft", (shared) => worldlabsProvider({ apiKey: "key", ...shared }), 3],
  ["comfy:qwen-image-edit", (shared) => comfyProvider({ apiKey: "key", ...shared }), 3],
  ["comfyui", (shared) => comfyuiProvider({ baseUrls: ["http://localhost:8188"], ...shared }), 0],
  ["http", (shared) => httpProvider({ baseUrl: "https://worker.example/", ...shared }), 3],
])("%s is what the fewest options open, and its circuit is closed", async (name, open, imagesMax) => {
  const events: unknown[] = [];
  const provider = open({ onEvent: (event: unknown) => events.push(event) });
  expect(provider.name).toBe(name);
  expect(provider.places().map(({ abilities }) => abilities?.imagesMax)).toEqual([imagesMax]);
  expect(events).toEqual([{ kind: "circuit", provider: expect.stringContaining(name), state: "closed" }]);
  await provider.close();
});

it("a remote provider reports each call with its method, outcome and time", async () => {
  const calls: ProviderCall[] = [];
  const { provider, fake, close } = await startHttp({ onCall: (call) => void calls.push(call) });
  await provider.check();
  await provider.poll("unknown");
  fake.faults.lists.push(FAULTS.cutBefore);
  await provider.poll("unknown");
  const shared = { provider: "http", method: "GET", seconds: expect.any(Number) };
  expect(calls).toEqual(["2xx", "4xx", "no_answer"].map((outcome) => ({ ...shared, outcome })));
  expect(calls.every(({ seconds }) => seconds > 0 && seconds < 100)).toBe(true);
  await close();
});

it("comfyuiProvider checks every server, and names the one that did not answer", async () => {
  const { provider, fakes, close } = await startComfyuiServers();
  const [first, second] = fakes;
  second.faults.checks.push(FAULTS.cutBefore);
  const { host, pathname } = new URL(second.baseUrl);
  expect(await provider.check()).toEqual(err({ kind: "unchecked", reason: `${host}${pathname}: UND_ERR_SOCKET` }));
  second.faults.checks.push(FAULTS.cutBefore);
  first.classes = {};
  const wrong = (await provider.check())._unsafeUnwrapErr();
  expect(wrong).toEqual({ kind: "misconfigured", reason: expect.stringContaining(first.baseUrl) });
  await close();
});

it.each<[string, () => unknown, string]>([
  [
    "a base URL that is none",
    () => replicateProvider({ apiKey: "key", baseUrl: "api.replicate.com" }),
    'baseUrl must be an http or https URL, and is "api.replicate.com".',
  ],
  [
    "an API key that no header can carry, without showing it",
    () => skyboxProvider({ apiKey: "secret\nkey" }),
    "apiKey must be visible ASCII characters without spaces.",
  ],
  [
    "a workflow that is none",
    () => comfyuiProvider({ baseUrls: ["http://localhost:8188"], workflow: [] }),
    "workflow: not a workflow in API format; export it with File, Export (API).",
  ],
  [
    "Comfy Cloud without an API key",
    () => comfyProvider({ workflow: "qwen-image-edit" }),
    "apiKey is required for https://cloud.comfy.org.",
  ],
])("opening a provider throws for %s", (_, open, message) => {
  expect(open).toThrow(new TypeError(message));
});
