import type { Result } from "neverthrow";
import type { Clock } from "../../application/ports/clock.js";
import type { RateLimitedParty, RateLimits } from "../../application/ports/rate-limits.js";
import {
  type Admission,
  type AdmissionLog,
  admitRequest,
  RATE_LIMITS,
  RATE_WINDOW_MILLISECONDS,
  type RateLimited,
  type RequestKind,
} from "../../domain/rate-limit.js";
import type { Row } from "./columns.js";
import type { Database } from "./database.js";

/**
 * Admits just if the domain's rule does (rate-limit.ts), in one statement: the row of the key is locked while the log
 * is read and written. An admission is appended to the log, so the log before it can be told from what is returned.
 */
const ADMIT = `
  insert into rate_limit as stored (api_key_id, kind, admissions, admitted) values (?, ?, array[?::bigint], true)
  on conflict (api_key_id, kind) do update set (admissions, admitted) = (
    select
      coalesce(array_agg(at order by at), '{}') || case when count(at) < ? then excluded.admissions else '{}' end,
      count(at) < ?
    from unnest(stored.admissions) as at
    where abs(at - excluded.admissions[1]) < ?
  )
  returning to_json(admissions) as admissions, admitted`;

/** Nobody waits for a row that is in use; its key is not idle. */
const FORGET_IDLE = `
  delete from rate_limit where (api_key_id, kind) in (
    select api_key_id, kind from rate_limit where admissions[cardinality(admissions)] <= ? for update skip locked
  )`;

/**
 * Rate limits shared by all instances on one PostgreSQL database: together they admit what one process would. The time is
 * the instance's own, so their clocks must agree (NTP): a clock that is ahead by a second shifts the window of the
 * requests that it counts by that second, and no more. A crash of PostgreSQL forgets the last minute's admissions.
 */
export class PostgresRateLimits implements RateLimits {
  private readonly database: Database;
  private readonly clock: Clock;

  constructor(database: Database, clock: Clock) {
    this.database = database;
    this.clock = clock;
  }

  async admit(party: RateLimitedParty, kind: RequestKind): Promise<Result<Omit<Admission, "log">, RateLimited>> {
    const now = this.clock.now().getTime();
    const limit = RATE_LIMITS[kind];
    const [row] = await this.database.sql(ADMIT, [party, kind, now, limit, limit, RATE_WINDOW_MILLISECONDS]);
    const result = admitRequest(logBefore(row), limit, now);
    if (result.isOk() !== row?.admitted) throw new Error(`the rate limit of ${party} is not the domain's`);
    return result.map(({ log: _, ...admission }) => admission);
  }

  /** Forgets keys without an admission in the last window; to be called now and then. */
  async clean(): Promise<void> {
    await this.database.sql(FORGET_IDLE, [this.clock.now().getTime() - RATE_WINDOW_MILLISECONDS]);
  }
}

const logBefore = (row: Row | undefined): AdmissionLog => {
  const after = row?.admissions;
  if (!Array.isArray(after)) throw new Error("PostgreSQL has given no admissions back");
  return row?.admitted === true ? after.slice(0, -1) : after;
};
