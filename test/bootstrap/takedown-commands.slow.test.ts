import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { migratedInstallation } from "../support/migrated-installation.js";
import { RestClient, type Task } from "../support/rest-client.js";
import type { Installation } from "../support/service-process.js";

const REASON = "Shows a private person";

describe("the commands of takedown while the service runs", () => {
  let installation: Installation;
  let account: string;
  let client: RestClient;

  beforeAll(async () => {
    installation = await migratedInstallation({ DEMO: "false", LOCAL_PROVIDER_DELAY_MS: "0" });
    const opened = await run("account", "create", "--email", "ann@example.com", "--credits", "100", "--key");
    account = String(opened.account_id);
    client = new RestClient(installation.url, String(opened.api_key));
    await installation.start();
  });
  afterAll(() => installation.remove());

  const run = async (...args: string[]): Promise<Record<string, unknown>> => {
    const { status, json, stderr } = await installation.answer(...args);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    return json;
  };
  const refused = async (...args: string[]) => (await installation.answer(...args)).error?.code;

  const published = async (prompt: string): Promise<{ id: string; slug: string }> => {
    const { id } = await client.create({ prompt, resolution: "1k", visibility: "public" });
    const { output } = await client.untilKept(id);
    return { id, slug: output?.slug ?? "" };
  };
  const read = async (id: string): Promise<Task & { hidden_reason?: string }> =>
    (await client.request(`/panoramas/${id}`)).json() as Promise<Task>;
  /** What strangers get: the statuses of the viewer and of the image, and whether the gallery has it. */
  const shown = async ({ id, slug }: { id: string; slug: string }) => {
    const statusOf = async (url: string) => (await fetch(url)).status;
    const gallery = await (await fetch(`${installation.url}/gallery`)).text();
    return [
      await statusOf(`${installation.url}/p/${slug}`),
      await statusOf((await read(id)).output?.image_url ?? ""),
      gallery.includes(slug),
    ];
  };
  const VISIBLE = [200, 200, true];
  const HIDDEN = [404, 404, false];

  it("gallery hide hides a panorama with its files, and gallery show shows it again", async () => {
    const panorama = await published("a quiet wood test:plain");
    expect(await shown(panorama)).toEqual(VISIBLE);
    expect(await run("gallery", "hide", panorama.slug, "--reason", REASON)).toMatchObject({ hidden: true });
    expect(await shown(panorama)).toEqual(HIDDEN);
    expect(await read(panorama.id)).toMatchObject({ visibility: "private", hidden_reason: REASON });
    expect(await run("gallery", "show", panorama.slug)).toMatchObject({ hidden: false });
    // Its files may just be getting another name.
    await expect.poll(() => shown(panorama), { timeout: 10_000 }).toEqual(VISIBLE);
    expect(await refused("gallery", "show", panorama.slug)).toBe("not_found");
  });

  it("account suspend and resume end and begin the use of its keys, and gallery hide --account hides all", async () => {
    const panorama = await published("a sandy desert test:plain");
    await run("account", "suspend", "--account", account, "--reason", REASON);
    expect(await run("account", "show", "--account", account)).toMatchObject({ suspended_because: REASON });
    for (const init of [{}, { method: "POST", body: "{}" }]) {
      const answer = await client.request("/panoramas", init);
      const message = `This account is suspended: ${REASON}. Ask the operator.`;
      expect([answer.status, await answer.json()]).toEqual([401, { error: { code: "invalid_api_key", message } }]);
    }
    expect((await fetch(`${installation.url}/p/${panorama.slug}`)).status).toBe(200);
    const all = await run("gallery", "hide", "--account", account, "--reason", REASON);
    expect(all).toEqual({ account_id: account, hidden: expect.any(Number) });
    expect(Number(all.hidden)).toBeGreaterThan(1);
    expect((await fetch(`${installation.url}/p/${panorama.slug}`)).status).toBe(404);
    await run("account", "resume", "--account", account);
    expect(await read(panorama.id)).toMatchObject({ hidden_reason: REASON });
  });
});
