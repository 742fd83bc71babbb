import { ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { anEndpoint, anEndpointSecret, noon, secondsAfter } from "../../../adapters/contracts/support/builders.js";
import {
  admitEndpoint,
  admitEndpointAt,
  ENDPOINTS_MAX,
  endpointSecret,
  OFF_REASONS,
  parseEndpointUrl,
  SECRET_OVERLAP_MILLISECONDS,
  secretsAt,
} from "../../../domain/webhooks/webhook-endpoint.js";

const PRIVATE = ["http://10.0.0.5:9000", "https://10.0.0.6"];

describe("parseEndpointUrl", () => {
  it.each(["https://receiver.example.com/hook?token=1", "http://10.0.0.5:9000/hook", "https://10.0.0.6/hook"])(
    "accepts %s",
    (url) => {
      expect(parseEndpointUrl(url, PRIVATE)).toEqual(ok(url));
    },
  );

  it.each([
    ["https_url", ["http://receiver.example.com/hook", "http://10.0.0.5:9001/hook", "ftp://receiver.example.com/hook"]],
    ["https_url", ["receiver.example.com", "https://receiver.example.com/a b", "https://receiver.example.com/\u0000"]],
    ["https_url", ["https://receiver.example.com/\ud83d", " https://receiver.example.com/", "https://a.example:x/"]],
    ["https_url", ["https://", "https:receiver.example.com/?https://"]],
    ["no_user_info", ["https://user@receiver.example.com/", "https://:secret@receiver.example.com/"]],
    ["no_user_info", ["https://user:secret@receiver.example.com/"]],
    ["public_host", ["https://10.0.0.5:9000/hook", "https://10.0.0.6:444/hook", "https://localhost/hook"]],
    ["public_host", ["https://[::ffff:127.0.0.1]/hook"]],
  ])("refuses by the rule %s: %j", (name, urls) => {
    for (const url of urls) {
      const rule = name === "https_url" ? { name, actual: url } : { name };
      expect(parseEndpointUrl(url, PRIVATE)._unsafeUnwrapErr()).toMatchObject({ field: "url", rule });
    }
  });
});

it("parseEndpointUrl accepts 2048 characters and names the length of a longer URL", () => {
  const start = "https://receiver.example.com/";
  const url = start.padEnd(2048, "x");
  expect(parseEndpointUrl(url, [])).toEqual(ok(url));
  const rule = { name: "characters_max", max: 2048, actual: 2049 };
  expect(parseEndpointUrl(`${url}x`, [])._unsafeUnwrapErr()).toMatchObject({ rule });
});

describe("an endpoint", () => {
  it("returns two valid secrets during a rotation, the new one first", () => {
    const until = secondsAfter(noon, 60);
    const rotated = anEndpoint({ secret: anEndpointSecret(2), previous: { secret: anEndpointSecret(1), until } });
    expect(secretsAt(rotated, secondsAfter(noon, 59))).toEqual([anEndpointSecret(2), anEndpointSecret(1)]);
    expect(secretsAt(rotated, until)).toEqual([anEndpointSecret(2)]);
    expect(secretsAt(anEndpoint(), noon)).toEqual([anEndpointSecret(1)]);
  });

  it("signs as Standard Webhooks defines it, and with its old secret for 24 hours after a rotation", () => {
    expect(endpointSecret("AAAA")).toBe("whsec_AAAA");
    expect(SECRET_OVERLAP_MILLISECONDS).toBe(86_400_000);
    expect(OFF_REASONS).toEqual(["failing", "gone", "deleted"]);
  });

  it("is admitted below the maximum of its account", () => {
    expect(admitEndpoint(ENDPOINTS_MAX - 1)).toEqual(ok(undefined));
    expect(admitEndpoint(ENDPOINTS_MAX)._unsafeUnwrapErr()).toEqual({ kind: "too_many_endpoints", limit: 10 });
  });

  it.each([
    ["https://a.example/hook", "https://a.example/hook"],
    ["https://A.example:443/hook#part", "https://a.example/hook"],
    ["https://a.example", "https://a.example/"],
  ])("is refused at %s beside an endpoint at %s", (url, other) => {
    const refused = { kind: "invalid_request", field: "url", rule: { name: "new_endpoint" } };
    expect(admitEndpointAt(url, ["https://b.example/", other])._unsafeUnwrapErr()).toEqual(refused);
  });

  it("is admitted at another URL, and refused as the eleventh", () => {
    const urls = Array.from({ length: ENDPOINTS_MAX }, (_, n) => `https://a.example/${n}`);
    expect(admitEndpointAt("https://a.example/hook?x=1", ["https://a.example/hook"])).toEqual(ok(undefined));
    expect(admitEndpointAt("https://a.example/new", urls)._unsafeUnwrapErr().kind).toBe("too_many_endpoints");
  });
});
