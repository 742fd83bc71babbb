import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readLegalPages } from "../../adapters/web/site/legal-pages.js";
import { readConfig } from "../../bootstrap/config.js";
import { legalFacts } from "../../bootstrap/legal-facts.js";
import { scratchFolder } from "../support/scratch-folder.js";

const TEMPLATES = join(import.meta.dirname, "../../bootstrap/deployment/legal");
const OWN = {
  operator: "Ann Example",
  address: "Street 1",
  email: "ann@example.com",
  hosting: "Bob Hosting",
  law: "The law of the sea.",
};

describe("the templates of terms, privacy and contact", () => {
  const factsOf = (variables: Readonly<Record<string, string>>, imageOrigin: string) =>
    legalFacts(readConfig({ DATA_DIR: "unused", ...variables })._unsafeUnwrap(), imageOrigin);
  const facts = factsOf({}, "http://localhost:8080");

  it("are refused until the operator has replaced all placeholders without a setting", async () => {
    const refused = (await readLegalPages(TEMPLATES, facts))._unsafeUnwrapErr();
    expect(refused).toContain("terms.md has {{operator}}. Replace it.");
  });

  it("describe this installation once they are complete", async () => {
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
    for (const said of [
      ...[
        "Ann Example",
        "http://localhost:8080",
        "A program on our own servers",
        "until you or the operator deletes them",
      ],
      ...["until 7 days after it failed", "files on our own servers", "Nothing is loaded from other sites"],
    ]) {
      expect(text).toContain(said);
    }
  });

  it("name who else gets data, and from where pictures are loaded", () => {
    const variables = {
      ...{
        PROVIDER: "fal",
        FAL_API_KEY: "key",
        STORAGE: "gcs",
        GCS_BUCKET: "ours",
        PUBLIC_URL: "https://ours.example",
      },
      ...{
        SMTP_URL: "smtp://mail.internal",
        MAIL_FROM: "a@ours.example",
      },
    };
    expect(factsOf(variables, "https://storage.googleapis.com")).toMatchObject({
      provider: "Prompts and reference pictures are sent to fal.",
      storage: "Pictures are in a bucket of Google Cloud Storage.",
      other_sites: "Pictures are loaded from https://storage.googleapis.com, and nothing from other sites.",
      mail: expect.stringContaining("A mail server gets your address"),
    });
  });
});
