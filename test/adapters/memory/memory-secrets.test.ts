import { err } from "neverthrow";
import { describe, expect, it } from "vitest";
import { MemorySecrets } from "../../../adapters/memory/memory-secrets.js";
import type { Secrets } from "../../../application/ports/secrets.js";
import { fastSecrets } from "../../support/fast-secrets.js";

/** Each test hashes a few passwords. */
describe.each<[string, () => Secrets]>([
  ["MemorySecrets", () => new MemorySecrets()],
  ["NodeSecrets at a low cost", fastSecrets],
])("%s", (_, make) => {
  it("hashes bytes, and text as UTF-8, with SHA-256", async () => {
    const secrets = make();
    const known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    expect(secrets.sha256("abc")).toBe(known);
    expect(secrets.sha256(Uint8Array.of(0x61, 0x62, 0x63))).toBe(known);
    expect(secrets.sha256("ü")).toBe(secrets.sha256(Uint8Array.of(0xc3, 0xbc)));
  });

  it("hashes a password so that only this password verifies, with a different salt each time", async () => {
    const secrets = make();
    const hash = (await secrets.hashPassword("correct horse"))._unsafeUnwrap();
    const again = (await secrets.hashPassword("correct horse"))._unsafeUnwrap();
    expect(again).not.toBe(hash);
    expect((await secrets.verifyPassword("correct horse", hash))._unsafeUnwrap()).toBe(true);
    expect((await secrets.verifyPassword("correct horse", again))._unsafeUnwrap()).toBe(true);
    expect((await secrets.verifyPassword("correct horsf", hash))._unsafeUnwrap()).toBe(false);
    expect((await secrets.verifyPassword("", hash))._unsafeUnwrap()).toBe(false);
    expect(hash.includes("correct")).toBe(false);
  });

  it("rejects every password when there is no hash", async () => {
    expect((await make().verifyPassword("anything", undefined))._unsafeUnwrap()).toBe(false);
  });

  it("hashes nothing for a caller that has left", async () => {
    const secrets = make();
    const left = AbortSignal.abort();
    const busy = err({ kind: "hashing_busy" });
    expect(await secrets.hashPassword("correct horse", left)).toEqual(busy);
    expect(await secrets.verifyPassword("correct horse", undefined, left)).toEqual(busy);
  });

  it("throws on a stored hash that it cannot read, instead of rejecting the password", async () => {
    await expect(make().verifyPassword("correct horse", "no hash")).rejects.toThrow("hash");
  });
});

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
