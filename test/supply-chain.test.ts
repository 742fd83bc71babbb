import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { auditFindings } from "./supply-chain/audit.js";
import { lockFindings } from "./supply-chain/lock-file.js";

describe("the lock file", () => {
  it("lists an integrity and an allowed licence for every package", async () => {
    const { packages } = JSON.parse(await readFile("package-lock.json", "utf8"));
    expect(Object.keys(packages).length).toBeGreaterThan(500);
    expect(lockFindings(packages)).toEqual([]);
  });

  it.each([
    ["no integrity", { license: "MIT" }, ["node_modules/x: has no sha512 integrity"]],
    ["a weak integrity", { integrity: "sha1-a", license: "MIT" }, ["node_modules/x: has no sha512 integrity"]],
    ["no licence", { integrity: "sha512-a" }, ["node_modules/x: the licence (none) is not allowed"]],
    [
      "a licence that forbids bundling",
      { integrity: "sha512-a", license: "MIT AND AGPL-3.0-only" },
      ["node_modules/x: the licence MIT AND AGPL-3.0-only is not allowed"],
    ],
    ["a choice of licences", { integrity: "sha512-a", license: "(AGPL-3.0-only OR MIT)" }, []],
  ])("is checked for %s", (_, entry, findings) => {
    expect(lockFindings({ "": {}, "node_modules/x": entry })).toEqual(findings);
  });
});

describe("the findings of npm audit", () => {
  const url = "https://github.com/advisories/GHSA-1";
  const report = {
    vulnerabilities: {
      pg: { severity: "high", via: [{ url }] },
      dependent: { severity: "high", via: ["pg"] },
      other: { severity: "moderate", via: [{ url: "https://github.com/advisories/GHSA-2" }] },
    },
  };
  const now = new Date("2026-11-21");

  it("reports high and critical advisories without a valid exception", () => {
    expect(auditFindings(report, [], now)).toEqual([`pg: high, ${url}`]);
    expect(auditFindings(report, [{ url, until: "2026-12-01", reason: "not called" }], now)).toEqual([]);
    expect(auditFindings(report, [{ url, until: "2026-11-21", reason: "not called" }], now)).toHaveLength(1);
  });

  it("are reported as unknown if the registry has not answered", () => {
    expect(auditFindings({}, [], now)).toBeUndefined();
  });
});
