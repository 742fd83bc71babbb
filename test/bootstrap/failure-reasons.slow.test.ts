import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type LocalServer, startLocalServer } from "../support/local-server.js";
import { McpSession, messageOf } from "../support/mcp-session.js";
import { migratedInstallation } from "../support/migrated-installation.js";
import { RestClient, type Task } from "../support/rest-client.js";
import type { Installation } from "../support/service-process.js";
import { plain } from "../support/test-images.js";

const UNREACHABLE = "https://pictures.invalid/p.jpg";
const TRY_LATER = /Try again later/;

/** What a client does, and what it is told: the reason, a part of the sentence, and the parameter at fault. */
const FAILURES: readonly {
  readonly by: string;
  readonly reason: string;
  readonly says: RegExp;
  readonly param?: string;
  /** `uploaded` stands for a picture of this service. */
  readonly images?: readonly string[];
}[] = [
  { by: "test:fail", reason: "provider_failed", says: /other words may help/ },
  { by: "test:content", reason: "content_refused", says: /Change the prompt\./, param: "prompt" },
  { by: "test:content", images: ["uploaded"], reason: "content_refused", says: /the prompt or the reference images/ },
  {
    by: "test:reference",
    images: ["uploaded", "uploaded"],
    reason: "reference_unusable",
    says: /could not use reference image 2/,
    param: "image_urls[1]",
  },
  { by: "test:unreachable", reason: "reference_unreachable", says: /Upload it/, param: "image_urls" },
  {
    by: "a lake",
    images: ["uploaded", UNREACHABLE],
    reason: "reference_unreachable",
    says: /reference image 2 could not be read/,
    param: "image_urls[1]",
  },
  { by: "test:unusable", reason: "unusable_result", says: /no usable picture/ },
  { by: "test:timeout", reason: "provider_timeout", says: TRY_LATER },
  { by: "test:queue-timeout", reason: "queue_timeout", says: TRY_LATER },
  { by: "test:unavailable", reason: "provider_unavailable", says: TRY_LATER },
  { by: "test:slow", reason: "canceled", says: /was canceled/ },
  { by: "test:reject", reason: "provider_refused", says: /did not accept/ },
];

describe("the reason of a failed panorama", () => {
  let installation: Installation;
  let client: RestClient;
  let key: string;
  let session: McpSession;
  let receiver: LocalServer;
  let cookie: string;
  let uploaded: string;
  /** By the id of the task. */
  const webhooks = new Map<string, { readonly type: string; readonly data: Task }>();

  beforeAll(async () => {
    receiver = await startLocalServer(async (request, response) => {
      const event = JSON.parse(Buffer.concat(await request.toArray()).toString());
      webhooks.set(event.data.id, event);
      response.writeHead(204).end();
    });
    const { origin } = receiver;
    installation = await migratedInstallation({ LOCAL_PROVIDER_DELAY_MS: "100", WEBHOOK_PRIVATE_ORIGINS: origin });
    const settings = join(installation.dataDir, "settings.json");
    await writeFile(settings, JSON.stringify({ limits: { writesPerMinute: 100, readsPerMinute: 600 } }));
    Object.assign(installation.environment, { PANORAMA_SETTINGS: settings });
    const { url } = installation;
    const { demo_api_key, demo_email, demo_password } = await installation.start();
    key = demo_api_key ?? "";
    client = new RestClient(url, key);
    session = await McpSession.over(
      new StdioClientTransport({
        command: process.execPath,
        args: ["dist/bootstrap/panorama.cjs", "mcp"],
        env: { ...(installation.environment as Record<string, string>), PANORAMA_API_KEY: key },
        stderr: "pipe",
      }),
    );
    const body = new URLSearchParams({ email: demo_email ?? "", password: demo_password ?? "" });
    const headers = { origin: url };
    const login = await fetch(`${url}/login`, { method: "POST", redirect: "manual", headers, body });
    cookie = login.headers
      .getSetCookie()
      .map((one) => one.split(";")[0])
      .join("; ");
    const picture = await plain({ widthPixels: 300, heightPixels: 200 }).jpeg().toBuffer();
    [uploaded = ""] = await client.upload([new Blob([new Uint8Array(picture)], { type: "image/jpeg" })]);
  });
  afterAll(async () => {
    await session?.client.close();
    await installation?.remove();
    await receiver?.close();
  });

  /** A creation that the provider refuses is answered with 502, and its task is in the list. */
  const createdId = async (creation: object): Promise<string> => {
    const created = await client.request("/panoramas", { method: "POST", body: JSON.stringify(creation) });
    if (created.status === 202) return ((await created.json()) as Task).id;
    expect(created.status).toBe(502);
    expect(await created.json()).toMatchObject({ error: { code: "upstream_error" } });
    return (await newest()).id;
  };
  const newest = async (): Promise<Task> => {
    const listed = (await (await client.request("/panoramas?limit=1")).json()) as { data: [Task] };
    return listed.data[0];
  };

  const page = async (path: string): Promise<string> => {
    const text = await (await fetch(installation.url + path, { headers: { cookie } })).text();
    return text.replaceAll("&#39;", "'");
  };

  it.each(FAILURES)("$by: $reason, in REST, webhook, page, MCP and commands", async (expected) => {
    const { by, images, reason, says, param } = expected;
    const before = await client.credits();
    const id = await createdId({
      prompt: `a quiet lake ${by}`,
      resolution: "1k",
      webhook_url: `${receiver.origin}/hook`,
      ...(images && { image_urls: images.map((image) => (image === "uploaded" ? uploaded : image)) }),
    });
    if (reason === "canceled") await client.request(`/panoramas/${id}/cancel`, { method: "POST" });
    const task = await client.untilKept(id);
    expect(task.error).toEqual({
      code: "generation_failed",
      message: expect.stringMatching(/^.+\. The 4 reserved credits were refunded\.$/),
      reason,
      ...(param !== undefined && { param }),
    });
    const message = task.error?.message ?? "";
    expect(message).toMatch(says);
    expect(await client.credits()).toBe(before);

    expect(await newest()).toEqual(task);
    const stream = await (await client.request(`/panoramas/${id}/events`)).text();
    expect(JSON.parse(/^data: (.*)$/m.exec(stream)?.[1] ?? "").data).toEqual(task);
    await expect.poll(() => webhooks.get(id)).toMatchObject({ type: "panorama.failed", data: task });

    const told = await session.call("get_panorama_task", { id });
    expect(told.structuredContent).toMatchObject({ id, status: "failed", error: task.error });
    expect(messageOf(told)).toContain(message);

    const shown = (await installation.answer("task", "show", "--task", id)).json;
    expect(shown).toMatchObject({ told_reason: reason, told_param: param ?? null, told_message: message });
    const sentence = message.replace(" The 4 reserved credits were refunded.", "");
    const viewer = await page(`/works/${shown.slug}`);
    const works = await page("/works");
    if (reason === "canceled") {
      expect(viewer).toContain("You stopped this panorama. Your 4 credits are back.");
      expect(works).toContain("Canceled");
    } else {
      expect(viewer).toContain(`${sentence} Your 4 credits are back.`);
      expect(works).toContain(sentence);
    }
  });

  it("appears in the last line of panorama generate", async () => {
    Object.assign(installation.environment, { PANORAMA_API_KEY: key });
    const { status, error } = await installation.command("generate", "a quiet lake test:content");
    expect(status).toBe(1);
    expect(error?.message).toMatch(
      /^Task \S+: The image generator does not make pictures of this\. Change the prompt\./,
    );
  });
});
