import { createHmac } from "node:crypto";
import { openAsBlob } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { toldAbilities } from "../../../adapters/client/told-abilities.js";
import { ALL_ABILITIES } from "../../../domain/tasks/abilities.js";
import { freePort } from "../../support/free-port.js";
import { codeOnPage } from "../../support/page-code.js";
import { runPython } from "../../support/python-client.js";
import { type Person, WebService } from "../../support/web-service.js";

const SECRET = `whsec_${Buffer.from("a secret of thirty-two bytes ...").toString("base64")}`;
const EXAMPLE_ID = "pan_0199f3a56c1e7b529d0e3f8a1c2b4d5e";

/** The package panorama-client, from its source. */
const clientFromSource: Plugin = {
  name: "panorama-client",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^panorama-client$/ }, ({ path }) => {
      return { path: join(process.cwd(), "adapters/client", `${path}.ts`) };
    }),
};

/** Requests, as far as the examples use it, with the standard library. A stream gives its first line. */
const REQUESTS = `
import json, urllib.request, uuid

class Answer:
    def __init__(self, response):
        self.response = response
        self.status_code = response.status
    def raise_for_status(self):
        pass
    def json(self):
        return json.load(self.response)
    def iter_lines(self):
        yield self.response.readline().rstrip(b"\\n")

def call(method, url, headers={}, json_body=None, files=None, timeout=None):
    data, headers = None, dict(headers)
    if json_body is not None:
        data, headers["Content-Type"] = json.dumps(json_body).encode(), "application/json"
    if files is not None:
        limit = uuid.uuid4().hex
        headers["Content-Type"] = f"multipart/form-data; boundary={limit}"
        data = b"".join(f'--{limit}\\r\\nContent-Disposition: form-data; name="{name}"; filename="lake.jpg"\\r\\nContent-Type: image/jpeg\\r\\n\\r\\n'.encode() + file.read() + b"\\r\\n" for name, file in files) + f"--{limit}--\\r\\n".encode()
    return Answer(urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method), timeout=timeout or 60))

def get(url, headers={}, timeout=None, stream=False): return call("GET", url, headers, timeout=timeout)
def post(url, headers={}, json=None, files=None, timeout=None): return call("POST", url, headers, json, files, timeout)
def delete(url, headers={}, timeout=None): return call("DELETE", url, headers, timeout=timeout)

class Session:
    def __init__(self): self.headers = {}
    def get(self, url, headers={}, timeout=None): return get(url, {**self.headers, **headers}, timeout)
    def post(self, url, json=None, files=None, timeout=None): return post(url, self.headers, json, files, timeout)
`;

/** Runs every example in turn and prints what each printed, as JSON. */
const DRIVER = `
import contextlib, io, json, os, sys
folder, key, secret = sys.argv[1:]
os.environ["PANORAMA_API_KEY"], os.environ["PANORAMA_WEBHOOK_SECRET"] = key, secret
os.chdir(folder)
outputs = []
for code in json.load(open("examples.json")):
    output = io.StringIO()
    scope = {}
    with contextlib.redirect_stdout(output):
        exec(code, scope)
        for body, headers in json.load(open("webhooks.json")) if "verified" in scope else []:
            try:
                print(scope["verified"](body.encode(), headers)["type"])
            except ValueError as error:
                print(error)
    outputs.append(output.getvalue().strip())
print(json.dumps(outputs))
`;

