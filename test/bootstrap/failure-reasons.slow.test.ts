import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type LocalServer, startLocalServer } from "../support/local-server.js";
import { migratedInstallation } from "../support/migrated-installation.js";
import { RestClient, type Task } from "../support/rest-client.js";
import type { Installation } from "../support/service-process.js";

/** What a client does, and what it is told: the reason, a part of the sentence, and the parameter at fault. */
const FAILURES: readonly {
  readonly by: string;
  readonly reason: string;
  readonly says: RegExp;
  readonly param?: string;
}[] = [
  { by: "test:fail", reason: "provider_failed", says: /other words may help/ },
  { by: "test:content", reason: "content_refused", says: /Change the prompt\./, param: "prompt" },
  { by: "test:unusable", reason: "unusable_result", says: /no usable picture/ },
  { by: "test:slow", reason: "canceled", says: /was canceled/ },
  { by: "test:reject", reason: "provider_refused", says: /did not accept/ },
];

describe("the reason of a failed panorama", () => {
  let installation: Installation;
  let client: RestClient;
  let receiver: LocalServer;
  let cookie: string;
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
    const { url } = installation;
    const { demo_api_key, demo_email, demo_password } = await installation.start();
    client = new RestClient(url, demo_api_key ?? "");
    const body = new URLSearchParams({ email: demo_email ?? "", password: demo_password ?? "" });
    const headers = { origin: url };
    const login = await fetch(`${url}/login`, { method: "POST", redirect: "manual", headers, body });
    cookie = login.headers
      .getSetCookie()
      .map((one) => one.split(";")[0])
      .join("; ");
  });
  afterAll(async () => {
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

  it.each(FAILURES)("$by: $reason, in REST, webhook, page and commands", async (expected) => {
    const { by, reason, says, param } = expected;
    const before = await client.credits();
    const id = await createdId({
      prompt: `a quiet lake ${by}`,
      resolution: "1k",
      webhook_url: `${receiver.origin}/hook`,
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
});
