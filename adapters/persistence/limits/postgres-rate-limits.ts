import type { Result } from "neverthrow";
import type { Clock } from "../../../application/ports/clock.js";
import type { RateLimitedParty, RateLimits } from "../../../application/ports/stores/rate-limits.js";
import {
  type Admission,
  type AdmissionLog,
  admitRequest,
  type Rate,
  type RateLimited,
} from "../../../domain/credits/rate-limit.js";
import type { Row } from "../database/sql/columns.js";
import type { Database } from "../database/sql/database.js";

/**
 * Applies the domain's rule (domain/credits/rate-limit.ts) in one statement, which locks the party's row while it reads
 * and writes the log. An admission is appended to the log, so the returned row also shows the log before the request.
 * `parties` selects at most one row: party, kind, an array of the time of the request, and `true`.
 */
export const admission = (parties: string): string => `
  insert into rate_limit as stored (api_key_id, kind, admissions, admitted) ${parties}
  on conflict (api_key_id, kind) do update set (admissions, admitted) = (
    select
      coalesce(array_agg(at order by at), '{}') || case when count(at) < ? then excluded.admissions else '{}' end,
      count(at) < ?
    from unnest(stored.admissions) as at
    where abs(at - excluded.admissions[1]) < ?
  )
  returning to_json(admissions) as admissions, admitted`;

const ADMIT = admission("values (?, ?, array[?::bigint], true)");

/** The parameters of `admission` after those of `parties`. */
export const admissionParameters = ({ limit, windowSeconds }: Rate): readonly number[] => [
  limit,
  limit,
  windowSeconds * 1000,
];

/** Skips locked rows: they are in use, so they are not idle. */
const DELETE_IDLE = `
  delete from rate_limit where (api_key_id, kind) in (
    select api_key_id, kind from rate_limit where admissions[cardinality(admissions)] <= ? for update skip locked
  )`;

/**
 * Rate limits shared by all instances on one PostgreSQL database: together they admit as many requests as one process.
 * `clock` must be the same for all of them (database-clock.ts): one that is a second ahead shifts the window of the
 * requests that it counts by a second. A crash of PostgreSQL loses the last minute's admissions.
 */
export class PostgresRateLimits<Kind extends string> implements RateLimits<Kind> {
  private readonly database: Database;
  private readonly clock: Clock;
  private readonly rates: Readonly<Record<Kind, Rate>>;

  /** `rates`: the limit of each kind of request. */
  constructor(database: Database, clock: Clock, rates: Readonly<Record<Kind, Rate>>) {
    this.database = database;
    this.clock = clock;
    this.rates = rates;
  }

  async admit(party: RateLimitedParty, kind: Kind): Promise<Result<Omit<Admission, "log">, RateLimited>> {
    const now = this.clock.now().getTime();
    const rate = this.rates[kind];
    const [row] = await this.database.sql(ADMIT, [party, kind, now, ...admissionParameters(rate)]);
    return toAdmission(row ?? {}, rate, now);
  }

  /** Deletes the rows without an admission in the last window (the longest one). Must be called regularly. */
  async clean(): Promise<void> {
    const windows = Object.values<Rate>(this.rates).map(({ windowSeconds }) => windowSeconds * 1000);
    await this.database.sql(DELETE_IDLE, [this.clock.now().getTime() - Math.max(...windows)]);
  }
}

/** The domain's answer to the log that the statement found. Throws if the statement has decided otherwise. */
export function toAdmission(row: Row, rate: Rate, now: number): Result<Omit<Admission, "log">, RateLimited> {
  const result = admitRequest(logBefore(row), rate, now);
  if (result.isOk() !== row.admitted) throw new Error("SQL and domain disagree about a rate limit");
  return result.map(({ log: _, ...admission }) => admission);
}

/** The log as it was before the request. */
export function logBefore({ admissions, admitted }: Row): AdmissionLog {
  if (!Array.isArray(admissions)) throw new Error("PostgreSQL returned no admissions");
  return admitted === true ? admissions.slice(0, -1) : admissions;
}
