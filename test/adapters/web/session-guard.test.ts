import { expect, it } from "vitest";
import { SessionGuard } from "../../../adapters/web/session-guard.js";
import { sessionToken } from "../../../domain/accounts/session.js";

// Over http: account/login-pages.test.ts.
it("SessionGuard sets a session cookie for this host and https only, if the service has a URL of https", () => {
  const guard = new SessionGuard({} as never, {} as never, {} as never, "https://panorama.example");
  const token = sessionToken("a".repeat(43));
  expect(guard.cookie(token)).toEqual({
    "set-cookie": `__Host-session=${token}; Max-Age=2592000; Path=/; HttpOnly; SameSite=Lax; Secure`,
  });
});
