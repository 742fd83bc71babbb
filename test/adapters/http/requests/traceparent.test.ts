import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { traceIdOf, traceparentOf } from "../../../../adapters/http/requests/request-headers.js";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";
const VALID = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

describe("traceparentOf", () => {
  it("passes on the client's header with its flags", () => {
    for (const flags of ["00", "01", "ff"]) {
      const header = `00-${TRACE}-${SPAN}-${flags}`;
      expect(traceparentOf(header, "any")).toBe(header);
    }
    expect(traceIdOf(`00-${TRACE}-${SPAN}-01`)).toBe(TRACE);
  });

  it("reads the known fields of a later version", () => {
    expect(traceparentOf(`01-${TRACE}-${SPAN}-01-more`, "any")).toBe(`00-${TRACE}-${SPAN}-01`);
  });

  it.each([
    "",
    TRACE,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${"0".repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE}-${SPAN}-01\n`,
    ` 00-${TRACE}-${SPAN}-01`,
  ])("begins a new trace instead of %j", (header) => {
    const requestId = randomUUID();
    expect(traceparentOf(header, requestId)).toMatch(VALID);
    expect(traceIdOf(traceparentOf(header, requestId))).toBe(requestId.replaceAll("-", ""));
  });

  it("returns a valid value for random headers and request ids", () => {
    fc.assert(
      fc.property(fc.option(fc.string(), { nil: undefined }), fc.oneof(fc.string(), fc.uuid()), (header, requestId) => {
        expect(traceparentOf(header, requestId)).toMatch(VALID);
      }),
    );
  });

  it("differs for each request without an id", () => {
    expect(traceparentOf(undefined, "mine")).not.toBe(traceparentOf(undefined, "mine"));
  });
});
