import { ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import {
  admitEndpoint,
  ENDPOINTS_MAX,
  parseEndpointUrl,
  secretsAt,
  WEBHOOK_URL_CHARACTERS_MAX,
} from "../../domain/webhook-endpoint.js";
import { anEndpoint, anEndpointSecret, noon, secondsAfter } from "../support/builders.js";

const PRIVATE = ["http://10.0.0.5:9000"];

describe("parseEndpointUrl", () => {
  it.each(["https://receiver.example.com/hook?token=1", "http://10.0.0.5:9000/hook"])("accepts %s", (url) => {
    expect(parseEndpointUrl(url, PRIVATE)).toEqual(ok(url));
  });

  it.each([
    ["http://receiver.example.com/hook", "https_url"],
    ["http://10.0.0.5:9001/hook", "https_url"],
    ["ftp://receiver.example.com/hook", "https_url"],
    ["receiver.example.com", "https_url"],
    ["https://receiver.example.com/a b", "https_url"],
    ["https://", "https_url"],
    ["https://user:secret@receiver.example.com/", "no_user_info"],
    [`https://receiver.example.com/${"x".repeat(WEBHOOK_URL_CHARACTERS_MAX)}`, "characters_max"],
  ])("refuses %s: %s", (url, rule) => {
    expect(parseEndpointUrl(url, PRIVATE)._unsafeUnwrapErr()).toMatchObject({ field: "url", rule: { name: rule } });
  });
});

describe("an endpoint", () => {
  it("has two valid secrets until the end of a rotation, the new one first", () => {
    const until = secondsAfter(noon, 60);
    const rotated = anEndpoint({ secret: anEndpointSecret(2), previous: { secret: anEndpointSecret(1), until } });
    expect(secretsAt(rotated, secondsAfter(noon, 59))).toEqual([anEndpointSecret(2), anEndpointSecret(1)]);
    expect(secretsAt(rotated, until)).toEqual([anEndpointSecret(2)]);
    expect(secretsAt(anEndpoint(), noon)).toEqual([anEndpointSecret(1)]);
  });

  it("is admitted below the maximum of its account", () => {
    expect(admitEndpoint(ENDPOINTS_MAX - 1)).toEqual(ok(undefined));
    expect(admitEndpoint(ENDPOINTS_MAX)._unsafeUnwrapErr()).toEqual({ kind: "too_many_endpoints", limit: 10 });
  });
});
