import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { base64 } from "../support/image-bytes.js";
import { McpSession } from "../support/mcp-session.js";
import { migratedInstallation } from "../support/migrated-installation.js";
import type { Installation } from "../support/service-process.js";
import { plain } from "../support/test-images.js";

describe("the MCP server of the running service", () => {
  let installation: Installation;
  let key: string;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "panorama-mcp-"));
    installation = await migratedInstallation({ LOCAL_PROVIDER_DELAY_MS: "100" });
    key = (await installation.start()).demo_api_key ?? "";
  });
  afterAll(async () => {
    await installation.remove();
    await rm(folder, { recursive: true });
  });

  it("starts with the command that /mcp shows, and generates panoramas from text and from images", async () => {
    const page = await (await fetch(`${installation.url}/mcp`)).text();
    const snippet = /<pre[^>]*><code>([^<]*)<\/code>/.exec(page)?.[1]?.replaceAll("&quot;", '"') ?? "";
    const { command, args, env } = JSON.parse(snippet).mcpServers.panorama;
    const npm = { npm_config_cache: join(folder, "npm-cache"), npm_config_update_notifier: "false" };
    const state = { PANORAMA_STATE_DIR: join(folder, "state") };
    const session = await McpSession.over(
      new StdioClientTransport({
        command,
        args,
        env: { ...env, ...npm, ...state, PANORAMA_API_KEY: key },
        stderr: "pipe",
      }),
    );
    const { remaining_credits: before } = (await session.call("get_credit_balance")).structuredContent as {
      remaining_credits: number;
    };

    const finished = async (created: Awaited<ReturnType<McpSession["call"]>>) => {
      const { id } = created.structuredContent as { id: string };
      const done = await session.call("get_panorama_task", { id, wait_seconds: 30 });
      expect(done.structuredContent).toMatchObject({ id, status: "succeeded", output: { storage_status: "saved" } });
      const { image_url } = (done.structuredContent as { output: { image_url: string } }).output;
      const image = await (await fetch(image_url)).arrayBuffer();
      const { width = 0, height } = await sharp(Buffer.from(image)).metadata();
      expect(width).toBe(2 * (height ?? 0));
    };
    await finished(
      await session.call("generate_panorama_from_text", { prompt: "a quiet ocean in the fog", resolution: "1k" }),
    );

    const picture = await plain({ widthPixels: 300, heightPixels: 200 }).jpeg().toBuffer();
    const uploaded = await session.call("upload_reference_images", { images: [base64(picture)] });
    const { image_urls } = uploaded.structuredContent as { image_urls: string[] };
    await finished(
      await session.call("generate_panorama_from_images", { image_urls, resolution: "1k", max_credits: 4 }),
    );

    const refused = { prompt: "a quiet ocean", resolution: "1k", max_credits: 0 };
    expect(await session.error("generate_panorama_from_text", refused)).toMatchObject({ code: "budget_exceeded" });
    const balance = (await session.call("get_credit_balance")).structuredContent;
    expect(balance).toMatchObject({ remaining_credits: before - 8 });
    await session.client.close();
  });

  const generate = (...args: string[]) =>
    spawn(process.execPath, ["dist/bootstrap/panorama.cjs", "generate", ...args], {
      env: { ...installation.environment, PANORAMA_API_KEY: key },
      stdio: ["ignore", "pipe", "pipe"],
    });
  const ended = async (child: ReturnType<typeof generate>) => {
    const [stdout, stderr, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "close") as Promise<[number | null]>,
    ]);
    return { stdout, stderr, status, lines: stdout.trimEnd().split("\n") };
  };

  it("panorama generate --watch saves the image and prints a line for each change, with --json as objects", async () => {
    const file = join(folder, "watched.jpg");
    const watched = await ended(generate("a quiet ocean test:plain", "--out", file, "--watch"));
    expect(watched).toMatchObject({ status: 0, stderr: "" });
    const changes = watched.lines.filter((line) => line.startsWith("Task "));
    expect(changes[0]).toMatch(/^Task \S+: processing$/);
    expect(changes.at(-1)).toMatch(/^Task \S+: succeeded, image saved$/);
    expect(watched.lines.slice(changes.length)).toEqual([
      `Saved   ${file}`,
      expect.stringMatching(/^Viewer {2}http/),
      expect.stringMatching(/^Image {3}http/),
    ]);
    expect(await sharp(file).metadata()).toMatchObject({ width: 1024, height: 512 });
    // The user's umask counts for the user's file, not the one of the service.
    expect((await stat(file)).mode & 0o777).toBe(0o666 & ~process.umask());

    const failed = await ended(generate("test:fail", "--watch", "--json"));
    expect(failed).toMatchObject({ status: 1, stderr: expect.stringMatching(/^.*refunded.*\n$/) });
    const objects = failed.lines.map((line) => JSON.parse(line));
    expect(objects[0]).toEqual({ id: expect.any(String), status: "processing", credits_charged: 4 });
    expect(objects.at(-1)).toMatchObject({ error: { code: "generation_failed", reason: "provider_failed" } });
  });

  it("panorama generate ends on Ctrl-C with the id of its task, which continues", async () => {
    const child = generate("test:slow", "--watch", "--json");
    const printed = ended(child);
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    child.kill("SIGINT");
    const { id } = JSON.parse(String(line));
    const message = `Interrupted. Task ${id} continues: the service finishes it and shows it under My panoramas.`;
    const { status, stderr } = await printed;
    expect([status, JSON.parse(stderr)]).toEqual([130, { error: { code: "interrupted", message } }]);
    const headers = { authorization: `Bearer ${key}` };
    const task = await (await fetch(`${installation.url}/api/v1/panoramas/${id}`, { headers })).json();
    expect(task).toMatchObject({ id, status: "processing" });
  });
});
