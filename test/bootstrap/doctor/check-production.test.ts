import { describe, expect, it } from "vitest";
import { nearestVariable, readConfig } from "../../../bootstrap/config.js";
import { checkProduction, checkVariables } from "../../../bootstrap/doctor/check-production.js";

const GOOD = {
  NODE_ENV: "production",
  PUBLIC_URL: "https://panorama.example",
  PROVIDER: "fal",
  FAL_API_KEY: "key",
  LEGAL_PAGES_DIR: "/etc/panorama/legal",
  SMTP_URL: "smtp://mail.internal",
  MAIL_FROM: "no-reply@panorama.example",
  OPERATOR_EMAIL: "contact@panorama.example",
};

const findings = (environment: Record<string, string>) =>
  checkProduction(readConfig(environment)._unsafeUnwrap(), environment);

describe("checkProduction", () => {
  it("passes a production configuration and skips development ones", () => {
    expect(findings(GOOD)).toEqual([{ name: "production", status: "ok", message: expect.any(String) }]);
    expect(findings({ PUBLIC_URL: "http://localhost:8080" })).toEqual([]);
  });

  it.each([
    ["the local provider", { PROVIDER: "local" }, "PROVIDER is local"],
    ["http", { PUBLIC_URL: "http://panorama.example" }, "is not https"],
    ["no legal pages", { LEGAL_PAGES_DIR: "" }, "LEGAL_PAGES_DIR is not set"],
    ["an open gallery without an address for reports", { OPERATOR_EMAIL: "" }, "OPERATOR_EMAIL is not set"],
    ["trust in everybody", { TRUSTED_PROXIES: "10.0.0.5,0.0.0.0/0" }, "trusts everybody"],
    ["a proxy elsewhere", { HOST: "0.0.0.0" }, "TRUSTED_PROXIES names no other machine"],
  ])("warns of %s", (_, differences, says) => {
    expect(findings({ ...GOOD, ...differences })).toEqual([
      { name: "production", status: "warning", message: expect.stringContaining(says) },
    ]);
  });
});

describe("checkVariables", () => {
  it("suggests the variable for a misspelled name and ignores foreign names", () => {
    expect(checkVariables({ SMTP_URI: "smtp://a" })).toEqual([
      {
        name: "variables",
        status: "warning",
        message: "SMTP_URI is not a variable of the service. Did you mean SMTP_URL?",
      },
    ]);
    expect(["S3_BUKET", "DATABASE_URI", "TRUSTED_PROXY"].map(nearestVariable)).toEqual([
      "S3_BUCKET",
      "DATABASE_URL",
      undefined,
    ]);
    const others = ["PATH", "HOME", "HOSTNAME", "LANG", "PGPASSWORD", "SMTP_URL", "OTEL_SERVICE_NAME", "NODE_OPTIONS"];
    expect(checkVariables(Object.fromEntries(others.map((name) => [name, "x"])))).toEqual([]);
  });
});
