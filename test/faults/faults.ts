import { err } from "neverthrow";
import { GENERATION_DEADLINE_MILLISECONDS, LEASE_MILLISECONDS } from "../support/application.js";

/** When the fault strikes: before the effect of the call, or after it and before its answer. */
type Moment = "before" | "after";

/**
 * What happens at one call of a port.
 *
 * `kill`: the process ends; nothing of this instance runs any more. `throw`: the call throws. `fail`: the call returns
 * the failure of its contract. `time`: the clock advances by `milliseconds`, or goes back if they are negative. `never
 * answers`: the call takes no effect and the caller waits. `full`: the disk of the SQLite file is full, which undoes
 * the transaction of the statement. The others let another instance run at this moment: `recover`: a lease later, it
 * does all background work. `rest`: it does the rest of the scenario. `twin`: it does the same step, and then the rest.
 */
export type Fault = { readonly name: string; readonly moment: Moment } & (
  | { readonly kind: "kill" | "throw" | "fail" | "full" | "never answers" | "recover" | "rest" | "twin" }
  | { readonly kind: "time"; readonly milliseconds: number }
);

/** One call of a port: `tasks.move`, `provider.poll`, `database.statement`. */
export type Target = string;

const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;

const atBothMoments = (fault: { readonly name: string } & DistributiveOmit<Fault, "name" | "moment">): Fault[] =>
  (["before", "after"] as const).map((moment) => ({ ...fault, moment, name: `${fault.name} ${moment}` }));

export type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

const FAULTS: readonly Fault[] = [
  ...atBothMoments({ name: "killed", kind: "kill" }),
  ...atBothMoments({ name: "throws", kind: "throw" }),
  ...atBothMoments({ name: "fails", kind: "fail" }),
  ...atBothMoments({ name: "lease expires", kind: "time", milliseconds: LEASE_MILLISECONDS + 1_000 }),
  ...atBothMoments({ name: "deadline passes", kind: "time", milliseconds: GENERATION_DEADLINE_MILLISECONDS + 1_000 }),
  ...atBothMoments({ name: "clock set back", kind: "time", milliseconds: -DAY_MILLISECONDS }),
  ...atBothMoments({ name: "another instance recovers", kind: "recover" }),
  ...atBothMoments({ name: "another instance does the rest", kind: "rest" }),
  ...atBothMoments({ name: "another instance does the same", kind: "twin" }),
  { name: "storage full", kind: "full", moment: "before" },
  { name: "never answers", kind: "never answers", moment: "before" },
];

/** The failure that each port may return, by its contract. */
const FAILURES: Readonly<Record<Target, unknown>> = {
  "provider.submit": err({ kind: "unknown", reason: "injected" }),
  "provider.search": err({ kind: "provider_unavailable", reason: "injected" }),
  "provider.poll": err({ kind: "provider_unavailable", reason: "injected" }),
  "provider.download": err({ kind: "provider_unavailable", reason: "injected" }),
  "provider.cancel": err({ kind: "provider_unavailable", reason: "injected" }),
  "provider.discard": err({ kind: "provider_unavailable", reason: "injected" }),
  "webhooks.taskOf": err({ kind: "provider_unavailable", reason: "injected" }),
  "storage.put": err({ kind: "storage_unavailable", reason: "injected" }),
  "storage.read": err({ kind: "storage_unavailable", reason: "injected" }),
  "storage.delete": err({ kind: "storage_unavailable", reason: "injected" }),
  "sender.send": { kind: "failed", detail: "no answer in time", isGone: false, isUnanswered: true }, // a slow receiver
};

export const failureOf = (target: Target): unknown => FAILURES[target];

/**
 * The faults of a call. After any statement the connection may be lost, also within a transaction, which must undo it.
 * On PostgreSQL another instance may run between two statements; SQLite runs one transaction at a time. Only the search
 * has a time limit of its caller; every other port limits its own time.
 */
export const faultsOf = (target: Target, dialect: "sqlite" | "postgresql"): readonly Fault[] =>
  FAULTS.filter(({ kind, moment }) => {
    if (kind === "full") return dialect === "sqlite" && target === "database.statement";
    const othersRun = kind === "rest" || kind === "twin";
    if (target === "database.sql" || target === "database.statement") {
      return (
        (moment === "after" && (kind === "throw" || kind === "kill")) ||
        (dialect === "postgresql" && othersRun && (moment === "after" || target === "database.sql"))
      );
    }
    if (kind === "never answers") return target === "provider.search";
    return kind !== "fail" || target in FAILURES;
  });
