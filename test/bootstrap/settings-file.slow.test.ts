import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PROMPT_TEMPLATE } from "../../adapters/provider/remote/leading-prompt.js";
import { migratedInstallation } from "../support/migrated-installation.js";
import type { Installation } from "../support/service-process.js";

const SETTINGS = {
  prices: { "1k": 3, "2k": 7, "4k": 21 },
  creditPacks: { currency: "EUR", packs: [{ credits: 50, price: 4.5 }] },
  limits: { writesPerMinute: 7, activeTasks: 2 },
  signUp: "invited",
  welcomeCredits: 5,
};

describe("a service with a settings file", () => {
  let installation: Installation;
  let folder: string;
  let key: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "panorama-settings-"));
    const file = join(folder, "settings.json");
    await writeFile(file, JSON.stringify(SETTINGS));
    installation = await migratedInstallation({ PANORAMA_SETTINGS: file, LOCAL_PROVIDER_DELAY_MS: "60000" });
    key = (await installation.start()).demo_api_key ?? "";
  });
  afterAll(async () => {
    await installation.remove();
    await rm(folder, { recursive: true });
  });

  const page = async (path: string) => (await fetch(installation.url + path)).text();
  const create = (resolution: string) =>
    fetch(`${installation.url}/api/v1/panoramas`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ resolution, prompt: "a quiet lake" }),
    });

  it("describes, shows and charges its prices, and applies its limits", async () => {
    const description = (await (await fetch(`${installation.url}/api/v1/openapi.json`)).json()) as {
      "x-panorama": Record<string, unknown>;
    };
    expect(description["x-panorama"]).toMatchObject({
      prices: SETTINGS.prices,
      active_tasks: 2,
      requests_per_minute: { read: 60, write: 7 },
      credit_packs: [{ credits: 50, price_cents: 450, currency: "EUR" }],
    });
    expect(await page("/")).toContain("<span>21 credits</span>");
    expect(await page("/signup")).toContain("by invitation");

    const created = await create("2k");
    expect([created.status, created.headers.get("ratelimit-policy")]).toEqual([202, '"write";q=7;w=60']);
    expect(await created.json()).toMatchObject({ credits_charged: 7 });
    expect((await create("1k")).status).toBe(202);
    const third = await create("1k");
    expect([third.status, await third.json()]).toEqual([
      429,
      {
        error: {
          code: "too_many_active_tasks",
          message: "This account already has 2 tasks in processing, the maximum. Retry when one finishes.",
        },
      },
    ]);
    const credits = await fetch(`${installation.url}/api/v1/credits`, { headers: { authorization: `Bearer ${key}` } });
    expect(await credits.json()).toMatchObject({ remaining_credits: 990, reserved_credits: 10 });
  });

  it("opens an account by an invitation, with welcome credits", async () => {
    const { json } = await installation.answer("account", "invite", "ann@example.com");
    const setPassword = async (link: unknown, password: string) => {
      expect(link).toMatch(new RegExp(`^${installation.url}/password/reset\\?token=[\\w-]{22,}$`));
      const set = await fetch(`${installation.url}/password/reset`, {
        method: "POST",
        redirect: "manual",
        headers: { origin: installation.url },
        body: new URLSearchParams({ token: new URL(String(link)).searchParams.get("token") ?? "", password }),
      });
      return [set.status, set.headers.get("location")];
    };
    expect(await setPassword(json.link, "a long password")).toEqual([303, "/works"]);
    const { json: ann } = await installation.answer("account", "show", "--email", "ann@example.com");
    expect(ann).toMatchObject({ email: "ann@example.com", credits: 5 });

    // The operator helps somebody who has forgotten it, without reading a mailbox.
    const made = (await installation.answer("account", "password-link", "--account", String(ann.account_id))).json;
    expect(made.email).toBe("ann@example.com");
    expect(await setPassword(made.link, "another long password")).toEqual([303, "/works"]);
    expect((await setPassword(made.link, "a third long password"))[0]).toBe(410);
    const unknown = await installation.answer("account", "password-link", "--account", "acc_nobody");
    expect(unknown.stderr).toContain("There is no open account acc_nobody.");
  });

  it("prints the effective settings", async () => {
    expect((await installation.answer("settings", "show")).json).toMatchObject({
      prices: SETTINGS.prices,
      provider_prompt: PROMPT_TEMPLATE,
      sign_up: "invited",
      welcome_credits: 5,
    });
  });
});
