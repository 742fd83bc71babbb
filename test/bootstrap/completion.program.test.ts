import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const run = promisify(execFile);

const PANORAMA = ["dist/bootstrap/panorama.cjs", "completion"];

describe("panorama completion", () => {
  let folder: string;
  let script: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "panorama-completion-"));
    script = join(folder, "completion.bash");
    await writeFile(script, (await run(process.execPath, [...PANORAMA, "bash"])).stdout);
  });

  afterAll(() => rm(folder, { recursive: true }));

  /** What bash offers after these words; the last one is being completed. */
  const offered = async (...words: string[]): Promise<string[]> => {
    const line = `source ${script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _panorama; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = await run("bash", ["-c", line, "bash", "panorama", ...words]);
    return stdout.split("\n").filter((word) => word !== "");
  };

  it("completes commands, their second words and their options in bash", async () => {
    expect(await offered("ac")).toEqual(["account"]);
    expect(await offered("key", "re")).toEqual(["revoke"]);
    expect(await offered("key", "")).toEqual(expect.arrayContaining(["create", "list", "revoke"]));
    expect(await offered("key", "revoke", "--")).toEqual(["--key", "--account", "--json", "--help"]);
    expect(await offered("order", "create", "--account", "acc_1", "--p")).toEqual(["--paid"]);
    expect(await offered("paint", "")).toEqual([]);
  });

  it.each(["zsh", "fish"])("names every option in the script for %s", async (shell) => {
    const { stdout } = await run(process.execPath, [...PANORAMA, shell]);
    for (const option of ["credits-per-day", "password-stdin", "max-credits"]) expect(stdout).toContain(option);
  });

  it("refuses an unknown shell", async () => {
    const refused = await run(process.execPath, [...PANORAMA, "tcsh"]).catch((error: { code: number }) => error);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("Choose bash, zsh or fish") });
  });
});
