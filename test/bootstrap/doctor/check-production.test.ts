import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { nearestVariable, readConfig } from "../../../bootstrap/config.js";
import { checkProduction, checkVariables } from "../../../bootstrap/doctor/check-production.js";

const GOOD = {
  NODE_ENV: "production",
  PUBLIC_URL: "https://panorama.example",
  PROVIDER: "fal",
  FAL_API_KEY: "key",
  LEGAL_PAGES_DIR: "/etc/panorama/legal",
};

const findings = (environment: Record<string, string>, retention: number | null = null, deletedDays = 0) => {
  const config = readConfig(environment)._unsafeUnwrap();
  return checkProduction({ ...config, retention: { finishedImagesDays: retention, deletedDays } }, environment);
};

describe("checkProduction", () => {
  it("is content with a service for customers, and says nothing about others", () => {
    expect(findings(GOOD)).toEqual([{ name: "production", status: "ok", message: expect.any(String) }]);
    expect(findings({ PUBLIC_URL: "http://localhost:8080" })).toEqual([]);
  });

  it.each([
    ["the local provider", { PROVIDER: "local" }, null, "PROVIDER is local"],
    ["http", { PUBLIC_URL: "http://panorama.example" }, null, "is not https"],
    ["no legal pages", { LEGAL_PAGES_DIR: "" }, null, "LEGAL_PAGES_DIR is not set"],
    ["trust in everybody", { TRUSTED_PROXIES: "10.0.0.5,0.0.0.0/0" }, null, "trusts everybody"],
    ["a proxy elsewhere", { HOST: "0.0.0.0" }, null, "TRUSTED_PROXIES names no other machine"],
    ["a short retention", {}, 7, "deleted after 7 days"],
  ])("warns of %s", (_, differences, retention, says) => {
    expect(findings({ ...GOOD, ...differences }, retention)).toEqual([
      { name: "production", status: "warning", message: expect.stringContaining(says) },
    ]);
  });

  it("warns of deleted pictures that are kept without a word in the privacy text", () => {
    const says = "Deleted pictures are kept for 7 days. Say so in /etc/panorama/legal/privacy.md";
    expect(findings(GOOD, null, 7)).toMatchObject([{ status: "warning", message: expect.stringContaining(says) }]);
    const ours = { ...GOOD, LEGAL_PAGES_DIR: join(import.meta.dirname, "../../../bootstrap/deployment/legal") };
    expect(findings(ours, null, 7)).toMatchObject([{ status: "ok" }]);
  });
});

describe("checkVariables", () => {
  it("asks whether a mistyped name was meant, and leaves names of others alone", () => {
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
