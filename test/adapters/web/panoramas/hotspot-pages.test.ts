import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MemoryOperatorStore } from "../../../../adapters/memory/stores/memory-operator-store.js";
import { suspendAccount } from "../../../../application/operators/suspend-account.js";
import { PASSWORD, type Person, WebService } from "../../../support/web-service.js";

describe("POST /works/{slug}/hotspots", () => {
  let service: WebService;
  let ann: Person;
  let send: (fields: Readonly<Record<string, string>>, language?: string) => Promise<Response>;
  let slug: string;
  let editor: () => [string, RequestInit];
  let notes: () => Promise<readonly string[] | undefined>;
  const hotspot = { yaw: "10", pitch: "0", note: "A door", to: "", address: "" };

  beforeAll(async () => {
    service = await WebService.start();
    ann = await service.person("ann");
    const panorama = await service.kept(ann);
    const other = await service.kept(ann);
    slug = other.slug;
    const form = (path: string, fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>>) =>
      fetch(service.url + path, {
        method: "POST",
        redirect: "manual",
        headers: { origin: service.url, ...headers },
        body: new URLSearchParams(fields),
      });
    const login = await form("/login", { email: ann.email, password: PASSWORD }, {});
    const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
    const page = await (await fetch(`${service.url}/works`, { headers: { cookie } })).text();
    const token = /name="form_token" value="(\w+)"/.exec(page)?.[1] ?? "";
    editor = () => [`${service.url}/works/${panorama.slug}/hotspots`, { headers: { cookie } }];
    notes = async () => {
      const task = await service.tasks.find(panorama.id, ann.id);
      return task?.state === "succeeded" ? task.hotspots?.map(({ note }) => note) : undefined;
    };
    send = (fields, language = "en") =>
      form(
        `/works/${panorama.slug}/hotspots`,
        { form_token: token, ...fields },
        { cookie, "accept-language": language },
      );
  });
  afterAll(async () => {
    await service?.end();
    expect(service?.failures).toEqual([]);
  });

  const versionIn = (page: string) => /name="version" value="([^"]+)"/.exec(page)?.[1] ?? "";
  const errorOf = async (answer: Response) => /role="alert">([^<]*)</.exec(await answer.text())?.[1];

  it("finds the panorama of an address", async () => {
    for (const address of [slug, `/p/${slug}`, ` https://panorama.example/works/${slug}?view=1,2#a `]) {
      expect((await send({ ...hotspot, to: "address", address })).status).toBe(303);
    }
  });

  it("refuses an address that is as long as a form may be in a time that grows with it only", async () => {
    const timed = async (address: string): Promise<number> => {
      const startedAt = performance.now();
      const refused = await send({ ...hotspot, to: "address", address });
      const milliseconds = performance.now() - startedAt;
      expect([refused.status, await errorOf(refused)]).toEqual([
        400,
        expect.stringMatching(/^Hotspot 1: the link must lead to another finished panorama of this account, but is /),
      ]);
      return milliseconds;
    };
    // It took the square of its length, seconds, in which nobody else was answered.
    const address = `${`${"a".repeat(16)}?`.repeat(13_000)}\nB!`;
    const plain = await timed("-".repeat(address.length));
    expect(await timed(address)).toBeLessThan(10 * plain + 500);
  });

  it("says in the language of the reader that an angle is missing", async () => {
    expect(await errorOf(await send({ ...hotspot, yaw: "" }))).toBe(
      "Hotspot 1: the angle to the right must be from -180 to 180 degrees, but is not a number.",
    );
    expect(await errorOf(await send({ ...hotspot, pitch: "up" }, "de"))).toBe(
      "Hotspot 1, Winkel nach oben: von -90 bis 90 Grad, es ist keine Zahl.",
    );
  });

  it("does not replace what another tab has saved, unless it is sent again, and keeps what was typed", async () => {
    const open = async () => versionIn(await (await fetch(...editor())).text());
    const [first, second] = [await open(), await open()];
    const gate = { ...hotspot, note: "A gate", version: first };
    expect((await send(gate)).status).toBe(303);
    expect((await send(gate)).status).toBe(303); // pressed twice
    const typed = { ...hotspot, note: "A fence", version: second };
    const broken = await send({ ...typed, yaw: "" });
    expect([broken.status, versionIn(await broken.text())]).toEqual([400, second]);
    const refused = await send(typed);
    const page = await refused.text();
    expect(refused.status).toBe(409);
    expect(page).toContain("Other hotspots were saved in another tab since you opened these.");
    expect(page).toContain(">A fence</textarea>");
    expect(await notes()).toEqual(["A gate"]);
    expect((await send({ ...typed, version: versionIn(page) })).status).toBe(303);
    expect(await notes()).toEqual(["A fence"]);
  });

  it("publishes nothing more for a suspended account", async () => {
    const suspend = suspendAccount({ ...service, operators: new MemoryOperatorStore(service.database) });
    (await suspend(ann.id, { reason: "spam", by: "oda" }))._unsafeUnwrap();
    const refused = await send({ ...hotspot, note: "Buy this" });
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining("Account suspended")]);
    const tasks = [...service.database.tasks.values()].map(({ task }) => task);
    expect(JSON.stringify(tasks)).not.toContain("Buy this");
  });
});
