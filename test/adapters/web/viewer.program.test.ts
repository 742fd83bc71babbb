import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Email } from "../../../domain/accounts/account.js";
import type { SucceededTask } from "../../../domain/tasks/task.js";
import { COARSE, ready, setUpBrowser, type Tab } from "../../support/browser.js";
import { pixelAt, quarterAt, quarterOf } from "../../support/pixels.js";
import type { Person } from "../../support/web-service.js";

const PHONE = { ...COARSE, viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true } as const;

const radians = (angle: number): number => (angle * Math.PI) / 180;
const degrees = (angle: number): number => (angle * 180) / Math.PI;

/** Where the sphere looks, as the page says. */
const viewOf = async ({ page }: Tab): Promise<{ yaw: number; pitch: number; fov: number }> => {
  const { yaw, pitch, fov } = (await page.evaluate("({ ...document.getElementById('viewer').dataset })")) as Record<
    string,
    string
  >;
  return { yaw: Number(yaw), pitch: Number(pitch), fov: Number(fov) };
};

describe("the viewer page", () => {
  const { service, openTab } = setUpBrowser({ operatorEmail: "operator@panorama.example" as Email });
  let ann: Person;
  let tab: Tab;
  const made = new Map<string, Promise<SucceededTask>>();
  /** The same panorama for all tests: to save one, above all a large one, takes longer than to look at it. */
  const panorama = (resolution: "1k" | "2k" | "4k" = "1k"): Promise<SucceededTask> => {
    const kept = made.get(resolution) ?? service.kept(ann, { resolution });
    made.set(resolution, kept);
    return kept;
  };

  /** Opens it, until its sphere is shown. `view`: the view in its address. */
  const openSphere = async (resolution?: "1k" | "2k", { page } = tab, view = "") => {
    const { slug } = await panorama(resolution);
    await page.goto(`/p/${slug}${view}`);
    await ready(page, "sphere");
  };

  beforeAll(async () => {
    ann = await service.person("ann", 1000);
  });
  beforeEach(async () => {
    service.provider.play({ poll: "succeeded", download: "image" });
    tab = await openTab({ ...COARSE, viewport: { width: 1000, height: 600 } });
  });

  it("shows the middle of the image, and the part to its right after a drag to the left", async () => {
    await openSphere();
    expect([await quarterAt(tab.page, 300, 300), await quarterAt(tab.page, 700, 300)]).toEqual([1, 2]);

    await tab.page.mouse.move(800, 300);
    await tab.page.mouse.down();
    await tab.page.mouse.move(300, 300, { steps: 10 });
    await tab.page.mouse.up();
    await expect.poll(() => quarterAt(tab.page, 400, 300)).toBe(2);
    await expect.poll(() => quarterAt(tab.page, 900, 300)).toBe(3);
  });

  it("obeys the keyboard, and its address follows the view that the reader has chosen", async () => {
    await openSphere("2k");
    const { page } = tab;
    const start = await viewOf(tab);
    expect(new URL(page.url()).hash).toBe("");
    await page.locator("#viewer").focus();
    await page.keyboard.press("ArrowRight");
    await page.mouse.dblclick(500, 330);
    await expect.poll(async () => (await viewOf(tab)).fov).toBeCloseTo(start.fov / 2, 0);
    await expect.poll(() => new URL(page.url()).hash).toMatch(/^#v=[\d.]+,-?[\d.]+,50$/);
    const { hash } = new URL(page.url());
    await page.reload();
    await ready(page, "sphere");
    expect(await viewOf(tab)).toMatchObject({ yaw: Number(/[\d.]+/.exec(hash)![0]), fov: 50 });
    await page.locator("#viewer").focus();
    await page.keyboard.press("Home");
    await expect.poll(() => viewOf(tab)).toEqual(start);
    await page.keyboard.press("ArrowRight");
    const needle = async () =>
      Number.parseFloat((await page.locator("#compass").getAttribute("style"))?.split(":")[1] ?? "");
    await expect.poll(needle).toBeLessThan(0);
    await page.getByRole("button", { name: "Back to the start view" }).click();
    await expect.poll(() => viewOf(tab)).toEqual(start);
    expect(await needle()).toBe(0);
    await page.locator("#viewer").focus();
    await page.keyboard.press("Space");
    await page.getByRole("button", { name: "Pause rotation" }).waitFor();
    await page.keyboard.press("Space");
    await page.getByRole("button", { name: "Rotate", exact: true }).waitFor();
    await page.keyboard.press("f");
    await page.getByRole("button", { name: "Leave full screen" }).waitFor();
    await page.keyboard.press("F");
    await page.getByRole("button", { name: "Full screen", exact: true }).waitFor();
  });

  it("zooms with the wheel around the pointer", async () => {
    await openSphere("2k");
    const { x, y, width, height } = (await tab.page.locator("#viewer").boundingBox())!;
    await tab.page.mouse.move(x + 0.8 * width, y + height / 2);
    const yawAtPointer = async () => {
      const { yaw, fov } = await viewOf(tab);
      return yaw + degrees(Math.atan(0.6 * Math.tan(radians(fov) / 2)));
    };
    const before = await yawAtPointer();
    await tab.page.mouse.wheel(0, -300);
    await expect.poll(async () => (await viewOf(tab)).fov).toBeLessThan(70);
    expect(await yawAtPointer()).toBeCloseTo(before, 0);
    expect((await viewOf(tab)).yaw).toBeGreaterThan(3);
    const boundary =
      width / 2 -
      (width / 2) * (Math.tan(radians((await viewOf(tab)).yaw)) / Math.tan(radians((await viewOf(tab)).fov) / 2));
    expect([await quarterAt(tab.page, boundary - 30, 300), await quarterAt(tab.page, boundary + 30, 300)]).toEqual([
      1, 2,
    ]);
  });

  it("rotates after an intro until it is paused, but not for readers who prefer reduced motion", async () => {
    const moving = await openTab({
      ...COARSE,
      reducedMotion: "no-preference",
      viewport: { width: 1000, height: 600 },
    });
    await openSphere("1k", moving);
    // The intro begins high above: all quarters meet below.
    await expect.poll(() => quarterAt(moving.page, 480, 300), { timeout: 60_000 }).toBe(2);
    const pause = moving.page.getByRole("button", { name: "Pause rotation" });
    await pause.focus();
    await moving.page.keyboard.press("Enter");
    await moving.page.getByRole("button", { name: "Rotate" }).waitFor();
    const { yaw } = await viewOf(moving);
    await expect.poll(() => moving.page.locator("#viewer").getAttribute("data-moves")).toBe("false");
    expect((await viewOf(moving)).yaw).toBe(yaw);
    // The caption keeps the place free while nothing happens.
    const captionOpacity = () => moving.page.evaluate("getComputedStyle(document.getElementById('caption')).opacity");
    await expect.poll(captionOpacity, { timeout: 60_000 }).toBe("0");
    await moving.page.mouse.move(500, 200);
    await expect.poll(captionOpacity).toBe("1");
    await moving.close();

    await openSphere();
    expect(await tab.page.locator("#viewer").getAttribute("data-moves")).toBe("false");
    await tab.page.getByRole("button", { name: "Rotate" }).click();
    await expect.poll(async () => (await viewOf(tab)).yaw).toBeGreaterThan(0);
  });

  it("shows a focus ring above the picture, and gives the focus back after a dialog", async () => {
    tab = await openTab({ viewport: { width: 1000, height: 600 } }); // a ring is less than a coarse pixel
    const { page } = tab;
    await openSphere();
    const ring = () => pixelAt(page, 4, 330);
    expect(Math.min(...(await ring()))).toBeLessThan(100);
    await page.getByRole("link", { name: "Sign up" }).focus();
    await page.keyboard.press("Tab");
    expect(Math.min(...(await ring()))).toBeGreaterThan(240);
    await page.getByRole("button", { name: "Share" }).press("Enter");
    expect(await page.getByRole("dialog").isVisible()).toBe(true);
    await page.keyboard.press("Escape");
    expect(await page.getByRole("dialog").isVisible()).toBe(false);
    expect(await page.evaluate("document.activeElement.id")).toBe("share");
  });

  it("limits the vertical field of view and the magnification, and starts wider with a small picture", async () => {
    const small = await panorama();
    const large = await panorama("2k");
    const fields = async () => {
      const { fov } = await viewOf(tab);
      const { width, height } = (await tab.page.locator("#viewer").boundingBox())!;
      return { horizontal: fov, vertical: 2 * degrees(Math.atan(Math.tan(radians(fov) / 2) * (height / width))) };
    };
    const starts: number[] = [];
    for (const { slug, pixels } of [
      { ...small, pixels: 1024 },
      { ...large, pixels: 2048 },
    ]) {
      await tab.page.goto(`/p/${slug}`);
      await ready(tab.page, "sphere");
      starts.push((await fields()).horizontal);
      expect((await fields()).vertical).toBeLessThanOrEqual(85.1);
      await tab.page.locator("#viewer").focus();
      for (let n = 0; n < 8; n += 1) await tab.page.keyboard.press("+");
      // CSS pixels of the screen for a degree in the middle of the view, and pixels of the picture for it.
      const magnified = async () =>
        ((1000 / 2 / Math.tan(radians((await fields()).horizontal / 2))) * radians(1)) / (pixels / 360);
      await expect.poll(magnified).toBeCloseTo(4, 1);
    }
    expect(starts).toEqual([expect.closeTo(114, 0), 100]);
    await tab.page.setViewportSize({ width: 390, height: 844 });
    await expect.poll(async () => (await fields()).vertical).toBeLessThanOrEqual(85.1);
    for (let n = 0; n < 5; n += 1) await tab.page.getByRole("button", { name: "Zoom out" }).click();
    expect((await fields()).vertical).toBeCloseTo(85, 0);
  });

  it("turns with a preview before the picture has arrived, then shows the picture in the same view", async () => {
    const { slug } = await panorama("4k");
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const bytes = new Map<string, number>();
    await tab.page.route(/\/assets\/panoramas\/[^/]+\.jpg$/, async (route) => {
      await held;
      await route.continue();
    });
    tab.page.on("requestfinished", async (request) => {
      const sizes = await request.sizes().catch(() => undefined); // the tab is closed
      const { responseBodySize = 0, responseHeadersSize = 0 } = sizes ?? {};
      bytes.set(request.url(), responseBodySize + responseHeadersSize);
    });
    await tab.page.goto(`/p/${slug}`);
    await ready(tab.page, "sphere");
    const viewer = tab.page.locator("#viewer");
    expect(await viewer.getAttribute("data-quality")).toBe("preview");
    // The page, its styles, font and scripts, the icon of the tab, and the preview.
    await expect.poll(() => [...bytes.keys()].some((url) => url.endsWith(".webp"))).toBe(true);
    expect([...bytes.values()].reduce((sum, one) => sum + one, 0)).toBeLessThan(200_000);
    await viewer.focus();
    await tab.page.keyboard.press("ArrowRight");
    await expect.poll(async () => (await viewOf(tab)).yaw).toBeGreaterThan(0);
    const { fov } = await viewOf(tab);
    await tab.page.keyboard.press("+");
    await expect.poll(async () => (await viewOf(tab)).fov).toBeLessThan(fov);
    const view = await viewOf(tab);
    release();
    await expect.poll(() => viewer.getAttribute("data-quality"), { timeout: 60_000 }).toBe("full");
    expect(await viewOf(tab)).toEqual(view);
    expect(await tab.page.locator("#progress").isHidden()).toBe(true);
  });

  it("fits all buttons on a narrow phone", async () => {
    await tab.page.setViewportSize({ width: 320, height: 640 });
    await openSphere();
    // Those of phones with a gyroscope, and of headsets.
    for (const id of ["motion", "vr"])
      await tab.page.locator(`#${id}`).evaluate((button) => button.removeAttribute("hidden"));
    const buttons = await tab.page.locator("#bar > button").all();
    expect(buttons).toHaveLength(9);
    for (const button of buttons) {
      const { x, width } = (await button.boundingBox())!;
      const id = await button.getAttribute("id");
      expect([id, width > 24, x > 0, x + width < 320]).toEqual([id, true, true, true]);
    }
  });

  it("follows the device after permission where it must be asked, and has no full screen where there is none", async () => {
    const phone = await openTab(PHONE);
    await phone.page.addInitScript(`
      window.asked = 0;
      window.answer = "denied";
      DeviceOrientationEvent.requestPermission = async () => { window.asked += 1; return window.answer; };
      delete Element.prototype.requestFullscreen;`);
    await openSphere("1k", phone);
    expect(await phone.page.getByRole("button", { name: "Full screen" }).count()).toBe(0);
    const motion = phone.page.getByRole("button", { name: "Look around by moving the device" });
    expect(await phone.page.evaluate("asked")).toBe(0);
    await motion.click();
    await phone.page.getByText("does not allow this page to use the device's motion").waitFor();
    expect(await motion.getAttribute("aria-pressed")).toBeNull();
    await phone.page.evaluate("answer = 'granted'");
    await motion.click();
    await expect.poll(() => motion.getAttribute("aria-pressed")).toBe("true");
    expect(await phone.page.evaluate("asked")).toBe(2);
    const turnTo = (alpha: number, beta: number) =>
      phone.page.evaluate(
        `dispatchEvent(new DeviceOrientationEvent("deviceorientation", { alpha: ${alpha}, beta: ${beta}, gamma: 0 }))`,
      );
    await turnTo(100, 90); // upright: the view stays where it is
    await turnTo(70, 120); // 30° to the right, and 30° upwards
    await expect.poll(async () => (await viewOf(phone)).yaw).toBeCloseTo(30, 0);
    expect((await viewOf(phone)).pitch).toBeCloseTo(30, 0);
    // A finger turns it further, and the device goes on from there.
    await phone.page.mouse.move(200, 400);
    await phone.page.mouse.down();
    await phone.page.mouse.move(150, 400, { steps: 5 });
    await phone.page.waitForTimeout(100);
    await phone.page.mouse.up();
    await expect.poll(async () => (await viewOf(phone)).yaw).toBeGreaterThan(33);
    const { yaw: turned } = await viewOf(phone);
    await turnTo(60, 120);
    await expect.poll(async () => (await viewOf(phone)).yaw).toBeCloseTo(turned + 10, 0);
    const { yaw: last } = await viewOf(phone);
    await motion.click();
    await turnTo(0, 90);
    expect(await motion.getAttribute("aria-pressed")).toBe("false");
    expect((await viewOf(phone)).yaw).toBeCloseTo(last, 0);
  });

  it("lets the page around a frame scroll, and zooms there only with Ctrl and the wheel", async () => {
    const { slug } = await panorama();
    const body = `<iframe src="/p/${slug}?embed=1" width="800" height="400"></iframe><div style="height:3000px"></div>`;
    await tab.page.route("**/other-page", (route) => route.fulfill({ contentType: "text/html", body }));
    await tab.page.goto("/other-page");
    const frame = tab.page.frameLocator("iframe");
    await frame.locator('body[data-ready="sphere"]').waitFor({ state: "attached" });
    const fov = async () => Number(await frame.locator("#viewer").getAttribute("data-fov"));
    const before = await fov();
    await tab.page.mouse.move(400, 150);
    await tab.page.mouse.wheel(0, 200);
    await frame.getByText("scroll to zoom").waitFor();
    await expect.poll(() => tab.page.evaluate("scrollY")).toBeGreaterThan(0);
    expect(await fov()).toBe(before);
    await tab.page.evaluate("scrollTo(0, 0)");
    await tab.page.keyboard.down("Control");
    await tab.page.mouse.wheel(0, -200);
    await tab.page.keyboard.up("Control");
    await expect.poll(fov).toBeLessThan(before);
    expect(await tab.page.evaluate("scrollY")).toBe(0);
  });

  it("draws the view of each eye into the headset's layer, frame by frame", async () => {
    // A headset with two eyes of 100 × 100 pixels.
    await tab.page.addInitScript(`
      class Session extends EventTarget {
        renderState = {};
        inputSources = [];
        updateRenderState({ baseLayer = this.layer }) { this.layer = baseLayer; }
        async requestReferenceSpace() { return "space"; }
        requestAnimationFrame(draw) { this.draw = draw; }
        cancelAnimationFrame() { this.draw = undefined; }
        async end() { this.dispatchEvent(new Event("end")); }
      }
      WebGL2RenderingContext.prototype.makeXRCompatible = async () => {};
      window.XRWebGLBinding = undefined;
      window.XRWebGLLayer = class {
        framebufferWidth = 200;
        framebufferHeight = 100;
        constructor(session, gl) {
          this.gl = gl;
          this.framebuffer = gl.createFramebuffer();
          const color = gl.createRenderbuffer();
          gl.bindRenderbuffer(gl.RENDERBUFFER, color);
          gl.renderbufferStorage(gl.RENDERBUFFER, gl.RGBA8, 200, 100);
          gl.bindFramebuffer(gl.FRAMEBUFFER, this.framebuffer);
          gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.RENDERBUFFER, color);
          gl.bindFramebuffer(gl.FRAMEBUFFER, null);
        }
        getViewport({ eye }) { return { x: 100 * eye, y: 0, width: 100, height: 100 }; }
      };
      const session = new Session();
      Object.defineProperty(navigator, "xr", { value: { isSessionSupported: async () => true, requestSession: async () => session } });
      // One frame with the head of each eye turned to the right by so many degrees. Returns two colours of each eye.
      window.frameOf = (turns) => {
        const views = turns.map((degrees, eye) => {
          const [s, c] = [Math.sin(degrees * Math.PI / 180), Math.cos(degrees * Math.PI / 180)];
          // The left eye sees 45° to both sides, the right one from the middle to 45° on its right.
          const projection = eye === 0 ? [1, 0] : [2, 1];
          return { eye, projectionMatrix: [projection[0], 0, 0, 0, 0, 1, 0, 0, projection[1], 0, -1, -1, 0, 0, -0.2, 0],
            transform: { matrix: [c, 0, s, 0, 0, 1, 0, 0, -s, 0, c, 0, 0, 0, 0, 1] } };
        });
        const { gl, framebuffer } = session.layer;
        const { draw } = session;
        session.draw = undefined;
        draw?.(0, { getViewerPose: () => ({ views }) });
        const bound = gl.getParameter(gl.FRAMEBUFFER_BINDING);
        gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer);
        const colours = [5, 95, 105, 195].map((x) => {
          const pixel = new Uint8Array(4);
          gl.readPixels(x, 50, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
          return [...pixel.slice(0, 3)];
        });
        gl.bindFramebuffer(gl.FRAMEBUFFER, bound);
        return colours;
      };
      window.wantsFrame = () => session.draw !== undefined;`);
    await openSphere("1k", tab, "#v=45,0,75");
    const button = tab.page.getByRole("button", { name: "View in VR" });
    await button.click();
    await expect.poll(() => button.getAttribute("aria-pressed")).toBe("true");
    const frame = async (left: number, right: number) =>
      ((await tab.page.evaluate(`frameOf([${left}, ${right}])`)) as [number, number, number][]).map(quarterOf);
    // Straight ahead is where the view was: 45° to the right of the middle of the picture.
    expect(await frame(0, -90)).toEqual([2, 2, 1, 1]);
    expect(await frame(-90, 45)).toEqual([1, 1, 3, 3]);
    expect(await frame(0, -180)).toEqual([2, 2, 0, 0]);
    await button.click();
    await expect.poll(() => button.getAttribute("aria-pressed")).toBe("false");
    // The page draws again. The frame that was asked for before draws nothing, and asks for no other.
    await tab.page.locator("#viewer").focus();
    await tab.page.keyboard.down("ArrowLeft");
    await expect.poll(() => quarterAt(tab.page, 500, 300)).toBe(1);
    await tab.page.keyboard.up("ArrowLeft");
    expect(await frame(-90, 45)).toEqual([2, 2, 0, 0]);
    expect(await tab.page.evaluate("wantsFrame()")).toBe(false);
  });

  it("supports touch on a phone", async () => {
    const phone = await openTab(PHONE);
    await openSphere("1k", phone);
    expect(await quarterAt(phone.page, 300, 400)).toBe(2);
    const touch = await phone.page.context().newCDPSession(phone.page);
    const dispatch = (type: "touchStart" | "touchMove" | "touchEnd", x?: number) =>
      touch.send("Input.dispatchTouchEvent", { type, touchPoints: x === undefined ? [] : [{ x, y: 400 }] });
    await dispatch("touchStart", 100);
    for (let x = 120; x <= 340; x += 20) await dispatch("touchMove", x);
    await dispatch("touchEnd");
    await expect.poll(() => quarterAt(phone.page, 300, 400)).toBe(1);
  });
});
