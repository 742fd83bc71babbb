import { err, ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { NodeSecrets } from "../../../adapters/system/node-secrets.js";
import { fastSecrets } from "../../support/fast-secrets.js";

/* What all implementations of the port promise: secrets-contract.ts, with a low cost (memory-secrets.test.ts). */
describe("NodeSecrets", () => {
  const secrets = new NodeSecrets();
  const hashOf = async (password: string) => (await secrets.hashPassword(password))._unsafeUnwrap();
  const verify = async (password: string, hash: string | undefined) =>
    (await secrets.verifyPassword(password, hash))._unsafeUnwrap();

  it("hashes a password with the cost 32768, 8, 3", async () => {
    const hash = await hashOf("correct horse");
    expect(hash).toMatch(/^scrypt\$32768\$8\$3\$[\w-]{22}\$[\w-]{43}$/);
    expect(await verify("correct horse", hash)).toBe(true);
  });

  it("verifies a hash with the cost parameters that it contains", async () => {
    const cheap = "scrypt$16$8$1$c2FsdA$-HYXj5SDfYch7J15Sl5iMoPpJ0qEbcC_2kIzoB17pos";
    expect(await verify("password", cheap)).toBe(true);
    expect(await verify("Password", cheap)).toBe(false);
  });

  it("accepts the same password typed with combining characters", async () => {
    const hash = await hashOf("caf\u00e9 42");
    expect(await verify("cafe\u0301 42", hash)).toBe(true);
  });

  it.each(["$2b$10$abc", "scrypt$16$8$1$c2FsdA$", ""])('throws on the invalid stored hash "%s"', async (hash) => {
    await expect(secrets.verifyPassword("anything", hash)).rejects.toThrow("not a scrypt hash");
  });
});

describe("NodeSecrets at a low cost", () => {
  const secrets = fastSecrets();
  const hashOf = async (password: string) => (await secrets.hashPassword(password))._unsafeUnwrap();

  it("refuses a password at once while twenty wait, and hashes it again when there is room", async () => {
    const waiting = Array.from({ length: 21 }, (_, at) => hashOf(`password ${at}`)); // one runs, twenty wait
    expect(await secrets.hashPassword("one more")).toEqual(err({ kind: "hashing_busy" }));
    expect(await secrets.verifyPassword("one more", undefined)).toEqual(err({ kind: "hashing_busy" }));
    expect(new Set(await Promise.all(waiting)).size).toBe(21);
    expect(await secrets.verifyPassword("anything", undefined)).toEqual(ok(false));
  });

  it("drops waiting passwords of disconnected callers", async () => {
    const leavers = Array.from({ length: 20 }, () => new AbortController());
    const running = hashOf("runs");
    const left = leavers.map(({ signal }) => secrets.hashPassword("left", signal));
    for (const leaver of leavers) leaver.abort();
    const finished: string[] = [];
    const next = hashOf("next").then(() => finished.push("next"));
    for (const answer of await Promise.all(left)) expect(answer).toEqual(err({ kind: "hashing_busy" }));
    expect(finished).toEqual([]);
    await running;
    await next;
  });
});
