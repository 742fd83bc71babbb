import { describe, expect, it } from "vitest";
import { canonicalText } from "../../../domain/tasks/canonical-text.js";
import { parseCreationRequest } from "../../../domain/tasks/creation-request.js";

const url = "https://images.example.com/1.jpg";
const accepted = (body: unknown) => parseCreationRequest(body)._unsafeUnwrap();

describe("the canonical text of a creation request", () => {
  const textOf = (body: unknown) => canonicalText(accepted(body));

  it("is equal for equivalent requests", () => {
    const explicit = { visibility: "private", image_urls: [], prompt: "lake", resolution: "1k" };
    expect(textOf({ resolution: "1k", prompt: "lake" })).toBe(textOf(explicit));
    expect(textOf({ resolution: "1k", prompt: " lake\n", metadata: {} })).toBe(textOf(explicit));
    expect(textOf({ resolution: "1k", prompt: "lake", metadata: { a: "1", b: "2" } })).toBe(
      textOf({ resolution: "1k", prompt: "lake", metadata: { b: "2", a: "1" } }),
    );
    expect(textOf({ resolution: "1k", image_urls: [url] })).toBe(
      textOf({ resolution: "1k", image_urls: [url], prompt: "" }),
    );
  });

  it("never changes, so that a key still replays after an update", () => {
    expect(textOf({ resolution: "1k", prompt: "lake", seed: 7, metadata: { b: "2", a: "1" } })).toBe(
      '{"resolution":"1k","prompt":"lake","image_urls":[],"visibility":"private","seed":7,"metadata":{"a":"1","b":"2"}}',
    );
    const told = { image_urls: [url], visibility: "public", webhook_url: "https://receiver.example.com/1" };
    expect(textOf({ resolution: "4k", ...told })).toBe(
      `{"resolution":"4k","image_urls":["${url}"],"visibility":"public","metadata":{},"webhook_url":"https://receiver.example.com/1"}`,
    );
  });

  it("differs for requests with different meanings", () => {
    const other = `${url}?2`;
    const texts = [
      { resolution: "1k", prompt: "lake" },
      { resolution: "2k", prompt: "lake" },
      { resolution: "1k", prompt: "Lake" },
      { resolution: "1k", prompt: "lake", visibility: "public" },
      { resolution: "1k", prompt: "lake", image_urls: [url] },
      { resolution: "1k", image_urls: [url] },
      { resolution: "1k", image_urls: [url, other] },
      { resolution: "1k", image_urls: [other, url] },
      { resolution: "1k", prompt: `null,["${url}"]` },
      { resolution: "1k", prompt: "lake", seed: 0 },
      { resolution: "1k", prompt: "lake", seed: 1 },
      { resolution: "1k", prompt: "lake", metadata: { seed: "1" } },
      { resolution: "1k", prompt: "lake", metadata: { seed: "" } },
      { resolution: "1k", prompt: "lake", seed: 1, metadata: { seed: "1" } },
    ].map(textOf);
    expect(new Set(texts).size).toBe(texts.length);
  });

  it("contains max_credits", () => {
    const request = accepted({ resolution: "1k", prompt: "lake" });
    expect(canonicalText(request, 4)).toBe(
      '{"resolution":"1k","prompt":"lake","image_urls":[],"visibility":"private","metadata":{},"max_credits":4}',
    );
    expect(canonicalText(request, 0)).not.toBe(canonicalText(request));
  });
});
