import { err } from "neverthrow";
import { describe, expect, it } from "vitest";
import { MemorySecrets } from "../../../adapters/memory/memory-secrets.js";
import { describeSecrets } from "../../contracts/secrets-contract.js";
import { fastSecrets } from "../../support/fast-secrets.js";

describeSecrets("MemorySecrets", () => new MemorySecrets());
describeSecrets("NodeSecrets at a low cost", fastSecrets);

describe("MemorySecrets", () => {
  it("refuses passwords while it is set to busy", async () => {
    const secrets = new MemorySecrets();
    const hash = (await secrets.hashPassword("correct horse"))._unsafeUnwrap();
    secrets.busy = true;
    expect(await secrets.hashPassword("correct horse")).toEqual(err({ kind: "hashing_busy" }));
    expect(await secrets.verifyPassword("correct horse", hash)).toEqual(err({ kind: "hashing_busy" }));
    secrets.busy = false;
    expect((await secrets.verifyPassword("correct horse", hash))._unsafeUnwrap()).toBe(true);
  });
});