describe("the examples of /docs", () => {
  let service: WebService;
  let page: string;
  let folder: string;
  /** One for each language, because of the rate limits, with a finished panorama. */
  const people = new Map<string, Person & { readonly panorama: string }>();
  let isOver = false;
  let work: Promise<void>;
  const { PANORAMA_API_KEY, PANORAMA_WEBHOOK_SECRET } = process.env;

  beforeAll(async () => {
    service = await WebService.start();
    page = await (await fetch(`${service.url}/docs`)).text();
    folder = await mkdtemp(join(tmpdir(), "panorama-docs-"));
    await writeFile(
      join(folder, "lake.jpg"),
      await sharp({ create: { width: 64, height: 64, channels: 3, background: "#2040d0" } })
        .jpeg()
        .toBuffer(),
    );
    process.env.PANORAMA_WEBHOOK_SECRET = SECRET;
    for (const name of ["bash", "typescript", "python"]) {
      const person = await service.person(name, 1000);
      people.set(name, { ...person, panorama: (await service.kept(person)).id });
    }
    const keepWorking = async (): Promise<void> => {
      while (!isOver) {
        await service.work();
        await service.clock.advance(1000);
        await sleep(50); // lets the answers to the examples through
      }
    };
    work = keepWorking();
  });
  afterAll(async () => {
    isOver = true;
    await work;
    for (const [name, value] of Object.entries({ PANORAMA_API_KEY, PANORAMA_WEBHOOK_SECRET })) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    await service.end();
    await rm(folder, { recursive: true, force: true });
  });

  /** The examples of a language, with the id of a finished panorama, the deletion last. Sets the key of its person. */
  const examplesIn = (language: string): readonly string[] => {
    const { panorama, key } = people.get(language) ?? { panorama: "", key: "" };
    process.env.PANORAMA_API_KEY = key;
    const file = JSON.stringify(join(folder, "lake.jpg")).slice(1, -1);
    const all = codeOnPage(page, language).map((code) =>
      code.replaceAll(EXAMPLE_ID, panorama).replaceAll("lake.jpg", file),
    );
    const deletes = (code: string) => /-X DELETE|\.delete\(/.test(code);
    return [...all.filter((code) => !deletes(code)), ...all.filter(deletes)];
  };

  /** A webhook that is signed right, and the same one with another body. */
  const webhooks = (): readonly (readonly [string, Readonly<Record<string, string>>])[] => {
    const body = JSON.stringify({
      type: "credits.low",
      timestamp: new Date().toISOString(),
      data: { remaining_credits: 3 },
    });
    const timestamp = String(Math.floor(Date.now() / 1000));
    const key = Buffer.from(SECRET.slice("whsec_".length), "base64");
    const signature = createHmac("sha256", key).update(`7.${timestamp}.${body}`).digest("base64");
    const headers = {
      "webhook-id": "7",
      "webhook-timestamp": timestamp,
      "webhook-signature": `v1,${signature.replace(/^./, "_")} v1,${signature}`,
    };
    return [
      [body, headers],
      [body.replace("3", "4"), headers],
    ];
  };

  it("run with curl", async () => {
    const statuses: string[] = [];
    for (const command of examplesIn("bash")) {
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
      "GET /provenance/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 200",
      "POST /images 200",
      "POST /panoramas 202",
      "POST /panoramas/ID/cancel 200",
    ]);
  });

  it("run in Python", async () => {
    const examples = examplesIn("python");
    await writeFile(join(folder, "requests.py"), REQUESTS);
    await writeFile(join(folder, "driver.py"), DRIVER);
    await writeFile(join(folder, "examples.json"), JSON.stringify(examples));
    await writeFile(join(folder, "webhooks.json"), JSON.stringify(webhooks()));
    const outputs = (await runPython(join(folder, "driver.py"), folder, [
      folder,
      process.env.PANORAMA_API_KEY ?? "",
      SECRET,
    ])) as string[];
    const outputOf = (part: string) => outputs.filter((_, index) => examples[index]?.includes(part));
    expect(outputs.length).toBe(examples.length);
    expect(outputOf("while task")).toEqual([expect.stringMatching(/^succeeded https?:/)]);
    expect(outputOf("def verified")).toEqual(["credits.low\nthe signature is wrong"]);
    expect(outputOf("requests.delete(")).toEqual(["204"]);
    expect(outputOf('/credits"')[0]).toMatch(/^\{'remaining_credits': \d+, /);
  });

  it("run in TypeScript", async () => {
    const examples = examplesIn("typescript");
    const port = await freePort();
    const entries = examples.map((code) =>
      code.replace("createServer(", "globalThis.docsServer = createServer(").replace("listen(3000)", `listen(${port})`),
    );
    await Promise.all(entries.map((code, index) => writeFile(join(folder, `${index}.ts`), code)));
    await build({
      entryPoints: entries.map((_, index) => join(folder, `${index}.ts`)),
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
      if (code.includes("client.events()")) continue; // never ends
      printed.mockClear();
      await import(pathToFileURL(join(folder, "built", `${index}.mjs`)).href);
      outputs.set(code, [...printed.mock.calls]);
    }
    const outputOf = (part: string) => [...outputs].filter(([code]) => code.includes(part)).map(([, output]) => output);
    expect(outputOf("client.run(")).toEqual([[["succeeded", expect.stringMatching(/\.jpg$/)]]]);
    const totals = [[expect.objectContaining({ reserved_credits: expect.any(Number) })]];
    expect(outputOf("client.credits()")).toEqual([totals]); // of the guide and of the reference: the same code
    expect(outputOf("client.abilities()")).toEqual([[[toldAbilities(ALL_ABILITIES)]]]);
    expect(outputOf("client.delete(")).toEqual([[]]);

    const statuses: number[] = [];
    for (const [body, headers] of webhooks()) {
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
