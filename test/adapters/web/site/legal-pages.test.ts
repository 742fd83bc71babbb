import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readLegalPages } from "../../../../adapters/web/site/legal-pages.js";
import { scratchFolder } from "../../../support/scratch-folder.js";
import { startService, visiting } from "../../../support/visit.js";

describe("the operator's pages", () => {
  const folderWith = async (texts: Readonly<Record<string, string>>): Promise<string> => {
    const folder = await scratchFolder();
    for (const [name, text] of Object.entries(texts)) await writeFile(join(folder, name), text);
    return folder;
  };
  const read = async (texts: Readonly<Record<string, string>>) =>
    (await readLegalPages(await folderWith(texts)))._unsafeUnwrap();
  const contentOf = async (markdown: string) => (await read({ "terms.md": markdown }))[0]?.content.text ?? "";

  it("serves existing files and links them in the footer", async () => {
    const legal = await read({
      "privacy.md": "# Your data\n\nWe keep *little*.",
      "contact.md": "[Write](mailto:a@b.example)",
    });
    expect(legal.map(({ path, title }) => [path, String(title)])).toEqual([
      ["/privacy", "Privacy"],
      ["/contact", "Contact"],
    ]);
    const { get } = visiting(await startService({ legal }));
    const privacy = (await get("/privacy")).text;
    expect(privacy).toContain("<h1>Your data</h1>\n<p>We keep <em>little</em>.</p>");
    expect(privacy).toContain("<title>Privacy · Panorama</title>");
    expect(privacy).toMatch(/<footer[\s\S]*href="\/privacy">Privacy<\/a> <a href="\/contact">Contact<\/a>/u);
    expect(privacy).not.toContain('href="/terms"');
    expect((await get("/contact")).text).toContain('<h1>Contact</h1><p><a href="mailto:a@b.example">Write</a></p>');
    expect((await get("/terms")).status).toBe(404);
  });

  it("show HTML, pictures and links to scripts as text", async () => {
    const dangerous = [
      "<script>alert(1)</script>",
      'a <img src=x onerror="alert(1)"> b',
      "[a](javascript:alert(1))",
      "[b](<java&#115;cript:alert(1)>)",
      "[c](data:text/html,x)",
      "[d](//evil.example)",
      "![e](https://evil.example/x.png)",
      '[f](https://good.example/"onclick="x)',
      "`<b>`",
    ];
    const text = await contentOf(dangerous.join("\n\n"));
    expect(text).not.toMatch(/<(?!\/?(?:h1|p|a|code)[ >])/);
    expect(text.match(/<a [^>]*>/g)).toEqual(['<a href="https://good.example/&quot;onclick=&quot;x">']);
    expect(text).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
    expect(text).toContain("<code>&lt;b&gt;</code>");
  });

  it("must exist if a folder is named", async () => {
    const empty = await scratchFolder();
    const sentence = "must have at least one of the files terms.md, privacy.md, contact.md.";
    expect((await readLegalPages(empty))._unsafeUnwrapErr()).toBe(sentence);
    expect((await readLegalPages(join(empty, "none")))._unsafeUnwrapErr()).toBe(sentence);
    await mkdir(join(empty, "terms.md"));
    expect((await readLegalPages(empty))._unsafeUnwrapErr()).toMatch(
      /^terms\.md cannot be read \(EISDIR\)\. It must be a file/,
    );
  });
});
