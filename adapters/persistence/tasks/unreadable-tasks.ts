import type { Reporter } from "../../../application/ports/reporter.js";
import type { TaskId } from "../../../domain/ids.js";
import { type Row, UnreadableRow } from "../database/sql/columns.js";

/** Rows per statement after a page with rows that cannot be read, or with tasks that no free slot can make. */
export const NEXT_PAGE_SIZE = 100;

/** Time for which this instance does not claim a task that it could not read. */
const SKIPPED_MILLISECONDS = 60_000;

/** Tasks that are remembered at most. */
const REMEMBERED_MAX = 1_000;

/**
 * Tasks whose rows this version cannot read: a newer version has written them during an update, or a program has
 * damaged them. Each is reported once, and left to other instances.
 */
export class UnreadableTasks {
  private readonly reporter: Pick<Reporter, "report">;
  private readonly reported = new Set<unknown>();
  private readonly skippedUntil = new Map<unknown, number>();

  constructor(reporter: Pick<Reporter, "report">) {
    this.reporter = reporter;
  }

  /** Reads the rows one by one, so that one that cannot be read does not affect the others. */
  separate<T>(rows: readonly Row[], read: (row: Row) => T): { readonly read: T[]; readonly unreadable: Row[] } {
    const unreadable: Row[] = [];
    const values = rows.flatMap((row) => {
      try {
        return [read(row)];
      } catch (error) {
        this.report(row, error);
        unreadable.push(row);
        return [];
      }
    });
    return { read: values, unreadable };
  }

  /** Claims of this instance skip the tasks for a minute. Returns the tasks that it could remember. */
  skip(rows: readonly Row[], now: Date): readonly Row[] {
    const remembered = rows.slice(0, Math.max(0, REMEMBERED_MAX - this.skippedUntil.size));
    for (const { id } of remembered) this.skippedUntil.set(id, now.getTime() + SKIPPED_MILLISECONDS);
    return remembered;
  }

  /** The ids that a claim must skip. */
  skipped(now: Date): readonly unknown[] {
    for (const [id, until] of this.skippedUntil) {
      const isOver = until <= now.getTime() || until > now.getTime() + SKIPPED_MILLISECONDS; // or the clock was set back
      if (isOver) this.skippedUntil.delete(id);
    }
    return [...this.skippedUntil.keys()];
  }

  private report({ id }: Row, error: unknown): void {
    if (this.reported.has(id)) return;
    if (this.reported.size === REMEMBERED_MAX) this.reported.clear();
    this.reported.add(id);
    const column = error instanceof UnreadableRow ? error.column : "unknown";
    this.reporter.report({ kind: "task_unreadable", taskId: String(id) as TaskId, column });
  }
}
