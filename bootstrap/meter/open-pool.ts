import { createRequire } from "node:module";
import { join } from "node:path";
import type { Pool } from "pg";

/** A pool of `pg`, which the user installs beside this package or in the folder from which the command is called. */
export const openPool = async (url: string): Promise<Pool> => {
  const { default: pg } = await import("pg").catch(() => {
    try {
      return { default: createRequire(join(process.cwd(), "package.json"))("pg") as typeof import("pg") };
    } catch {
      throw new Error(
        "The package pg is missing. Try: npx -p panorama-meter -p pg panorama-meter prove --postgres URL",
      );
    }
  });
  const pool = new pg.Pool({ connectionString: url, connectionTimeoutMillis: 10_000 });
  pool.on("error", () => {}); // a lost connection fails the statement that uses it
  return pool;
};
