import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const git = (...args: string[]): string => execFileSync("git", args, { encoding: "utf8", stdio: "pipe" }).trim();

/** The commit that `from` names, or the last released tag. Ends the process with one sentence if there is none. */
export const releaseRef = (from: string | undefined): string => {
  try {
    return git("rev-parse", "--verify", `${from ?? git("describe", "--tags", "--abbrev=0")}^{commit}`);
  } catch {
    console.error(
      from === undefined
        ? "There is no released tag in this clone. Fetch it (git fetch --tags --unshallow), or name a commit with -- --from REF."
        : `${from} is no commit of this clone.`,
    );
    process.exit(1);
  }
};

/** Unpacks and builds the release in a new temporary folder. */
export const buildRelease = (ref: string): string => {
  const folder = mkdtempSync(join(tmpdir(), "panorama-release-"));
  const run = (command: string) =>
    execFileSync("sh", ["-c", command], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  execFileSync("sh", ["-c", `git archive ${ref} | tar -x -C "${folder}"`]);
  const isLocked = readFileSync("package-lock.json").equals(readFileSync(join(folder, "package-lock.json")));
  if (isLocked) run(`ln -s "${process.cwd()}/node_modules" node_modules`);
  else run("npm ci --ignore-scripts --no-audit --no-fund && npm rebuild");
  run("npm run build");
  return folder;
};
