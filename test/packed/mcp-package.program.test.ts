import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type McpBundle, packMcpServer, readMcpBundle } from "../../adapters/mcp/mcp-package.js";
import { FakeService } from "../support/fake-service.js";
import { base64, pngBytes } from "../support/image-bytes.js";
import { GENERATIONS, McpSession, messageOf, textOf } from "../support/mcp-session.js";

const run = promisify(execFile);

let folder: string;
let bundle: McpBundle;
let service: FakeService;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "panorama-mcp-package-"));
  await cp("dist/mcp", folder, { recursive: true });
  bundle = await readMcpBundle(folder);
  service = await FakeService.start();
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

/** Starts the installed program. `npx` starts it in `test/bootstrap/mcp.slow.test.ts`. */
const installed = (env: Record<string, string> = { PANORAMA_API_KEY: service.apiKey }) =>
  new StdioClientTransport({
    command: join(folder, "installed/node_modules/.bin/panorama-mcp"),
    env: { ...env, PANORAMA_STATE_DIR: join(folder, "state") },
    stderr: "pipe",
  });

/** Starts the bundle, so that the process id is that of the MCP server. */
const directly = (stateFolder: string) =>
  new StdioClientTransport({
    command: process.execPath,
    args: [join(folder, "panorama-mcp.js")],
    env: {
      PANORAMA_API_KEY: service.apiKey,
      PANORAMA_BASE_URL: service.origin,
      PANORAMA_STATE_DIR: stateFolder,
    },
    stderr: "pipe",
  });

