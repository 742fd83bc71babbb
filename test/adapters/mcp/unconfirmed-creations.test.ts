import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type SentCreation, UnconfirmedCreations } from "../../../adapters/mcp/unconfirmed-creations.js";
import { scratchFolder } from "../../support/scratch-folder.js";

const HOUR = 3_600_000;
/** The service keeps a key for 24 hours; a continued creation must still arrive within them. */
const CONTINUED_WITHIN = 24 * HOUR - 60_000;

/** A machine: processes that share a folder and a clock. */
class Machine {
  readonly running = new Set<number>();
  readonly warnings: string[] = [];
  now = Date.parse("2026-01-01T12:00:00.000Z");
  private keys = 0;
  private readonly folder: string | undefined;

  constructor(folder: string | undefined) {
    this.folder = folder;
  }

  start(processId: number, scope: readonly string[] = ["https://panoramas.test/api/v1", "sk-1"]): UnconfirmedCreations {
    this.running.add(processId);
    return new UnconfirmedCreations({
      folder: this.folder,
      scope,
      newIdempotencyKey: () => `key-${++this.keys}`,
      clock: { now: () => new Date(this.now) },
      processId,
      isRunning: (id) => this.running.has(id),
      warn: (line) => this.warnings.push(line),
    });
  }
}

const continued = (key: string): SentCreation => ({ idempotencyKey: key, continued: true });
const begun = (key: string): SentCreation => ({ idempotencyKey: key, continued: false });

describe("UnconfirmedCreations", () => {
  it("writes a creation before it is sent, without the request, for its own user only, until the outcome is known", async () => {
    const folder = join(await scratchFolder(), "state", "unconfirmed");
    const creations = new Machine(folder).start(7);
    const creation = creations.begin("a quiet harbour");
    const [name = "", ...others] = readdirSync(folder);
    expect(others).toEqual([]);
    expect(name).toMatch(/^[0-9a-f]{64}\.key-1\.\d+\.7$/);
    expect(statSync(join(folder, name)).size).toBe(0);
    if (process.platform !== "win32") {
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
      expect(statSync(folder).mode & 0o777).toBe(0o700);
    }
    creations.settle(creation);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("continues the creation of an ended process, once, and only for the same service, key and request", async () => {
    const machine = new Machine(await scratchFolder());
    machine.start(1).begin("a harbour");
    machine.running.delete(1);
    expect(machine.start(2, ["https://panoramas.test/api/v1", "sk-2"]).begin("a harbour")).toEqual(begun("key-2"));
    expect(machine.start(3, ["https://other.test/api/v1", "sk-1"]).begin("a harbour")).toEqual(begun("key-3"));
    expect(machine.start(4).begin("a lake")).toEqual(begun("key-4"));
    expect(machine.start(5).begin("a harbour")).toEqual(continued("key-1"));
    expect(machine.start(6).begin("a harbour")).toEqual(begun("key-5"));
  });

  it("continues nothing that the service may have forgotten: 24 hours after it was sent first", async () => {
    const machine = new Machine(await scratchFolder());
    const creations = machine.start(1);
    machine.start(2).begin("a lake");
    machine.running.delete(2);
    creations.leaveInDoubt(creations.begin("a harbour"));
    machine.now += CONTINUED_WITHIN - 1;
    creations.leaveInDoubt(creations.begin("a harbour"));
    expect(machine.start(3).begin("a lake")).toEqual(continued("key-1"));
    machine.running.delete(3);
    machine.now += 1;
    expect(machine.start(4).begin("a lake")).toEqual(begun("key-3"));
    expect(creations.begin("a harbour")).toEqual(begun("key-4"));
  });

  it("gives a key to one call at a time: not to another process, nor to a second call of the same one", async () => {
    const creations = new Machine(await scratchFolder()).start(1);
    const [first, second] = [creations.begin("a harbour"), creations.begin("a harbour")];
    expect([first, second]).toEqual([begun("key-1"), begun("key-2")]);
    creations.leaveInDoubt(second);
    expect(creations.begin("a harbour")).toEqual(continued("key-2"));
    creations.settle(second);
    expect(creations.begin("a harbour")).toEqual(begun("key-3"));
  });

  it("continues nothing of an ended process while another process has its id, and then the oldest first", async () => {
    const machine = new Machine(await scratchFolder());
    const ended = machine.start(1);
    ended.begin("a harbour");
    machine.now += 1;
    ended.leaveInDoubt(ended.begin("a harbour"));
    const other = machine.start(2);
    expect(other.begin("a harbour")).toEqual(begun("key-3"));
    machine.running.delete(1);
    expect([other.begin("a harbour"), other.begin("a harbour")]).toEqual([continued("key-1"), continued("key-2")]);
    const sameId = new Machine(await scratchFolder());
    sameId.start(7).begin("a lake");
    expect(sameId.start(7).begin("a lake")).toEqual(continued("key-1")); // its own id: the earlier process has ended
  });

  it("keeps at most 200 files, the newest, and none for longer than 24 hours; other files stay", async () => {
    const folder = await scratchFolder();
    writeFileSync(join(folder, "notes.txt"), "");
    const machine = new Machine(folder);
    const creations = machine.start(1);
    for (let n = 1; n <= 203; n++) {
      machine.now += 1;
      creations.begin(`request ${n}`);
    }
    const keys = () => readdirSync(folder).map((name) => name.split(".")[1]);
    expect(keys()).toHaveLength(201);
    expect(keys()).not.toContain("key-3");
    expect(keys()).toEqual(expect.arrayContaining(["key-4", "key-203", "txt"]));
    machine.now += CONTINUED_WITHIN;
    creations.begin("the next day");
    expect(keys().sort()).toEqual(["key-204", "txt"]);
  });

  it.each<[string, (folder: string) => string | undefined]>([
    ["its folder cannot be created", (folder) => join(folder, "file", "state")],
    ["there is no home folder", () => undefined],
  ])("works without files, and warns once, if %s", async (_, folderIn) => {
    const folder = await scratchFolder();
    writeFileSync(join(folder, "file"), "");
    const machine = new Machine(folderIn(folder));
    const creations = machine.start(1);
    const first = creations.begin("a harbour");
    expect(first).toEqual(begun("key-1"));
    creations.leaveInDoubt(first);
    expect(creations.begin("a harbour")).toEqual(continued("key-1"));
    creations.settle(first);
    expect(creations.begin("a harbour")).toEqual(begun("key-2"));
    expect(machine.warnings).toEqual([expect.stringMatching(/^the state folder cannot be used .*PANORAMA_STATE_DIR/)]);
  });
});
