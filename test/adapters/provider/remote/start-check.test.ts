import { err, ok } from "neverthrow";
import { afterEach, describe, expect, it } from "vitest";
import { FAULTS, type Fault, refuses } from "../../../support/faulty-server.js";
import { type Circumstances, startReplicate, startSkybox } from "../../../support/providers-under-test.js";

describe.each([
  ["SKYBOX_API_KEY", startSkybox],
  ["REPLICATE_API_KEY", startReplicate],
] as const)("the check of %s", (keyVariable, start) => {
  let end = async () => {};
  afterEach(() => end());

  const started = async (circumstances: Circumstances = {}) => {
    const { provider, fake, close } = await start(circumstances);
    end = close;
    return { provider, fake };
  };

  it("finds nothing to say about good settings", async () => {
    const { provider } = await started();
    expect(await provider.check()).toEqual(ok(undefined));
  });

  it("tells a key that the provider does not accept, without showing it", async () => {
    const { provider } = await started({ apiKey: "wrong-key" });
    const { kind, reason } = (await provider.check())._unsafeUnwrapErr();
    expect(kind).toBe("misconfigured");
    expect(reason).toMatch(/^\w+_API_KEY: the provider does not accept this key \(status 40[13]\); set a valid one$/);
    expect(reason).toContain(keyVariable);
    expect(reason).not.toContain("wrong-key");
  });

  it.each<[string, Fault, string]>([
    ["status 500", FAULTS.failsBefore, "status 500"],
    ["status 429", refuses(429, { "retry-after": "1" }), "status 429: too many requests for the provider"],
    [
      "an empty purse",
      refuses(403, {}, { error: "quota" }),
      "status 403: no credit or quota is left with the provider",
    ],
    ["a page instead of JSON", FAULTS.html, "the answer is not JSON"],
    ["a cut connection", FAULTS.cutBefore, "UND_ERR_SOCKET"],
  ])("learns nothing about the settings from %s", async (_, fault, reason) => {
    const { provider, fake } = await started();
    fake.faults.checks.push(fault);
    expect(await provider.check()).toEqual(err({ kind: "unchecked", reason }));
  });
});
