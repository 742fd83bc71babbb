import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Creation, UnconfirmedCreations } from "../../../adapters/mcp/unconfirmed-creations.js";
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

const continued = (key: string): Creation => ({ idempotencyKey: key, continued: true });
const begun = (key: string): Creation => ({ idempotencyKey: key, continued: false });

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

  it("gives each key to one call at a time and continues creations of ended processes, in random runs", () => {
    const slot = fc.nat(2);
    const command = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ do: fc.constant("begin" as const), slot, request: fc.constantFrom("a", "a", "b") }),
      },
      { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("settle" as const, "doubt" as const), slot }) },
      {
        weight: 2,
        arbitrary: fc.record({ do: fc.constant("restart" as const), slot, processId: fc.integer({ min: 1, max: 4 }) }),
      },
      { weight: 1, arbitrary: fc.record({ do: fc.constant("wait" as const), hours: fc.integer({ min: 6, max: 20 }) }) },
    );
    fc.assert(
      fc.property(fc.array(command, { maxLength: 40 }), (commands) => {
        const folder = mkdtempSync(join(tmpdir(), "panorama-test-"));
        const machine = new Machine(folder);
        type Known = {
          readonly key: string;
          readonly request: string;
          readonly sentAt: number;
          run: number;
          pid: number;
        };
        let runs = 0;
        const started = (pid: number) => ({ pid, run: ++runs, creations: machine.start(pid) });
        const slots = [started(1), started(2), started(3)] as const;
        const inFlight: { readonly known: Known; readonly creation: Creation }[] = [];
        let inDoubt: Known[] = [];
        const orphans: Known[] = [];
        let keys = 0;
        try {
          for (const step of commands) {
            machine.now += 1;
            if (step.do === "wait") {
              machine.now += step.hours * HOUR;
              continue;
            }
            const at = slots[step.slot as 0 | 1 | 2];
            const fresh = ({ sentAt }: Known) => machine.now - sentAt < CONTINUED_WITHIN;
            if (step.do === "begin") {
              const mine = inDoubt.find(
                (known) => known.run === at.run && known.request === step.request && fresh(known),
              );
              // The id of an ended process can belong to another process by now: its creations wait until that ends.
              const left = orphans
                .filter(({ request, pid }) => request === step.request && (pid === at.pid || !machine.running.has(pid)))
                .sort((a, b) => a.sentAt - b.sentAt)
                .find(fresh);
              const earlier = mine ?? left;
              const creation = at.creations.begin(step.request);
              expect(creation).toEqual(earlier === undefined ? begun(`key-${++keys}`) : continued(earlier.key));
              const known = earlier ?? {
                key: creation.idempotencyKey,
                request: step.request,
                sentAt: machine.now,
                run: 0,
                pid: 0,
              };
              inDoubt = inDoubt.filter((other) => other !== known);
              if (orphans.includes(known)) orphans.splice(orphans.indexOf(known), 1);
              inFlight.push({ known: Object.assign(known, { run: at.run, pid: at.pid }), creation });
            } else if (step.do === "restart") {
              for (const { known } of inFlight.filter(({ known }) => known.run === at.run)) orphans.push(known);
              orphans.push(...inDoubt.filter(({ run }) => run === at.run));
              inDoubt = inDoubt.filter(({ run }) => run !== at.run);
              for (let index = inFlight.length - 1; index >= 0; index--) {
                if (inFlight[index]?.known.run === at.run) inFlight.splice(index, 1);
              }
              machine.running.delete(at.pid);
              const pid = machine.running.has(step.processId) ? at.pid : step.processId;
              Object.assign(at, started(pid));
            } else {
              const index = inFlight.findIndex(({ known }) => known.run === at.run);
              const [ended] = index === -1 ? [] : inFlight.splice(index, 1);
              if (ended === undefined) continue;
              if (step.do === "doubt") {
                at.creations.leaveInDoubt(ended.creation);
                inDoubt.push(ended.known);
              } else {
                at.creations.settle(ended.creation);
              }
            }
          }
          expect(machine.warnings).toEqual([]);
        } finally {
          rmSync(folder, { recursive: true });
        }
      }),
      { numRuns: 100 },
    );
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
