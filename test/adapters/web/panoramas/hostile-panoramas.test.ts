import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, anImageName, aSucceededTask } from "../../../../adapters/contracts/support/builders.js";
import { SqlOperatorStore } from "../../../../adapters/persistence/stores/sql-operator-store.js";
import { hideAllPanoramas, suspendAccount } from "../../../../application/operators/hide-panorama.js";
import { keep, uploading } from "../../../../domain/images/storage-status.js";
import { putTask } from "../../../support/put-task.js";
import { PASSWORD, WebService } from "../../../support/web-service.js";

let service: WebService;

beforeAll(async () => {
  service = await WebService.start();
});
beforeEach(() => service.provider.play({ poll: "succeeded", download: "image" }));
afterAll(async () => {
  await service?.end();
  expect(service?.failures).toEqual([]);
});

const ports = () => ({ ...service, operators: new SqlOperatorStore(service.database) });

describe("a hundred hostile public panoramas", () => {
  it("leave the front page unchanged, run no script, and are hidden by one command", async () => {
    const htmlOf = async (path: string) => (await fetch(service.url + path)).text();
    const page = async () => (await htmlOf("/")).replace(/\/signup\?prompt=[^>]+>/g, "");
    const eve = await service.person("eve", 10_000);
    const before = await page();
    const slugs: string[] = [];
    for (let n = 0; n < 100; n++) {
      const prompt = `BUY NOW https://spam.example/${n} ${HOSTILE[n % HOSTILE.length]}`;
      const request = aCreationRequest({ prompt, resolution: "2k", visibility: "public" });
      const image = keep(uploading("https://provider.example/1.jpg", anImageName(n)));
      const task = aSucceededTask({
        id: service.ids.taskId(),
        slug: service.ids.slug(),
        accountId: eve.id,
        request,
        image,
      });
      await putTask(service.database, task);
      slugs.push(task.slug);
    }
    expect(await page()).toEqual(before);
    const texts = [await htmlOf("/gallery")];
    for (const slug of slugs.slice(0, HOSTILE.length)) texts.push(await htmlOf(`/p/${slug}`));
    for (const text of texts) {
      expect(text).toContain("spam.example");
      expect(text).not.toMatch(/<script>alert|<img src=x|"onmouseover=/);
    }
    const hidden = await hideAllPanoramas(ports())(eve.id, { reason: "Advertising", by: "olga" });
    expect(hidden._unsafeUnwrap()).toBe(100);
    expect(await (await fetch(`${service.url}/gallery`)).text()).not.toContain("spam.example");
    expect((await fetch(`${service.url}/p/${slugs[99]}`)).status).toBe(404);
    expect(await page()).toEqual(before);
  });
});

/** Texts that would take over a page which shows them as they are. */
const HOSTILE = [
  "<script>alert(1)</script>",
  "\"onmouseover=alert(1) '><img src=x onerror=alert(1)>",
  "</title></main><!-- {alert(1)} {0} <a></a2>",
  "\u202egnivaz \u2066\u2067 right to left",
  "zero\u200bwidth\u200d\u2060\ufeff",
  `combining ${"e\u0301\u0302\u0303\u0304\u0305".repeat(40)}`,
  `long ${"W".repeat(3_000)}`,
];

describe("a suspended account", () => {
  it("cannot use its keys or create on the pages, and keeps what it has", async () => {
    const uma = await service.person("uma");
    const kept = await service.kept(uma, { visibility: "private" });
    const suspension = { reason: "Publishes private persons.", by: "olga" };
    (await suspendAccount(ports())(uma.id, suspension))._unsafeUnwrap();
    const headers = { authorization: `Bearer ${uma.key}` };
    for (const init of [{ headers }, { headers, method: "POST", body: "{}" }]) {
      const refused = await fetch(`${service.url}/api/v1/panoramas`, init);
      expect([refused.status, await refused.json()]).toMatchObject([
        401,
        {
          error: {
            code: "invalid_api_key",
            message: "This account is suspended: Publishes private persons. Ask the operator.",
          },
        },
      ]);
    }
    const login = await fetch(`${service.url}/login`, {
      method: "POST",
      body: new URLSearchParams({ email: uma.email, password: PASSWORD }),
      headers: { origin: service.url },
      redirect: "manual",
    });
    const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
    const read = async (path: string) => (await fetch(service.url + path, { headers: { cookie } })).text();
    expect(await read("/works?q=zebra")).toContain("Nothing found for “<bdi>zebra</bdi>”.");
    const works = await read("/works");
    expect(works).toContain("This account is suspended: Publishes private persons.");
    expect(works).not.toContain('id="create"');
    expect(await read(`/works/${kept.slug}`)).toContain("four quarters");
    const token = /name="form_token" value="([^"]+)"/.exec(works)?.[1] ?? "";
    const post = (path: string, fields: Record<string, string>) =>
      fetch(service.url + path, {
        method: "POST",
        body: new URLSearchParams({ form_token: token, ...fields }),
        headers: { cookie, origin: service.url },
        redirect: "manual",
      });
    const balance = await service.ledger.balance(uma.id);
    for (const [path, fields] of [
      ["/works", { prompt: "a lake", resolution: "1k", visibility: "private" }],
      [`/works/${kept.id}/visibility`, { visibility: "public" }],
    ] as const) {
      const refused = await post(path, fields);
      expect([path, refused.status, (await refused.text()).includes("is suspended")]).toEqual([path, 403, true]);
    }
    expect(await service.ledger.balance(uma.id)).toBe(balance);
    (await suspendAccount(ports())(uma.id, undefined))._unsafeUnwrap();
    expect((await fetch(`${service.url}/api/v1/credits`, { headers })).status).toBe(200);
  });
});
