import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeImageApi } from "../support/fake-image-api.js";
import { freePort } from "../support/free-port.js";
import { PackedProject } from "../support/packed-project.js";
import { startHttp } from "../support/providers-under-test.js";
import { seamless } from "../support/test-images.js";

const blocksOf = async (document: string): Promise<string[]> =>
  [...(await readFile(document, "utf8")).matchAll(/^```ts\n(.*?)^```$/gms)].map(([, block = ""]) => block);

describe("the code blocks of the documents for embedders", () => {
  let project: PackedProject;

  beforeAll(async () => {
    project = await PackedProject.with(["panorama-service"], ["@types/node", "@photostructure/sqlite"]);
    const blocks = await blocksOf("EMBEDDING.md");
    const names = ["service.ts", "worker.ts"];
    expect(blocks).toHaveLength(names.length);
    for (const [n, name] of names.entries()) await writeFile(join(project.folder, name), blocks[n] ?? "");
    await project.compileOwn(names);
  });
  afterAll(() => project.remove());

  it("are whole programs: library.program.test.ts runs the one of each README.md", async () => {
    for (const name of ["panorama-core", "panorama-client", "panorama-service"]) {
      expect(await blocksOf(`bootstrap/packages/${name}/README.md`)).toHaveLength(1);
    }
  });

  it("of EMBEDDING.md make a service on an image API, which makes a panorama", async () => {
    const api = await FakeImageApi.start();
    api.picture = await seamless({ widthPixels: 512, heightPixels: 256 }).png().toBuffer();
    const env = { ...process.env, PORT: String(await freePort()), IMAGE_API_URL: api.origin, IMAGE_API_KEY: "sk-api" };
    const { child, line } = await project.start("service.js", env);
    const [url, key] = line.split(" ");
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const call = async (path: string, body?: object) => {
      const init = body === undefined ? { headers } : { headers, method: "POST", body: JSON.stringify(body) };
      return (await (await fetch(`${url}${path}`, init)).json()) as Record<string, unknown>;
    };
    const { id } = await call("/panoramas", { prompt: "a lake", resolution: "1k" });
    const limit = { interval: 2_000, timeout: 60_000 }; // the rate limit allows one read per second
    await expect.poll(() => call(`/panoramas/${id}`), limit).toMatchObject({ output: { storage_status: "saved" } });
    expect(api.requests).toEqual([{ authorization: "Bearer sk-api", prompt: "360° panorama: a lake" }]);
    child.kill();
    await api.close();
  });

  it("of EMBEDDING.md check a worker", async () => {
    const worker = await startHttp();
    const env = { ...process.env, WORKER_URL: `${worker.fake.server.url}/worker` };
    const { line } = await project.start("worker.js", env);
    expect(line).toMatch(/^ready$|HTTP_PROVIDER_TOKEN/);
    await worker.close();
  });
});
