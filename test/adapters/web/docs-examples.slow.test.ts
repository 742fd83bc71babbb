import { openAsBlob } from "node:fs";
import { writeFile } from "node:fs/promises";
import type { Server } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { abilitiesJson } from "../../../adapters/client/offer.js";
import { ALL_ABILITIES } from "../../../domain/tasks/abilities.js";
import { DocsExamples, signedWebhooks } from "../../support/docs-examples.js";
import { freePort } from "../../support/free-port.js";

/** The package panorama-client, from its source. */
const clientFromSource: Plugin = {
  name: "panorama-client",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^panorama-client$/ }, ({ path }) => {
      return { path: join(process.cwd(), "adapters/client", `${path}.ts`) };
    }),
};

describe("the examples of /docs", () => {
  let docs: DocsExamples;

  beforeAll(async () => {
    docs = await DocsExamples.start("bash", "javascript");
  });
  afterAll(() => docs.end());

  it("run with curl", async () => {
    const statuses: string[] = [];
    for (const command of docs.in("bash")) {
      const { url, init, isStream } = await curlRequest(command);
      const answer = await fetch(url, init);
      const path = new URL(url).pathname.replace(/pan_[0-9a-f]{32}/, "ID").replace("/api/v1", "");
      statuses.push(
        `${init.method} ${path} ${answer.status}${isStream ? ` ${answer.headers.get("content-type")}` : ""}`,
      );
      await answer.body?.cancel();
    }
    expect([...new Set(statuses)].sort()).toEqual([
      "DELETE /panoramas/ID 204",
      "GET /abilities 200",
      "GET /credits 200",
      "GET /credits/entries 200",
      "GET /events 200 text/event-stream; charset=utf-8",
      "GET /panoramas 200",
      "GET /panoramas/ID 200",
      "GET /panoramas/ID/events 200 text/event-stream; charset=utf-8",
      "POST /images 200",
      "POST /panoramas 202",
      "POST /panoramas/ID/cancel 200",
    ]);
  });

  it("run in JavaScript", async () => {
    const { folder } = docs;
    const examples = docs.in("javascript");
    const port = await freePort();
    const entries = examples.map((code) =>
      code.replace("createServer(", "globalThis.docsServer = createServer(").replace("listen(3000)", `listen(${port})`),
    );
    await Promise.all(entries.map((code, index) => writeFile(join(folder, `${index}.js`), code)));
    await build({
      entryPoints: entries.map((_, index) => join(folder, `${index}.js`)),
      outdir: join(folder, "built"),
      outExtension: { ".js": ".mjs" },
      bundle: true,
      splitting: true,
      platform: "node",
      format: "esm",
      plugins: [clientFromSource],
      nodePaths: [join(process.cwd(), "node_modules")],
      logLevel: "error",
    });
    const printed = vi.spyOn(console, "log").mockReturnValue();
    const outputs = new Map<string, readonly unknown[][]>();
    for (const [index, code] of examples.entries()) {
      if (code.includes('/events"') && !code.includes("/panoramas/")) continue; // never ends
      printed.mockClear();
      await import(pathToFileURL(join(folder, "built", `${index}.mjs`)).href);
      outputs.set(code, [...printed.mock.calls]);
    }
    const outputOf = (part: string) => [...outputs].filter(([code]) => code.includes(part)).map(([, output]) => output);
    expect(outputOf("client.run(")).toEqual([[["succeeded", expect.stringMatching(/\.jpg$/)]]]);
    const totals = [[expect.objectContaining({ reserved_credits: expect.any(Number) })]];
    expect(outputOf('/credits"')).toEqual([totals]); // of the guide and of the reference: the same code
    expect(outputOf('/abilities"')).toEqual([[[abilitiesJson(ALL_ABILITIES)]]]);
    expect(outputOf('/images"')).toEqual([[[expect.objectContaining({ image_urls: [expect.any(String)] })]]]);
    expect(outputOf('/events"')).toEqual([[[expect.stringContaining("event: panorama.")]]]);
    expect(outputOf('method: "DELETE"')).toEqual([[[204]]]);

    const statuses: number[] = [];
    for (const [body, headers] of signedWebhooks()) {
      statuses.push((await fetch(`http://127.0.0.1:${port}`, { method: "POST", body, headers })).status);
    }
    expect(statuses).toEqual([204, 400]);
    expect(printed.mock.calls.at(-1)).toEqual(["7", "credits.low"]);
    printed.mockRestore();
    const { docsServer } = globalThis as unknown as { docsServer: Server };
    docsServer.closeAllConnections();
    await new Promise((resolve) => docsServer.close(resolve));
  });
});

/** The request that a curl command sends. */
const curlRequest = async (command: string) => {
  const [, ...words] = [...command.replaceAll("\\\n", " ").matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) =>
      single ?? (double ?? plain ?? "").replace("$PANORAMA_API_KEY", process.env.PANORAMA_API_KEY ?? ""),
  );
  const headers = new Headers();
  let [url, method, isStream]: [string, string | undefined, boolean] = ["", undefined, false];
  let body: string | FormData | undefined;
  while (words.length > 0) {
    const word = words.shift() ?? "";
    const value = /^-[XHdF]$/.test(word) ? (words.shift() ?? "") : "";
    if (word === "-X") method = value;
    else if (word === "-H") headers.append(...(value.split(": ") as [string, string]));
    else if (word === "-d") body = value;
    else if (word === "-F") {
      const [name = "", file = ""] = value.split("=@");
      body = new FormData();
      body.append(name, await openAsBlob(file, { type: "image/jpeg" }), "lake.jpg");
    } else if (word.startsWith("http")) url = word;
    else isStream = word === "-sSN" || isStream;
  }
  method ??= body === undefined ? "GET" : "POST";
  return { url, init: { method, headers, ...(body !== undefined && { body }) }, isStream };
};
