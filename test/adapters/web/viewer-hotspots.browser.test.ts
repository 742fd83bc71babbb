import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type GivenHotspot, parseHotspots } from "../../../domain/tasks/hotspots.js";
import type { SucceededTask } from "../../../domain/tasks/task.js";
import { COARSE, logInAs, ready, setUpBrowser, type Tab } from "../../support/browser.js";
import type { Person, WebService } from "../../support/web-service.js";

describe("hotspots of a panorama", () => {
  const on = setUpBrowser();
  let service: WebService;
  let ann: Person;
  let tab: Tab;

  beforeAll(async () => {
    ({ service } = on);
    ann = await service.person("ann", 1000);
    service.provider.play({ poll: "succeeded", download: "image" });
  });
  beforeEach(async () => {
    tab = await on.openTab({ ...COARSE, viewport: { width: 1000, height: 600 } });
  });

  const make = (prompt: string, differences = {}) => service.kept(ann, { prompt, resolution: "2k", ...differences });
  const set = async ({ id }: SucceededTask, ...given: readonly GivenHotspot[]): Promise<void> =>
    (await service.tasks.setHotspots(id, ann.id, parseHotspots(given)._unsafeUnwrap()))._unsafeUnwrap();
  const stored = async ({ id }: SucceededTask) => (await service.tasks.find(id, ann.id))?.hotspots;
  const htmlOf = async (path: string): Promise<string> => (await fetch(service.url + path)).text();
  const open = async ({ page }: Tab, path: string): Promise<void> => {
    await page.goto(path);
    await ready(page, "sphere");
  };
  const viewOf = ({ page }: Tab) =>
    page.evaluate<Record<string, string>>("({ ...document.getElementById('viewer').dataset })");

  /** The view, when it has come to rest away from this one. */
  const turned = async (from: Readonly<Record<string, string>>) => {
    await expect.poll(() => viewOf(tab)).toMatchObject({ moves: "false" });
    await expect.poll(() => viewOf(tab)).not.toMatchObject(from);
    return viewOf(tab);
  };

  describe("as visitors see them", () => {
    it("lie over their places, open by click and keyboard, and go with the planet", async () => {
      const lake = await make("a lake");
      const note = 'A <b>pier</b> & "more" of it, built long ago and repaired since';
      await set(lake, { yaw: 30, pitch: 10, note }, { yaw: 170, pitch: -20, note: "Behind" });
      await open(tab, `/p/${lake.slug}`);
      const { page } = tab;
      const marker = page.getByRole("button", { name: "Note: A <b>pier</b>" });
      await marker.waitFor();
      const stage = (await page.locator("#viewer").boundingBox())!;
      const fov = Number((await viewOf(tab)).fov);
      const radians = (degrees: number) => (degrees * Math.PI) / 180;
      const half = Math.tan(radians(fov / 2));
      const across = (1 + Math.tan(radians(30)) / half) / 2;
      const down = (1 - Math.tan(radians(10)) / Math.cos(radians(30)) / half / (stage.height / stage.width)) / 2;
      const box = (await marker.boundingBox())!;
      expect(box.x).toBeCloseTo(stage.x + across * (stage.width - box.width), 0);
      expect(box.y).toBeCloseTo(stage.y + down * (stage.height - box.height), 0);

      const text = page.getByText(note, { exact: true });
      expect(await text.isVisible()).toBe(false);
      await marker.click();
      await text.waitFor();
      await page.keyboard.press("Escape");
      await text.waitFor({ state: "hidden" });

      // What is behind the reader comes into sight when the keyboard reaches it.
      const behind = page.getByRole("button", { name: "Note: Behind" });
      const opacity = () =>
        page.evaluate(`getComputedStyle(document.querySelector('[aria-label="Note: Behind"]').parentElement).opacity`);
      expect(await opacity()).toBe("0");
      await page.keyboard.press("Tab");
      await expect.poll(() => viewOf(tab)).toMatchObject({ yaw: "170.0" });
      await expect.poll(opacity).toBe("1");
      const found = (await behind.boundingBox())!;
      expect(found.y + found.height).toBeLessThan(stage.y + stage.height / 2);
      expect(found.y).toBeGreaterThan(stage.y + stage.height / 3);
      await page.keyboard.press("Enter");
      await page.getByText("Behind", { exact: true }).waitFor();
      await page.getByRole("button", { name: "More", exact: true }).click();
      await page.getByRole("button", { name: "Little planet" }).click();
      await page.locator("#hotspots").waitFor({ state: "hidden" });
      await page.getByRole("button", { name: "More", exact: true }).click();
      await page.getByRole("button", { name: "Little planet" }).click();
      await page.locator("#hotspots").waitFor();
    });

    it("lead through a tour in one canvas and in full screen, and in a frame", async () => {
      const [hall, stairs, roof] = [await make("the hall"), await make("the stairs"), await make("the roof")];
      await set(hall, { yaw: -20, pitch: 0, note: "Up the stairs", to: stairs.slug });
      await set(stairs, { yaw: 20, pitch: 5, note: "To the roof", to: roof.slug });
      await set(roof, { yaw: 0, pitch: -10, note: "Down to the hall", to: hall.slug });
      const { page } = tab;
      await open(tab, `/p/${hall.slug}`);
      await page.evaluate("document.querySelector('#viewer canvas').dataset.isOld = ''");
      await page.locator("#viewer").focus();
      await page.keyboard.press("f");
      await page.getByRole("button", { name: "Leave full screen" }).waitFor();
      await page.getByRole("link", { name: "Up the stairs" }).click();
      await page.getByRole("heading", { name: "the stairs" }).waitFor();
      await page.getByRole("link", { name: "To the roof" }).focus();
      await page.keyboard.press("Enter");
      await page.waitForURL(`**/p/${roof.slug}`);
      await page.getByRole("link", { name: "Down to the hall" }).waitFor();
      expect(await page.evaluate("document.activeElement.id")).toBe("viewer");
      expect(await page.getByRole("link", { name: "To the roof" }).count()).toBe(0);
      await page.getByRole("link", { name: "Down to the hall" }).click();
      await page.waitForURL(`**/p/${hall.slug}`);
      await page.getByRole("button", { name: "Leave full screen" }).waitFor();
      await page.goBack();
      await page.getByRole("heading", { name: "the roof" }).waitFor();
      expect(await page.locator("canvas[data-is-old]").count()).toBe(1);

      await open(tab, `/p/${hall.slug}?embed=1`);
      await page.getByRole("link", { name: "Up the stairs" }).click();
      await page.waitForURL(`**/p/${stairs.slug}?embed=1`);
      await page.getByRole("link", { name: "To the roof" }).waitFor();
      const away = page.getByRole("link", { name: "Open in a new tab" });
      await expect.poll(() => away.getAttribute("href")).toBe(`${service.url}/p/${stairs.slug}`);
      await page.goBack();
      await page.getByRole("link", { name: "Up the stairs" }).waitFor();
      expect(await page.locator("header.site").count()).toBe(0);
    });

    it("are notes where a link leads to what this visitor may not see, and say nothing about it", async () => {
      const hall = await make("a hall with doors");
      const closed = await make("a closed room", { visibility: "private" });
      const [hidden, deleted] = [await make("a hidden room"), await make("a deleted room")];
      const gone = [closed, hidden, deleted];
      await set(hall, ...gone.map(({ slug }, n) => ({ yaw: 20 * n, pitch: 0, note: `door ${n}`, to: slug })));
      const links = (html: string) => html.match(/<a class="spot" href="[^"]*"/g) ?? [];
      expect(links(await htmlOf(`/p/${hall.slug}`))).toHaveLength(2);
      (await service.tasks.withhold(hidden.id, { at: service.clock.now(), reason: "a report" }))._unsafeUnwrap();
      (await service.tasks.hide(deleted.id, ann.id, service.clock.now()))._unsafeUnwrap();
      for (const path of [`/p/${hall.slug}`, `/p/${hall.slug}?embed=1`]) {
        const html = await htmlOf(path);
        expect([path, links(html), html.match(/door \d<\/p>/g)]).toEqual([
          path,
          [],
          ["door 0</p>", "door 1</p>", "door 2</p>"],
        ]);
        for (const text of [...gone.map(({ slug }) => slug), "closed room", "hidden room", "deleted room"])
          expect([text, html.includes(text)]).toEqual([text, false]);
      }
      await logInAs(tab, ann);
      await open(tab, `/p/${hall.slug}`);
      expect(links(await tab.page.content())).toEqual(
        [closed, hidden].map(({ slug }) => `<a class="spot" href="/works/${slug}"`),
      );
      await set(hall);
      expect(await htmlOf(`/p/${hall.slug}`)).not.toContain('id="hotspots"');
    });
  });

  describe("as their owner edits them", () => {
    it("are placed at the cross, noted, linked, moved and deleted over the sphere", async () => {
      const [garden, house] = [await make("a garden"), await make("a house", { visibility: "private" })];
      const { page } = tab;
      await logInAs(tab, ann);
      await open(tab, `/works/${garden.slug}#v=120,10,70`);
      const edit = async (): Promise<void> => {
        await page.getByRole("button", { name: "More", exact: true }).click();
        await page.getByRole("button", { name: "Hotspots" }).click();
        await page.getByRole("form", { name: "Notes and links" }).waitFor();
      };
      const add = page.getByRole("button", { name: "Add a hotspot here" });
      const saved = page.getByText("Everybody who may see this panorama sees its hotspots now.");
      await edit();
      await expect.poll(() => page.evaluate("document.activeElement.dataset.act")).toBe("add");
      await page.keyboard.press("Enter");
      await page.keyboard.type("A bench  in the shade");
      const [first, second] = [0, 1].map((n) => page.getByRole("group", { name: `Hotspot ${n + 1}` }));
      await first!.getByLabel("Leads to").selectOption({ label: "a house" });
      // Two more, one of which goes again.
      await page.locator("#viewer").focus();
      await page.keyboard.press("ArrowUp");
      const { pitch } = await turned({ pitch: "10.0" });
      await add.click();
      await page.keyboard.type("Sky");
      await add.click();
      await page.getByRole("button", { name: "Delete" }).last().click();
      expect(await page.locator("#hotspots li").count()).toBe(2);
      await page.getByRole("button", { name: "Save" }).click();
      await saved.waitFor();
      expect(await page.locator("#hotspot-editor").count()).toBe(0);
      const bench = { yaw: 120, pitch: 10, note: "A bench in the shade", to: house.slug };
      expect(await stored(garden)).toEqual([bench, { yaw: 120, pitch: Number(pitch), note: "Sky" }]);
      await page.getByRole("link", { name: "A bench in the shade" }).waitFor();

      await edit();
      await second!.getByRole("textbox", { name: "Note" }).focus();
      await page.locator("#viewer").focus();
      await page.keyboard.press("ArrowLeft");
      const { yaw, pitch: height } = await turned({ yaw: "120.0" });
      await second!.getByRole("button", { name: "Move here" }).click();
      await first!.getByRole("button", { name: "Delete" }).click();
      await page.getByRole("button", { name: "Save" }).click();
      // The page may still say that the first hotspots were saved.
      await expect.poll(() => stored(garden)).toEqual([{ yaw: Number(yaw), pitch: Number(height), note: "Sky" }]);
      await saved.waitFor();

      // Edits are lost only after a question.
      await edit();
      const path = new URL(page.url()).pathname;
      await first!.getByRole("textbox", { name: "Note" }).fill("Clouds");
      const questions: string[] = [];
      page.on("dialog", async (dialog) => {
        questions.push(dialog.message());
        await (questions.length <= 4 ? dialog.dismiss() : dialog.accept());
      });
      await page.locator("#viewer").focus();
      await page.keyboard.press("PageUp");
      await page.keyboard.press("PageDown");
      await page.locator("#previous").dispatchEvent("click"); // on a small window the form is over it
      await page.getByRole("button", { name: "Close" }).click();
      expect(questions).toEqual(Array(4).fill("Leave without saving the hotspots?"));
      expect(new URL(page.url()).pathname).toBe(path);
      expect(await first!.getByRole("textbox", { name: "Note" }).inputValue()).toBe("Clouds");
      // Closed, nothing has changed.
      await page.getByRole("button", { name: "Close" }).click();
      await page.getByRole("button", { name: "Note: Sky" }).waitFor();
      expect((await stored(garden))?.[0]?.note).toBe("Sky");
      await edit();
      await page.locator("#viewer").focus();
      await page.keyboard.press("PageUp");
      await expect.poll(() => new URL(page.url()).pathname).not.toBe(path);
      expect(questions).toHaveLength(5);
    });

    it("are refused with a sentence above the form on a phone, which keeps what was typed", async () => {
      const bob = await service.person("bob", 10);
      const foreign = await service.kept(bob, { prompt: "a place of bob" });
      const garden = await make("a small garden");
      const { page } = tab;
      await page.setViewportSize({ width: 390, height: 844 });
      await logInAs(tab, ann);
      await open(tab, `/p/${garden.slug}`);
      await page.getByRole("button", { name: "More", exact: true }).click();
      await page.getByRole("button", { name: "Hotspots" }).click();
      await page.getByRole("button", { name: "Add a hotspot here" }).click();
      await page.getByRole("textbox", { name: "Note" }).fill("To bob");
      await page.getByLabel("Leads to").selectOption("address");
      await page.getByLabel("Address of its page").fill(`${service.url}/p/${foreign.slug}?embed=1#v=1,1,70`);
      // The cross, in the middle of the picture, is not under the form.
      const [sphere, form] = [
        await page.locator("#viewer").boundingBox(),
        await page.locator("#hotspot-editor").boundingBox(),
      ];
      expect(form!.y).toBeGreaterThan(sphere!.y + sphere!.height / 2 + 20);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
      await page.getByRole("button", { name: "Save" }).click();
      expect(await page.getByRole("alert").textContent()).toBe(
        `Hotspot 1: the link must lead to another finished panorama of this account, but is "${foreign.slug}".`,
      );
      expect(await page.getByRole("textbox", { name: "Note" }).inputValue()).toBe("To bob");
      expect(await stored(garden)).toBeUndefined();
      service.database.sessions.clear();
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("This did not work. Reload the page and try again.").waitFor();
      expect(await page.getByRole("textbox", { name: "Note" }).inputValue()).toBe("To bob");
    });

    it("are a form with angles without scripts", async () => {
      const garden = await make("a plain garden");
      const { page } = await on.openTab({ javaScriptEnabled: false });
      await logInAs({ ...tab, page }, ann);
      await page.goto(`/works/${garden.slug}/hotspots`);
      await page.getByLabel("Degrees to the right").fill("-33.3");
      await page.getByLabel("Degrees upwards").fill("5");
      await page.getByRole("textbox", { name: "Note" }).fill("A gate");
      await page.getByRole("button", { name: "Save" }).click();
      await page.waitForURL(`**/p/${garden.slug}`);
      expect(await stored(garden)).toEqual([{ yaw: -33.3, pitch: 5, note: "A gate" }]);
      await page.goto(`/works/${garden.slug}/hotspots`);
      await page.getByRole("textbox", { name: "Note" }).first().fill(" ");
      await page.getByRole("button", { name: "Save" }).click();
      await page.waitForURL(`**/p/${garden.slug}`);
      expect(await stored(garden)).toBeUndefined();
      expect((await page.goto("/works/abcdefghijklmnop/hotspots"))?.status()).toBe(404);
    });

    it("names what is wrong", async () => {
      const garden = await make("another garden");
      await logInAs(tab, ann);
      await tab.page.goto(`/works/${garden.slug}/hotspots`);
      const token = await tab.page.locator("main [name=form_token]").getAttribute("value");
      const send = async (...rows: readonly Readonly<Record<string, string>>[]) => {
        const body = new URLSearchParams({ form_token: token ?? "" });
        for (const row of rows)
          for (const [name, value] of Object.entries({ yaw: "1", pitch: "1", note: "x", to: "", address: "", ...row }))
            body.append(name, value);
        const answer = await tab.page.request.post(`/works/${garden.slug}/hotspots`, {
          data: body.toString(),
          headers: { "content-type": "application/x-www-form-urlencoded", origin: service.url },
        });
        return [answer.status(), /role="alert">([^<]*)</.exec(await answer.text())?.[1]];
      };
      expect(await send({}, { yaw: "200" })).toEqual([
        400,
        "Hotspot 2: the angle to the right must be from -180 to 180 degrees, but is 200.",
      ]);
      expect(await send({ pitch: "-90.5" })).toEqual([
        400,
        "Hotspot 1: the angle upwards must be from -90 to 90 degrees, but is -90.5.",
      ]);
      expect(await send({ note: "x".repeat(201) })).toEqual([
        400,
        "Hotspot 1: the note must have 1 to 200 characters, but has 201.",
      ]);
      expect(await send(...Array.from({ length: 21 }, () => ({})))).toEqual([
        400,
        "A panorama has at most 20 hotspots. Delete some of these.",
      ]);
      service.formModeration.answers.set("a rude note", "block").set("a doubtful note", "review");
      expect(await send({}, { note: "a rude note" })).toEqual([
        400,
        "Hotspot 2: the note is not allowed by the content rules of this service; change it.",
      ]);
      expect(await stored(garden)).toBeUndefined();
      expect((await send({ note: "a doubtful note" }))[0]).toBe(200);
      await tab.page.goto(`/works/${garden.slug}`);
      await tab.page.locator("#caption").getByText("It waits for a review by the operator.").waitFor();
      expect((await fetch(`${service.url}/p/${garden.slug}`)).status).toBe(404);
    });
  });
});
