import { createHash } from "node:crypto";
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../application/ports/clock.js";
import { IDEMPOTENCY_KEPT_MILLISECONDS } from "../../domain/panorama-policy.js";

/** A creation that is being sent. `continued`: an earlier call sent it already, and may have been accepted. */
export type SentCreation = { readonly idempotencyKey: string; readonly continued: boolean };

type Entry = {
  /** Hash of service, API key and request. */
  readonly hash: string;
  readonly idempotencyKey: string;
  readonly sentAtMilliseconds: number;
  readonly processId: number;
};

type Settings = {
  /** Is created when it is needed. With `undefined`, keys are lost when the process ends. */
  readonly folder: string | undefined;
  /** Base URL and API key: a request to another service or of another account is another request. */
  readonly scope: readonly string[];
  /** Letters, digits and hyphens. */
  readonly newIdempotencyKey: () => string;
  readonly clock: Pick<Clock, "now">;
  readonly processId: number;
  /** True if the process that wrote an entry at `since` still runs. */
  readonly isRunning: (processId: number, since: Date) => boolean;
  /** Takes one line, at most once. */
  readonly warn: (line: string) => void;
};

/** A call takes less than a minute: when it arrives, the service still has the key. */
const CONTINUED_WITHIN_MILLISECONDS = IDEMPOTENCY_KEPT_MILLISECONDS - 60_000;
const ENTRIES_MAX = 200;

/**
 * The idempotency keys of creations whose outcome is not known, so that the same request continues its creation and is
 * charged once, also after the process was restarted or killed.
 *
 * Each creation is an empty file in the folder, written before the creation is sent. Its name holds all of it: a hash
 * of the request, the key, the time of sending and the process. So there is nothing to lock, and nothing half-written.
 * A creation belongs to its process while that runs, and afterwards to the process that renames the file first. All
 * methods are synchronous, so calls of one process cannot interleave.
 */
export class UnconfirmedCreations {
  private readonly settings: Settings;
  /** The creations of this process, in flight and in doubt, by key. */
  private readonly own = new Map<string, Entry>();
  private readonly inDoubt = new Set<Entry>();
  private hasWarned = false;

  constructor(settings: Settings) {
    this.settings = settings;
  }

  /** Call this before the creation is sent, and `settle` or `leaveInDoubt` after it. */
  begin(request: string): SentCreation {
    const text = JSON.stringify([...this.settings.scope, request]);
    const hash = createHash("sha256").update(text).digest("hex");
    const earlier = this.takeInDoubt(hash) ?? this.takeOrphan(hash);
    const entry = earlier ?? this.record(hash);
    this.own.set(entry.idempotencyKey, entry);
    return { idempotencyKey: entry.idempotencyKey, continued: earlier !== undefined };
  }

  /** The outcome of the creation is known. */
  settle({ idempotencyKey }: Pick<SentCreation, "idempotencyKey">): void {
    const entry = this.own.get(idempotencyKey);
    this.own.delete(idempotencyKey);
    if (entry !== undefined) this.inFolder((folder) => rmSync(join(folder, fileName(entry)), { force: true }));
  }

  /** The creation may have been accepted: the next `begin` with the same request continues it. */
  leaveInDoubt({ idempotencyKey }: SentCreation): void {
    const entry = this.own.get(idempotencyKey);
    if (entry !== undefined) this.inDoubt.add(entry);
  }

  private takeInDoubt(hash: string): Entry | undefined {
    for (const entry of this.inDoubt) {
      if (entry.hash !== hash) continue;
      this.inDoubt.delete(entry);
      if (!this.isExpired(entry)) return entry;
      this.settle(entry);
    }
    return undefined;
  }

  /** Takes the oldest creation with this hash whose process has ended. */
  private takeOrphan(hash: string): Entry | undefined {
    const { folder = "", processId } = this.settings;
    for (const orphan of this.stored()) {
      if (orphan.hash !== hash || this.isExpired(orphan) || this.belongsToProcess(orphan)) continue;
      const taken = { ...orphan, processId };
      if (renamed(join(folder, fileName(orphan)), join(folder, fileName(taken)))) return taken;
    }
    return undefined;
  }

  private record(hash: string): Entry {
    const { newIdempotencyKey, clock, processId } = this.settings;
    const sentAtMilliseconds = clock.now().getTime();
    const entry = { hash, idempotencyKey: newIdempotencyKey(), sentAtMilliseconds, processId };
    this.inFolder((folder) => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      this.removeOld(folder);
      closeSync(openSync(join(folder, fileName(entry)), "wx", 0o600));
      syncFolder(folder);
    });
    return entry;
  }

  private removeOld(folder: string): void {
    const entries = this.stored();
    const surplus = entries.length - (ENTRIES_MAX - 1);
    for (const [index, entry] of entries.entries()) {
      if (index < surplus || this.isExpired(entry)) rmSync(join(folder, fileName(entry)), { force: true });
    }
  }

  /** All entries of the folder, oldest first. */
  private stored(): readonly Entry[] {
    const names = this.inFolder((folder) => (existsSync(folder) ? readdirSync(folder) : [])) ?? [];
    const entries = names.flatMap((name) => parseFileName(name) ?? []);
    return entries.sort((a, b) => a.sentAtMilliseconds - b.sentAtMilliseconds);
  }

  private belongsToProcess({ idempotencyKey, processId, sentAtMilliseconds }: Entry): boolean {
    // In a restarted container, for example, an ended process had the id that this one has.
    if (processId === this.settings.processId) return this.own.has(idempotencyKey);
    return this.settings.isRunning(processId, new Date(sentAtMilliseconds));
  }

  private isExpired({ sentAtMilliseconds }: Entry): boolean {
    return this.settings.clock.now().getTime() - sentAtMilliseconds >= CONTINUED_WITHIN_MILLISECONDS;
  }

  /** A folder that cannot be used does not prevent creations. */
  private inFolder<T>(work: (folder: string) => T): T | undefined {
    const { folder, warn } = this.settings;
    try {
      if (folder === undefined) throw new Error("there is no home folder");
      return work(folder);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!this.hasWarned) {
        warn(
          `the state folder cannot be used (${reason}): after a restart, a creation whose answer was lost cannot be ` +
            "continued. Set PANORAMA_STATE_DIR to a folder that can be written",
        );
      }
      this.hasWarned = true;
      return undefined;
    }
  }
}

const fileName = ({ hash, idempotencyKey, sentAtMilliseconds, processId }: Entry): string =>
  `${hash}.${idempotencyKey}.${sentAtMilliseconds}.${processId}`;

function parseFileName(name: string): Entry | undefined {
  const [, hash, idempotencyKey, sentAt, processId] = /^([0-9a-f]{64})\.([\w-]+)\.(\d+)\.([1-9]\d*)$/.exec(name) ?? [];
  if (hash === undefined || idempotencyKey === undefined) return undefined;
  return { hash, idempotencyKey, sentAtMilliseconds: Number(sentAt), processId: Number(processId) };
}

/** Makes a new name survive a power failure. Windows neither supports nor needs this. */
function syncFolder(path: string): void {
  if (process.platform === "win32") return;
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** `false` if another process was faster, or the folder cannot be written: a new creation is then the safe choice. */
function renamed(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch {
    return false;
  }
}
