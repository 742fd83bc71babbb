import { resolve } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { migratedInstallation } from "../support/migrated-installation.js";
import type { Installation } from "../support/service-process.js";

const WITHOUT_NATIVE = { NODE_OPTIONS: `--require ${resolve("test/support/without-native-server.cjs")}` };

describe("the HTTP server of panorama serve", () => {
  let installation: Installation;
  afterEach(() => installation.remove());

  /** The HTTP server that the service runs on, and its warnings. */
  const started = async (environment: Record<string, string>) => {
    installation = await migratedInstallation({ DEMO: "false", HTTP_SERVER: "", ...environment });
    await installation.start();
    const { headers } = await fetch(`${installation.url}/healthz`);
    expect(await installation.end("SIGTERM")).toBe(0);
    const warnings = installation.log
      .split("\n")
      .filter((line) => line.includes("native_http_server_"))
      .map((line) => JSON.parse(line) as unknown);
    return { server: headers.has("keep-alive") ? "node" : "native", warnings };
  };

  it("falls back to node:http with one warning if the native server cannot be loaded", async () => {
    expect(await started(WITHOUT_NATIVE)).toEqual({
      server: "node",
      warnings: [
        expect.objectContaining({
          event: "native_http_server_unavailable",
          reason: "/lib/libc.so.6: version `GLIBC_2.99' not found",
          msg: expect.stringContaining("HTTP_SERVER=node chooses it without this warning"),
        }),
      ],
    });
  });

  it("uses node:http without a warning with HTTP_SERVER=node", async () => {
    const environment = { ...WITHOUT_NATIVE, HTTP_SERVER: "node", HOST: "0.0.0.0" };
    expect(await started(environment)).toEqual({ server: "node", warnings: [] });
  });

  it("warns in one line if the native server is reachable without a proxy", async () => {
    expect(await started({ HOST: "0.0.0.0" })).toEqual({
      server: "native",
      warnings: [
        expect.objectContaining({
          event: "native_http_server_without_proxy",
          host: "0.0.0.0",
          msg: expect.stringContaining("put a proxy in front, or set HTTP_SERVER=node."),
        }),
      ],
    });
  });

  it("stops the start with one sentence if HTTP_SERVER=native cannot be loaded", async () => {
    installation = await migratedInstallation({ ...WITHOUT_NATIVE, HTTP_SERVER: "native" });
    const { status, error } = await installation.command("serve");
    expect([status, error?.message]).toEqual([
      6,
      "HTTP_SERVER is native, but the native HTTP server cannot be loaded: /lib/libc.so.6: version `GLIBC_2.99' not found. Set HTTP_SERVER=node, or leave it out.",
    ]);
  });
});
