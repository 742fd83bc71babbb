import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const run = promisify(execFile);

/** Another service that embeds the library: it has its own store and provider, and uses credits and limits. */
const EMBEDDING_SERVICE = `
import { ok } from "neverthrow";
import { createPanorama } from "panorama-service/application/panoramas/create-panorama";
import type { GenerationProvider } from "panorama-service/application/ports/generation-provider";
import type { TaskStore } from "panorama-service/application/ports/task-store";
import { parseAccountId, type Standing } from "panorama-service/domain/account";
import { parseCreationRequest } from "panorama-service/domain/creation-request";
import { credits } from "panorama-service/domain/credits";
import { admitRequest } from "panorama-service/domain/rate-limit";
import { slugFrom } from "panorama-service/domain/slug";
import { parseTaskId } from "panorama-service/domain/task-id";

const present = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error("the text is not an id");
  return value;
};

let standing: Standing = { accountId: present(parseAccountId("customer")), credits: credits(30), activeTasks: 0 };
const tasks: Pick<TaskStore, "open" | "find" | "move"> = {
  open: async (_account, _dueAt, _idempotent, decide) =>
    decide(standing).map((opened) => {
      standing = opened.standing;
      return { task: opened.task, replayed: false };
    }),
  find: async () => undefined,
  move: async (_current, next) => {
    const refunded = next.state === "failed" ? next.reservation.credits : 0;
    const activeTasks = standing.activeTasks - (next.state === "failed" ? 1 : 0);
    standing = { ...standing, credits: credits(standing.credits + refunded), activeTasks };
    return ok(undefined);
  },
};
const provider: Omit<GenerationProvider, "name" | "poll" | "download"> = {
  concurrencyMax: undefined,
  readiness: () => "ready",
  nextPollMilliseconds: () => 1000,
  canMake: () => ok(undefined),
  submit: async () => ok("upstream"),
  search: async () => ok(undefined),
};
let number = 0;
const create = createPanorama(
  {
    tasks,
    provider,
    ids: {
      taskId: () => present(parseTaskId("t-" + ++number)),
      slug: () => slugFrom(crypto.getRandomValues(new Uint8Array(16))),
    },
    clock: { now: () => new Date(0), sleep: async () => {} },
    secrets: { sha256: String },
    signals: { announce: () => {} },
    reporter: { report: () => {} },
  },
  { submissionDeadlineMilliseconds: 1000, queueDeadlineMilliseconds: 1000 },
);

const request = parseCreationRequest({ prompt: "a lake", resolution: "1k" })._unsafeUnwrap();
const outcomes: string[] = [];
for (let n = 0; n < 6; n += 1) {
  const created = await create(standing.accountId, request);
  outcomes.push(created.match(({ task }) => task.state, (refusal) => refusal.kind));
}

let log: readonly number[] = [];
let admitted = 0;
for (let n = 0; n < 12; n += 1) {
  admitRequest(log, 10, 1_000).map((admission) => {
    log = admission.log;
    admitted += 1;
  });
}

console.log(JSON.stringify({ outcomes, credits: standing.credits, active: standing.activeTasks, admitted }));
`;

describe("the packed tarball in an empty project of somebody else", () => {
  let project: string;

  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), "panorama-embedding-"));
    const { stdout } = await run("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", project]);
    const tarball = stdout.trim().split("\n").at(-1) ?? "";
    await writeFile(join(project, "package.json"), '{ "private": true, "type": "module" }');
    await run("npm", ["install", "--omit=optional", "--prefer-offline", "--no-audit", "--no-fund", `./${tarball}`], {
      cwd: project,
    });
  });
  afterAll(() => rm(project, { recursive: true, force: true }));

  it("brings two small packages along, and nothing of the service's", async () => {
    const installed = (await readdir(join(project, "node_modules"))).filter((name) => !name.startsWith("."));
    expect(installed.filter((name) => !name.startsWith("@"))).toEqual(["neverthrow", "panorama-service", "zod"]);
  });

  it("type-checks and runs credits and limits from it", async () => {
    await writeFile(join(project, "embedding.ts"), EMBEDDING_SERVICE);
    const tsc = join(process.cwd(), "node_modules/typescript/bin/tsc");
    const options = ["--strict", "--module", "nodenext", "--target", "es2023", "--skipLibCheck"];
    await run(process.execPath, [tsc, ...options, "embedding.ts"], { cwd: project }).catch((error) => {
      throw new Error(error.stdout);
    });
    const { stdout } = await run(process.execPath, ["embedding.js"], { cwd: project });
    expect(JSON.parse(stdout)).toEqual({
      outcomes: [...Array(5).fill("submitted"), "too_many_active_tasks"],
      credits: 10,
      active: 5,
      admitted: 10,
    });
  });
});
