import { expect } from "vitest";
import { PUBLIC_REASONS } from "../../domain/tasks/public-reason.js";

/** Expects an answer with the error body of the interface, this status and this code. Returns its message. */
export const expectError = async (response: Response, status: number, code: string): Promise<string> => {
  const text = await response.text();
  expect(`${response.status} ${text}`).toMatch(new RegExp(`^${status} \\{"error":`));
  const body = JSON.parse(text);
  const { param, reason, ...error } = body.error;
  if (reason !== undefined)
    expect([code, PUBLIC_REASONS]).toEqual(["upstream_error", expect.arrayContaining([reason])]);
  expect({ ...body, error }).toEqual({ error: { code, message: expect.stringMatching(/^\S.*[.!]$/) } });
  if (param !== undefined && reason === undefined) {
    expect(code).toBe("invalid_request");
    expect(error.message.startsWith(`${param}: `)).toBe(true);
  }
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(response.headers.get("x-request-id")).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  expect(response.headers.has("retry-after")).toBe(code === "rate_limited");
  return body.error.message;
};
