import { describe, expect, it } from "vitest";
import { makeSigningPair } from "../../../adapters/imaging/provenance/signing-pair.js";
import { HandClock } from "../../../adapters/memory/hand-clock.js";
import { checkSigning } from "../../../bootstrap/doctor/check-signing.js";

const clock = new HandClock();
const pair = await makeSigningPair(clock.now());
const other = await makeSigningPair(clock.now());

describe("checkSigning", () => {
  it('reports "unknown signer" without C2PA_KEY, and the subject of a configured certificate', async () => {
    expect(await checkSigning({ c2pa: undefined }, clock)).toMatchObject([
      { status: "ok", message: expect.stringContaining("unknown signer") },
    ]);
    expect(await checkSigning({ c2pa: pair }, clock)).toMatchObject([
      { status: "ok", message: expect.stringContaining("CN=Panorama service") },
    ]);
    const inOneLine = { certificate: pair.certificate.replaceAll("\n", "\\n"), key: pair.key.replaceAll("\n", "\\n") };
    expect(await checkSigning({ c2pa: inOneLine }, clock)).toMatchObject([{ status: "ok" }]);
  });

  it.each([
    [
      { ...pair, key: "/no/such/file" },
      /C2PA_KEY is no PEM text, and not a file to read: there is none\. Correct the name\.$/,
    ],
    [{ ...pair, certificate: "/" }, /C2PA_CERTIFICATE is no PEM .*: it is a folder\. Name a file\.$/],
    [{ ...pair, key: "PRIVATE".repeat(999) }, /C2PA_KEY is no PEM .*: its name is too long\. Correct the name\.$/],
    [{ ...pair, key: other.key }, /the key is not that of the certificate\.$/],
  ])("fails with a pair that cannot be used, without its key", async (c2pa, says) => {
    const [finding] = await checkSigning({ c2pa }, clock);
    expect(finding).toMatchObject({ status: "failed", kind: "configuration", message: expect.stringMatching(says) });
    expect(finding?.message).not.toContain("PRIVATE");
  });
});
