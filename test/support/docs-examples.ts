import { createHmac } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOnPage } from "./page-code.js";
import { plain } from "./test-images.js";
import { type Person, WebService } from "./web-service.js";

export const SECRET = `whsec_${Buffer.from("a secret of thirty-two bytes ...").toString("base64")}`;
const EXAMPLE_ID = "pan_0199f3a56c1e7b529d0e3f8a1c2b4d5e";

/** The examples of /docs in some languages, and a service that works on what they ask for. */
export class DocsExamples {
  /** For files of a test. It has the picture that the examples upload. */
  readonly folder: string;
  readonly #service: WebService;
  readonly #page: string;
  /** One for each language, because of the rate limits, with a finished panorama. */
  readonly #people = new Map<string, Person & { readonly panorama: string }>();
  readonly #environment = { ...process.env };
  #isOver = false;
  #work = Promise.resolve();

  private constructor(service: WebService, page: string, folder: string) {
    this.#service = service;
    this.#page = page;
    this.folder = folder;
  }

  static async start(...languages: readonly string[]): Promise<DocsExamples> {
    const service = await WebService.start();
    const page = await (await fetch(`${service.url}/docs`)).text();
    const examples = new DocsExamples(service, page, await mkdtemp(join(tmpdir(), "panorama-docs-")));
    const picture = await plain({ widthPixels: 64, heightPixels: 64 }).jpeg().toBuffer();
    await writeFile(join(examples.folder, "lake.jpg"), picture);
    for (const name of languages) {
      const person = await service.person(name, 1000);
      examples.#people.set(name, { ...person, panorama: (await service.kept(person)).id });
    }
    process.env.PANORAMA_WEBHOOK_SECRET = SECRET;
    examples.#work = examples.#keepWorking();
    return examples;
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#work;
    for (const name of ["PANORAMA_API_KEY", "PANORAMA_WEBHOOK_SECRET"]) {
      const value = this.#environment[name];
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    await this.#service.end();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** The examples of a language, with the id of a finished panorama, the deletion last. Sets the key of its person. */
  in(language: string): readonly string[] {
    const { panorama, key } = this.#people.get(language) ?? { panorama: "", key: "" };
    process.env.PANORAMA_API_KEY = key;
    const file = JSON.stringify(join(this.folder, "lake.jpg")).slice(1, -1);
    const all = codeOnPage(this.#page, language).map((code) =>
      code.replaceAll(EXAMPLE_ID, panorama).replaceAll("lake.jpg", file),
    );
    const deletes = (code: string) => /-X DELETE|"DELETE"|\.delete\(/.test(code);
    return [...all.filter((code) => !deletes(code)), ...all.filter(deletes)];
  }

  async #keepWorking(): Promise<void> {
    while (!this.#isOver) {
      await this.#service.work();
      await this.#service.clock.advance(1000);
      await sleep(50); // lets the answers to the examples through
    }
  }
}

/** A webhook that is signed right, and the same one with another body. */
export const signedWebhooks = (): readonly (readonly [string, Readonly<Record<string, string>>])[] => {
  const body = JSON.stringify({
    type: "credits.low",
    timestamp: new Date().toISOString(),
    data: { remaining_credits: 3 },
  });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const key = Buffer.from(SECRET.slice("whsec_".length), "base64");
  const signature = createHmac("sha256", key).update(`7.${timestamp}.${body}`).digest("base64");
  const headers = {
    "webhook-id": "7",
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature.replace(/^./, "_")} v1,${signature}`,
  };
  return [
    [body, headers],
    [body.replace("3", "4"), headers],
  ];
};
