import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { initProduction } from "../../../bootstrap/commands/init.js";
import { scratchFolder } from "../../support/scratch-folder.js";

const NONE = {} as Parameters<typeof initProduction.run>[0];
const VALUES = { ports: "8081", certificate: "/etc/nginx/a.pem", "certificate-key": "/etc/nginx/a.key" };

describe("init production", () => {
  it.each(["panorama.env", "panorama@.service", "panorama", "nginx.conf"])(
    "writes over no %s without --force",
    async (name) => {
      const folder = await scratchFolder();
      await writeFile(join(folder, name), "mine");
      const result = await initProduction.run(NONE, { ...VALUES, folder });
      expect(result._unsafeUnwrapErr().message).toContain(`${join(folder, name)} exists.`);
      expect(await readdir(folder)).toEqual([name]);
    },
  );

  it.each(["/a;b", "/a\nb", "/a {", "/a b", "a.pem", '/a"', "/$a", ""])(
    "writes no site of nginx with the path %j",
    async (path) => {
      const folder = join(await scratchFolder(), "new");
      await mkdir(folder);
      for (const option of ["certificate", "certificate-key"]) {
        const result = await initProduction.run(NONE, { ...VALUES, folder, [option]: path });
        expect(result._unsafeUnwrapErr().message).toBe(
          `--${option} ${path} must be an absolute path of letters, digits and . _ - /`,
        );
      }
      expect(await readdir(folder)).toEqual([]);
    },
  );
});
