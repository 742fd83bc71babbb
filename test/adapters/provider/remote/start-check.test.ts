import { err, ok } from "neverthrow";
import { afterEach, describe, expect, it } from "vitest";
import { FAULTS, type Fault, refuses } from "../../../support/faulty-server.js";
import {
  type Overrides,
  startComfy,
  startComfyui,
  startFal,
  startHttp,
  startSkybox,
  startUncheckedReplicate,
  startWorldlabs,
} from "../../../support/providers-under-test.js";

describe.each([
  ["SKYBOX_API_KEY", startSkybox],
  ["FAL_API_KEY", startFal],
  ["REPLICATE_API_KEY", startUncheckedReplicate],
  ["HTTP_PROVIDER_TOKEN", startHttp],
  ["COMFY_API_KEY", startComfy],
  ["WORLDLABS_API_KEY", startWorldlabs],
] as const)("RemoteProvider.check with %s", (keyVariable, start) => {
  let close = async () => {};
  afterEach(() => close());

  const started = async (overrides: Overrides = {}) => {
    const remote = await start(overrides);
    close = remote.close;
    return remote;
  };

  it("succeeds with correct settings", async () => {
    const { provider } = await started();
    expect(await provider.check()).toEqual(ok(undefined));
  });

  it("reports a rejected key without showing it", async () => {
    const { provider } = await started({ apiKey: "wrong-key" });
    const { kind, reason } = (await provider.check())._unsafeUnwrapErr();
    expect(kind).toBe("misconfigured");
    expect(reason).toMatch(
      /^\w+_(API_KEY|TOKEN): the provider does not accept this key \(status 40[13]\); set a valid one$/,
    );
    expect(reason).toContain(keyVariable);
    expect(reason).not.toContain("wrong-key");
  });

  it.each<[string, Fault, string]>([
    ["status 500", FAULTS.failsBefore, "status 500"],
    ["status 429", refuses(429, { "retry-after": "1" }), "status 429: too many requests for the provider"],
    ["no credit", refuses(403, {}, { error: "quota" }), "status 403: no credit or quota is left with the provider"],
    ["HTML instead of JSON", FAULTS.html, "the answer is not JSON"],
    ["a cut connection", FAULTS.cutBefore, "UND_ERR_SOCKET"],
  ])("reports the settings as unchecked after %s", async (_, fault, reason) => {
    const { provider, fake } = await started();
    fake.faults.checks.push(fault);
    expect(await provider.check()).toEqual(err({ kind: "unchecked", reason }));
  });
});

describe("RemoteProvider.check with comfyui", () => {
  it("reports a server with a login as not an own ComfyUI server", async () => {
    const { provider, fake, close } = await startComfyui();
    fake.faults.checks.push(refuses(401));
    const asks = `COMFYUI_BASE_URL: ${fake.baseUrl} asks for a login (status 401), and ComfyUI has none`;
    const reason = `${asks}; for Comfy Cloud set PROVIDER=comfy and COMFY_API_KEY`;
    expect(await provider.check()).toEqual(err({ kind: "misconfigured", reason }));
    await close();
  });
});
