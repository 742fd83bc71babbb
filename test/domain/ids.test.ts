import { expect, it } from "vitest";
import { email } from "../../domain/accounts/account.js";
import { apiKeyId, parseApiKeyId, parseApiKeySecret } from "../../domain/accounts/api-key.js";
import { parsePasswordLinkToken, passwordLinkToken } from "../../domain/accounts/password.js";
import { parseSessionToken, sessionToken } from "../../domain/accounts/session.js";
import { orderId, parseOrderId } from "../../domain/credits/order.js";
import { accountId, parseAccountId, parseTaskId, taskId } from "../../domain/ids.js";
import { objectName } from "../../domain/images/object-name.js";
import { parseSlug, slug } from "../../domain/tasks/slug.js";
import { endpointId, parseEndpointId } from "../../domain/webhooks/webhook-endpoint.js";

it.each([
  ["account id", parseAccountId, 1, 40, ""],
  ["order id", parseOrderId, 1, 40, ""],
  ["task id", parseTaskId, 1, 64, ""],
  ["id of an API key", parseApiKeyId, 1, 64, ""],
  ["id of an endpoint", parseEndpointId, 1, 64, ""],
  ["session token", parseSessionToken, 22, 64, ""],
  ["token of a password link", parsePasswordLinkToken, 22, 64, ""],
  ["secret of an API key", parseApiKeySecret, 43, 43, "sk-"],
] as const)("a text of another form is no %s, so no lookup is made", (_, parse, min, max, start) => {
  const shortest = start + "k".repeat(min);
  for (const right of [shortest, start + "A-Z_09".padEnd(max, "a").slice(0, max)]) expect(parse(right)).toBe(right);
  const wrong = [shortest.slice(0, -1), start + "k".repeat(max + 1), ` ${shortest}`, `${shortest}\n`];
  for (const character of "/ =+.ä\u0000") wrong.push(shortest.slice(0, -1) + character);
  for (const text of start === "" ? wrong : [...wrong, `SK-${"a".repeat(max)}`, "a".repeat(max + 3)]) {
    expect([text, parse(text)]).toEqual([text, undefined]);
  }
});

it.each(["", "a".repeat(15), "a".repeat(17), "A".repeat(16), `${"a".repeat(15)}-`, `${"a".repeat(16)}\n`])(
  "%j is no slug",
  (text) => {
    expect(parseSlug(text)).toBeUndefined();
  },
);

const TOKEN = "a".repeat(43);

it.each([
  [accountId, "acme", "two words", "an account id: 1 to 40 of the characters A-Z, a-z, 0-9, _ and -"],
  [orderId, "order-1", "a/b", "an order id: 1 to 40 of the characters A-Z, a-z, 0-9, _ and -"],
  [taskId, "pdf_1", "", "a task id: 1 to 64 of the characters A-Z, a-z, 0-9, _ and -"],
  [apiKeyId, "key_1", "key 1", "the id of an API key: "],
  [endpointId, "whk_1", "", "the id of "],
  [email, "ann@example.com", "ann", "an e-mail address"],
  [slug, "a".repeat(16), "A", "a slug: "],
  [objectName, `panoramas/${TOKEN}.jpg`, "panoramas/../x.jpg", "the name of an object, "],
])("%o accepts a valid constant, and throws for another text", (make, right, wrong, what) => {
  expect(make(right)).toBe(right);
  expect(() => make(wrong)).toThrow(`${JSON.stringify(wrong)} cannot be ${what}`);
});

it.each([sessionToken, passwordLinkToken])(
  "%o accepts a valid token, and throws without quoting a wrong one",
  (make) => {
    expect(make(TOKEN)).toBe(TOKEN);
    expect(() => make("my secret")).toThrow('"…" cannot be a token: 22 to 64 of the characters A-Z, a-z, 0-9, _ and -');
  },
);
