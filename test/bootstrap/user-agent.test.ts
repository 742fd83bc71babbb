import { describe, expect, it } from "vitest";
import { installationUserAgent } from "../../bootstrap/user-agent.js";
import { panoramaVersion } from "../../bootstrap/version.js";
import type { Email } from "../../domain/accounts/account.js";

const operatorEmail = "operator@panoramas.example" as Email;

describe("installationUserAgent", () => {
  it.each([
    ["the public URL", { publicUrl: "https://panoramas.example.com", operatorEmail }, "https://panoramas.example.com"],
    ["the operator's address", { publicUrl: "http://localhost:8787", operatorEmail }, `mailto:${operatorEmail}`],
    [
      "the URL that nobody reaches, where nothing else is known",
      { publicUrl: "http://localhost:8787", operatorEmail: undefined },
      "http://localhost:8787",
    ],
  ])("names the version and %s", (_, config, contact) => {
    expect(installationUserAgent(config)).toBe(`panorama-service/${panoramaVersion()} (+${contact})`);
  });
});
