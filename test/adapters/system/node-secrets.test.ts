import { describe, expect, it } from "vitest";
import { NodeSecrets } from "../../../adapters/system/node-secrets.js";

describe("NodeSecrets", () => {
  const secrets = new NodeSecrets();

  it("hashes bytes, and text as UTF-8, with SHA-256", () => {
    const known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    expect(secrets.sha256("abc")).toBe(known);
    expect(secrets.sha256(Uint8Array.of(0x61, 0x62, 0x63))).toBe(known);
    expect(secrets.sha256("ü")).toBe(secrets.sha256(Uint8Array.of(0xc3, 0xbc)));
  });

  it("hashes a password so that only this password verifies, with a different salt each time", async () => {
    const hash = await secrets.hashPassword("correct horse");
    expect(hash).toMatch(/^scrypt\$32768\$8\$3\$[\w-]{22}\$[\w-]{43}$/);
    expect(await secrets.hashPassword("correct horse")).not.toBe(hash);
    expect(await secrets.verifyPassword("correct horse", hash)).toBe(true);
    expect(await secrets.verifyPassword("correct horsf", hash)).toBe(false);
  });

  it("verifies a hash with the cost parameters that it contains", async () => {
    const cheap = "scrypt$16$8$1$c2FsdA$-HYXj5SDfYch7J15Sl5iMoPpJ0qEbcC_2kIzoB17pos";
    expect(await secrets.verifyPassword("password", cheap)).toBe(true);
    expect(await secrets.verifyPassword("Password", cheap)).toBe(false);
  });

  it("accepts the same password typed with combining characters", async () => {
    const hash = await secrets.hashPassword("caf\u00e9 42");
    expect(await secrets.verifyPassword("cafe\u0301 42", hash)).toBe(true);
  });

  it("rejects every password when there is no hash", async () => {
    expect(await secrets.verifyPassword("anything", undefined)).toBe(false);
  });

  it.each(["$2b$10$abc", "scrypt$16$8$1$c2FsdA$", ""])('throws on the invalid stored hash "%s"', async (hash) => {
    await expect(secrets.verifyPassword("anything", hash)).rejects.toThrow("not a scrypt hash");
  });

  it("hashes five passwords requested at once", async () => {
    const hashes = await Promise.all(Array.from({ length: 5 }, (_, at) => secrets.hashPassword(`password ${at}`)));
    expect(new Set(hashes).size).toBe(5);
  });
});
