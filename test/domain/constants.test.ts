import { expect, it } from "vitest";
import { email } from "../../domain/accounts/account.js";
import { apiKeyId } from "../../domain/accounts/api-key.js";
import { passwordLinkToken } from "../../domain/accounts/password.js";
import { sessionToken } from "../../domain/accounts/session.js";
import { objectName } from "../../domain/images/object-name.js";
import { slug } from "../../domain/tasks/slug.js";
import { endpointId } from "../../domain/webhooks/webhook-endpoint.js";

const TOKEN = "a".repeat(43);
const NAME = `panoramas/${TOKEN}.jpg`;

it.each([
  ["email", email, "ann@example.com", "ann"],
  ["apiKeyId", apiKeyId, "key_1", "key 1"],
  ["endpointId", endpointId, "whk_1", ""],
  ["sessionToken", sessionToken, TOKEN, "short"],
  ["passwordLinkToken", passwordLinkToken, TOKEN, "short"],
  ["slug", slug, "a".repeat(16), "A"],
  ["objectName", objectName, NAME, "panoramas/../x.jpg"],
])("%s accepts a valid constant, and throws for other text", (_, make, right, wrong) => {
  expect(make(right)).toBe(right);
  expect(() => make(wrong)).toThrow(/ cannot be .+/);
});

it("an error about a secret does not quote it", () => {
  expect(() => sessionToken("my secret")).toThrow('"…" cannot be a token');
});
