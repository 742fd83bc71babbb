import { join } from "node:path";

/** The SQLite file in DATA_DIR. */
export const sqliteFile = (dataDir: string): string => join(dataDir, "panorama.sqlite");
