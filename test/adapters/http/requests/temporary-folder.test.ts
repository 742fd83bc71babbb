import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fillDisk } from "../../../support/full-disk.js";
import { HttpService, NO_PAGES } from "../../../support/http-service.js";

const MIB = 1024 * 1024;

const ANSWER = {
  error: {
    code: "internal_error",
    message: "The service has no room to store anything. Nothing was charged. Try again in some minutes.",
  },
};

const formOf = (...sizes: readonly number[]): FormData => {
  const form = new FormData();
  for (const size of sizes) {
    const bytes = new Uint8Array(size);
    bytes.set([0xff, 0xd8, 0xff]);
    form.append("files", new Blob([bytes], { type: "image/jpeg" }), "file");
  }
  return form;
};

describe("an upload that meets a full disk", () => {
  let service: HttpService;
  let makeRoom = () => {};

  beforeEach(async () => {
    const form = {
      method: "POST",
      path: "/form",
      body: "files",
      handle: async ({ readBody }: { readBody: () => Promise<{ files: readonly unknown[] }> }) => ({
        status: 200,
        headers: {},
        body: `<p>${(await readBody()).files.length} files</p>`,
      }),
    } as const;
    service = await HttpService.start({ web: { ...NO_PAGES, pages: [form] } });
  });
  afterEach(async () => {
    makeRoom();
    await service.end();
  });

  describe.each([
    ["when its folder is made", true],
    ["while a file is written", false],
  ])("%s", (_, noFolders) => {
    // A file of 3 MiB fails while most of the body is still to come, one of 10 bytes when all of it is received.
    it.each([[[3 * MIB, 3 * MIB]], [[10]]])(
      "gets an answer, leaves no file, and succeeds when there is room: %j",
      async (sizes) => {
        const customer = await service.customer();
        const upload = () => service.request("/images", customer, { method: "POST", body: formOf(...sizes) });
        makeRoom = fillDisk(join(service.folder, "uploads"), { noFolders });
        const answer = await upload();
        expect([answer.status, await answer.json()]).toEqual([500, ANSWER]);
        expect(await readdir(join(service.folder, "uploads"))).toEqual([]);
        makeRoom();
        expect((await upload()).status).toBe(200);
      },
    );
  });

  it("gets the page of a failure if it is a form with files", async () => {
    makeRoom = fillDisk(join(service.folder, "uploads"));
    const send = () => fetch(`${service.url}/form`, { method: "POST", body: formOf(2 * MIB) });
    const answer = await send();
    expect([answer.status, await answer.text()]).toEqual([500, expect.stringContaining("failed")]);
    makeRoom();
    expect(await (await send()).text()).toBe("<p>1 files</p>");
  });
});