describe("the MCP package", () => {
  it("is below 300 kB, with equal bytes for equal origins", () => {
    const packed = packMcpServer(bundle, "https://panorama.test");
    expect(packed.length).toBeLessThan(300_000);
    expect(packMcpServer(bundle, "https://panorama.test")).toEqual(packed);
    expect(packMcpServer(bundle, "https://other.test")).not.toEqual(packed);
    expect(String(gunzipSync(packed))).toContain('{"base_url":"https://panorama.test/api/v1"}');
  });

  it("installs with npm as one program without dependencies, and contains the licences of the bundled packages", async () => {
    const tarball = join(folder, "package.tgz");
    await writeFile(tarball, packMcpServer(bundle, service.origin));
    const target = join(folder, "installed");
    await mkdir(target);
    await run("npm", ["install", "--offline", "--prefix", target, tarball]);
    const { packages } = JSON.parse(await readFile(join(target, "node_modules/.package-lock.json"), "utf8"));
    expect(packages).toEqual({ "node_modules/panorama-mcp": expect.objectContaining({ version: "0.1.0" }) });
    expect(String(bundle.licenses)).toMatch(/@modelcontextprotocol\/server\n\n.*Apache License/s);
  });

  it.each(GENERATIONS)(
    "runs every tool for a client of %s with nothing but the API key, also after a refused upload of 50 MiB",
    async (revision) => {
      const before = { tasks: service.tasks.length, credits: service.remainingCredits };
      const session = await McpSession.over(installed(), revision);
      expect(session.client.getServerVersion()).toMatchObject({
        name: "panorama",
        version: "0.1.0",
        websiteUrl: `${service.origin}/mcp`,
        icons: [{ mimeType: "image/svg+xml" }],
      });

      const text = await session.call("generate_panorama_from_text", { prompt: "a quiet harbour", resolution: "1k" });
      const { id } = text.structuredContent as { id: string };
      const done = await session.call("get_panorama_task", { id, wait_seconds: 20 });
      expect(done.structuredContent).toMatchObject({ status: "succeeded", output: { storage_status: "saved" } });

      const tooLarge = { images: Array(5).fill(base64(pngBytes(10 * 1024 * 1024))) };
      expect((await session.error("upload_reference_images", tooLarge))?.message).toContain("20 MiB");
      const images = Array.from({ length: 5 }, (_, index) => base64(pngBytes(4 * 1024 * 1024, index)));
      const uploaded = await session.call("upload_reference_images", { images });
      const { image_urls } = uploaded.structuredContent as { image_urls: string[] };
      expect(new Set(image_urls).size).toBe(5);
      const fromImages = await session.call("generate_panorama_from_images", {
        image_urls: image_urls.slice(0, 3),
        resolution: "2k",
      });
      expect(fromImages.structuredContent).toMatchObject({ status: "processing", credits_charged: 6 });

      expect((await session.call("get_credit_balance")).structuredContent).toMatchObject({
        remaining_credits: before.credits - 10,
      });
      const refused = await session.call("generate_panorama_from_text", {
        prompt: "a quiet harbour",
        resolution: "1k",
        max_credits: 0,
      });
      expect(textOf(refused)).toContain("budget_exceeded");
      expect(service.tasks).toHaveLength(before.tasks + 2);
      const [recent] = (await session.client.readResource({ uri: "panorama://recent" })).contents;
      expect(JSON.parse((recent as { text: string }).text).panoramas).toHaveLength(service.tasks.length);
      await session.client.close();
    },
  );

  it("continues a creation after the process was killed, once, although two processes get the same call", async () => {
    const stateFolder = join(folder, "killed");
    const names = () => readdir(join(stateFolder, "unconfirmed-creations"));
    const aLighthouse = { prompt: "a lighthouse in a storm", resolution: "1k" };
    const before = { tasks: service.tasks.length, credits: service.remainingCredits };

    service.failNext("POST", "/panoramas", { kind: "accept-and-hang" });
    const hanging = service.hanging();
    const transport = directly(stateFolder);
    const killed = await McpSession.over(transport);
    const lost = killed.call("generate_panorama_from_text", aLighthouse).catch((error: Error) => error);
    await hanging;
    expect(await names()).toHaveLength(1);
    expect((await names())[0]).not.toContain("lighthouse");
    process.kill(transport.pid ?? 0, "SIGKILL");
    expect(await lost).toBeInstanceOf(Error);

    const sessions = await Promise.all([
      McpSession.over(directly(stateFolder)),
      McpSession.over(directly(stateFolder)),
    ]);
    const answers = await Promise.all(
      sessions.map((session) => session.call("generate_panorama_from_text", aLighthouse)),
    );
    const continued = answers.map((answer) => messageOf(answer).startsWith("This is the task of the earlier call"));
    expect(continued.sort()).toEqual([false, true]);
    expect(service.tasks).toHaveLength(before.tasks + 2);
    expect(service.remainingCredits).toBe(before.credits - 8);
    expect(await names()).toEqual([]);
    await Promise.all(sessions.map(({ client }) => client.close()));
  });

  it("lists its tools without an API key, and warns on stderr only", async () => {
    const transport = installed({});
    const stderr: string[] = [];
    transport.stderr?.on("data", (chunk) => stderr.push(String(chunk)));
    const session = await McpSession.over(transport);
    expect((await session.client.listTools()).tools).toHaveLength(5);
    expect(stderr.join("")).toContain("PANORAMA_API_KEY is not set");
    await session.client.close();
  });

  it("writes only protocol messages to stdout, and exits when stdin ends", async () => {
    const started = run(process.execPath, [join(folder, "panorama-mcp.js")], { env: { PATH: process.env.PATH } });
    const request = { jsonrpc: "2.0", id: 1, method: "ping" };
    started.child.stdin?.end(`${JSON.stringify(request)}\n`);
    const { stdout } = await started;
    expect(stdout).toBe('{"result":{},"jsonrpc":"2.0","id":1}\n');
    expect(started.child.exitCode).toBe(0);
  });

  it("does not start with an invalid PANORAMA_BASE_URL, and reports why in one line", async () => {
    const env = { PATH: process.env.PATH, PANORAMA_BASE_URL: "panorama.test" };
    const started = run(process.execPath, [join(folder, "panorama-mcp.js")], { env });
    await expect(started).rejects.toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^panorama-mcp: PANORAMA_BASE_URL: .*but is "panorama\.test"\.\n$/),
    });
  });

  it("answers its first client in the time in which Node.js starts twenty times", async () => {
    // A second at most on a machine where Node.js starts in 50 ms. Measures the installed program, without npx.
    let [bare, answered] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let start = 0; start < 3; start++) {
      const begun = performance.now();
      await run(process.execPath, ["--eval", "0"]);
      const started = performance.now();
      const command = join(folder, "installed/node_modules/.bin/panorama-mcp");
      const session = await McpSession.over(new StdioClientTransport({ command, stderr: "pipe" }));
      bare = Math.min(bare, started - begun);
      answered = Math.min(answered, performance.now() - started);
      await session.client.close();
    }
    expect(answered).toBeLessThan(20 * bare);
  });
});
