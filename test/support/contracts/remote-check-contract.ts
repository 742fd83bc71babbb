import { err, ok } from "neverthrow";
import { expect, it } from "vitest";
import { FAULTS, type Fault, refuses } from "../faulty-server.js";
import type { RemoteSetup } from "./remote-setup.js";

/** How a RemoteProvider checks its API key when the service starts. */
export const describeRemoteCheck = (keyVariable: string, { start, defaults }: RemoteSetup): void => {
  const { startUnchecked = start } = defaults;

  it("reports a rejected key without showing it", async () => {
    const { provider, close } = await startUnchecked({ apiKey: "wrong-key" });
    const { kind, reason } = (await provider.check())._unsafeUnwrapErr();
    const status = reason.includes("403") ? 403 : 401;
    expect({ kind, reason }).toEqual({
      kind: "misconfigured",
      reason: `${keyVariable}: the provider does not accept this key (status ${status}); set a valid one`,
    });
    await close();
  });

  it.each<[string, Fault, string]>([
    ["status 500", FAULTS.failsBefore, "status 500"],
    ["status 429", refuses(429, { "retry-after": "1" }), "status 429: too many requests for the provider"],
    ["no credit", refuses(403, {}, { error: "quota" }), "status 403: no credit or quota is left with the provider"],
    ["HTML instead of JSON", FAULTS.html, "the answer is not JSON"],
    ["a cut connection", FAULTS.cutBefore, "UND_ERR_SOCKET"],
  ])("reports the settings as unchecked after %s, and as right afterwards", async (name, fault, reason) => {
    const { provider, fake, close } = await startUnchecked({});
    fake.faults.checks.push(fault);
    expect(await provider.check()).toEqual(err({ kind: "unchecked", reason }));
    if (name !== "status 429") expect(await provider.check()).toEqual(ok(undefined));
    await close();
  });
};
