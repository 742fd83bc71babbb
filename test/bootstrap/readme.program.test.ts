import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Installation } from "../support/service-process.js";

const run = promisify(execFile);

/** The commands of the blocks `sh` below a heading. */
const commandsBelow = async (heading: string): Promise<readonly string[]> => {
  const [, section = ""] = (await readFile("README.md", "utf8")).split(`\n## ${heading}\n`);
  const [, block = ""] = /^```sh\n(.*?)^```$/ms.exec(section) ?? [];
  return block.trim().split(/(?<!\\)\n/);
};

describe("the commands of README.md", () => {
  let installation: Installation;
  let key: string;

  beforeAll(async () => {
    installation = await Installation.create();
    key = (await installation.start()).demo_api_key ?? "";
  });
  afterAll(() => installation.remove());

  /** As a newcomer who copies the command and puts in what it was given. */
  const answerOf = async (command: string, given: Readonly<Record<string, string>> = {}) => {
    const own: Readonly<Record<string, string>> = { "http://localhost:8080": installation.url, "sk-…": key, ...given };
    const text = Object.entries(own).reduce((all, [placeholder, value]) => all.replaceAll(placeholder, value), command);
    const { stdout } = await run("bash", ["-c", text], { env: installation.environment });
    return stdout.startsWith("{") ? JSON.parse(stdout) : stdout;
  };

  it("create a panorama, and read it when it is ready", async () => {
    const [create = "", read = ""] = await commandsBelow("The first panorama");
    const created = await answerOf(create);
    expect(created).toMatchObject({ status: "processing", credits_charged: 6 });
    let task = created;
    while (task.status === "processing") task = await answerOf(read, { "/ID": `/${created.id}` });
    expect(task).toMatchObject({ status: "succeeded", output: { native_width: 2048, native_height: 1024 } });
  });

  it("upload a picture, and create a panorama with it", async () => {
    const [upload = "", create = ""] = await commandsBelow("With a picture of yours");
    const { image_urls } = await answerOf(upload);
    expect(await answerOf(create, { URL: image_urls[0] })).toMatchObject({ credits_charged: 4, image_urls });
  });

  it("list the commands of the operator, and replace a lost key as the second start says", async () => {
    const [help = ""] = (await readFile("README.md", "utf8")).match(/npm run -s panorama -- help/) ?? [];
    expect(await answerOf(help)).toContain("panorama key create --account ID");
    await installation.end("SIGTERM");
    const again = await installation.start();
    expect(again).toEqual({ url: installation.url, demo_account_id: expect.stringMatching(/^acc_/) });
    const created = await answerOf(`npm run -s panorama -- key create --json --account ${again.demo_account_id}`);
    expect(created.api_key).toMatch(/^sk-/);
  });
});
