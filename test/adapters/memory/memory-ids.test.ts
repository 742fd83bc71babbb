import { describe, expect, it } from "vitest";
import { MemoryIds } from "../../../adapters/memory/memory-ids.js";
import { RandomIds } from "../../../adapters/system/random-ids.js";
import type { Ids } from "../../../application/ports/ids.js";
import { parseApiKeySecret } from "../../../domain/accounts/api-key.js";
import { parsePasswordLinkToken } from "../../../domain/accounts/password.js";
import { parseSessionToken } from "../../../domain/accounts/session.js";
import { parseTaskId } from "../../../domain/ids.js";
import { panoramaName, parseObjectName } from "../../../domain/images/object-name.js";
import { parseSlug } from "../../../domain/tasks/slug.js";

const COUNT = 2000;

describe.each<[string, () => Ids]>([
  ["MemoryIds", () => new MemoryIds()],
  ["RandomIds", () => new RandomIds()],
])("%s", (_, make) => {
  const made = (next: (ids: Ids) => string): readonly string[] => {
    const ids = make();
    return Array.from({ length: COUNT }, () => next(ids));
  };

  const sortable: Readonly<Record<string, (ids: Ids) => string>> = {
    tasks: (ids) => ids.taskId(),
    accounts: (ids) => ids.accountId(),
    orders: (ids) => ids.orderId(),
    "API keys": (ids) => ids.apiKeyId(),
    endpoints: (ids) => ids.endpointId(),
  };
  for (const [of, next] of Object.entries(sortable)) {
    it(`makes unique ids of ${of}, in the order of their creation`, async () => {
      const all = made(next);
      expect(new Set(all).size).toBe(COUNT);
      expect(all.toSorted()).toEqual(all);
    });
  }

  const parsed: Readonly<Record<string, readonly [(ids: Ids) => string, (text: string) => unknown]>> = {
    "ids of tasks": [(ids) => ids.taskId(), parseTaskId],
    "secrets of API keys": [(ids) => ids.apiKeySecret(), parseApiKeySecret],
    slugs: [(ids) => ids.slug(), parseSlug],
    "session tokens": [(ids) => ids.sessionToken(), parseSessionToken],
    "tokens of password links": [(ids) => ids.passwordLinkToken(), parsePasswordLinkToken],
    "names of images": [(ids) => panoramaName(ids.unguessable()), parseObjectName],
  };
  for (const [what, [next, parse]] of Object.entries(parsed)) {
    it(`makes different ${what}, which the domain parses`, async () => {
      const all = made(next);
      expect(new Set(all).size).toBe(COUNT);
      expect(all.map(parse)).toEqual(all);
    });
  }

  it("makes different secrets of endpoints: whsec_ and 32 bytes in base64", async () => {
    const all = made((ids) => ids.endpointSecret());
    expect(new Set(all).size).toBe(COUNT);
    for (const secret of all) expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  });

  it("makes secrets that another instance does not make", async () => {
    const [one, other] = [make(), make()];
    const secrets = (ids: Ids) => [
      ids.apiKeySecret(),
      ids.endpointSecret(),
      ids.slug(),
      ids.unguessable(),
      ids.sessionToken(),
      ids.passwordLinkToken(),
    ];
    expect(new Set([...secrets(one), ...secrets(other)]).size).toBe(12);
  });
});

describe("MemoryIds", () => {
  it("makes the same ids in each run", () => {
    const ids = new MemoryIds();
    expect([ids.taskId(), ids.accountId(), ids.taskId()]).toEqual([
      "task_0000000001",
      "account_0000000002",
      "task_0000000003",
    ]);
  });
});
