import { describe, expect, it } from "vitest";
import { RandomIds } from "../../../adapters/system/random-ids.js";
import { parseApiKeySecret } from "../../../domain/accounts/api-key.js";
import { panoramaName, parseObjectName } from "../../../domain/images/object-name.js";
import { parseSlug } from "../../../domain/tasks/slug.js";

describe("RandomIds", () => {
  const ids = new RandomIds();

  it.each<[string, () => string]>([
    ["pan_", () => ids.taskId()],
    ["acc_", () => ids.accountId()],
    ["ord_", () => ids.orderId()],
    ["key_", () => ids.apiKeyId()],
  ])("makes unique ids with prefix %s that sort by creation time", (prefix, make) => {
    const made = Array.from({ length: 5000 }, make);
    expect(made.every((id) => id.startsWith(prefix) && /^[0-9a-f]{32}$/.test(id.slice(prefix.length)))).toBe(true);
    expect(new Set(made).size).toBe(made.length);
    expect([...made].sort()).toEqual(made);
  });

  it("makes API keys, slugs and object names that the domain parses", () => {
    const secret = ids.apiKeySecret();
    expect(parseApiKeySecret(secret)).toBe(secret);
    const slug = ids.slug();
    expect(parseSlug(slug)).toBe(slug);
    const name = panoramaName(ids.unguessable());
    expect(parseObjectName(name)).toBe(name);
  });

  it("makes unguessable values of 128 random bits", () => {
    const made = Array.from({ length: 1000 }, () => Buffer.from(ids.unguessable(), "base64url"));
    expect(made.every((bytes) => bytes.length === 16)).toBe(true);
    expect(new Set(made.map((bytes) => bytes.toString("hex"))).size).toBe(1000);
  });
});
