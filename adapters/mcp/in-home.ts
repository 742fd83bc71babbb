import { join } from "node:path";

/** `~` and what is below it, as a shell writes the home folder: nothing expands it in the settings of an MCP client. */
export const inHome = (path: string, home: string | undefined): string =>
  home !== undefined && /^~(?:$|[\\/])/.test(path) ? join(home, path.slice(1)) : path;
