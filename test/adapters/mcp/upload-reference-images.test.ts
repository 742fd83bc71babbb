import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { pngBytes } from "../../support/image-bytes.js";
import { setUpMcp } from "./mcp-setup.js";

const on = setUpMcp();

describe("local files given to upload_reference_images", () => {
  const upload = (path: string) => on.session.call("upload_reference_images", { paths: [path] });

  it("are uploaded from an allowed folder", async () => {
    const path = join(on.folder, "allowed", "harbour.png");
    await writeFile(path, pngBytes(50));
    expect((await upload(path)).structuredContent).toMatchObject({ image_urls: [expect.any(String)] });
    expect(String(on.service.requests("POST", "/images")[0]?.body)).toContain('filename="harbour.png"');
  });

  it("are refused with one message outside the folder, behind a link, or if they are not files, and nothing is sent", async () => {
    await writeFile(join(on.folder, "outside.png"), pngBytes(50));
    await symlink(join(on.folder, "outside.png"), join(on.folder, "allowed", "link.png"));
    await symlink(on.folder, join(on.folder, "allowed", "linked"));
    await mkdir(join(on.folder, "allowed", "folder.png"));
    for (const path of [
      join(on.folder, "outside.png"),
      join(on.folder, "allowed", "..", "outside.png"),
      join(on.folder, "allowed", "link.png"),
      join(on.folder, "allowed", "linked", "outside.png"),
      join(on.folder, "allowed", "folder.png"),
      join(on.folder, "allowed", "missing.png"),
      "allowed/harbour.png",
    ]) {
      const error = await on.session.error("upload_reference_images", { paths: [path] });
      expect(error?.message).toMatch(/^paths\[0\]: is not a readable file inside an allowed folder\./);
    }
    await writeFile(join(on.folder, "allowed", "big.png"), pngBytes(11 * 1024 * 1024));
    const big = await on.session.error("upload_reference_images", { paths: [join(on.folder, "allowed", "big.png")] });
    expect(big?.message).toMatch(/10 MiB/);
    expect(on.sent()).toHaveLength(0);
  });
});
