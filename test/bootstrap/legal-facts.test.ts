import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readLegalPages } from "../../adapters/web/site/legal-pages.js";
import { readConfig } from "../../bootstrap/config.js";
import { legalFacts } from "../../bootstrap/legal-facts.js";
import { scratchFolder } from "../support/scratch-folder.js";

const TEMPLATES = join(import.meta.dirname, "../../bootstrap/deployment/legal");
const OWN = { operator: "Ann Example", address: "Street 1", email: "ann@example.com", law: "The law of the sea." };

describe("the templates of terms, privacy and contact", () => {
  const facts = legalFacts(readConfig({ DATA_DIR: "unused" })._unsafeUnwrap());

  it("are refused until the operator has replaced what no setting says", async () => {
    const refused = (await readLegalPages(TEMPLATES, facts))._unsafeUnwrapErr();
    expect(refused).toContain("terms.md has {{operator}}. Replace it.");
  });

  it("say what this installation does, once they are complete", async () => {
    const folder = await scratchFolder();
    await cp(TEMPLATES, folder, { recursive: true });
    for (const file of ["terms.md", "privacy.md", "contact.md"]) {
      const text = await readFile(join(folder, file), "utf8");
      const complete = Object.entries(OWN).reduce((all, [name, value]) => all.replaceAll(`{{${name}}}`, value), text);
      await writeFile(join(folder, file), complete);
    }
    const pages = (await readLegalPages(folder, facts))._unsafeUnwrap();
    expect(pages.map(({ path }) => path)).toEqual(["/terms", "/privacy", "/contact"]);
    const text = pages.map(({ content }) => content.text).join();
    expect(text).not.toContain("{{");
    for (const said of ["Ann Example", "http://localhost:8080", "a program on our own servers", "without a limit"]) {
      expect(text).toContain(said);
    }
  });
});
