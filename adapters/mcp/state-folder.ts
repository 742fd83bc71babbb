import { isAbsolute, join } from "node:path";
import { inHome } from "./written-paths.js";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The folder for the state that the MCP server needs after a restart: PANORAMA_STATE_DIR, else `panorama` in the usual
 * folder of the operating system (%LOCALAPPDATA% on Windows, elsewhere XDG_STATE_HOME or `.local/state` in the home
 * folder). `~` is the home folder. A relative path is ignored, as the XDG Base Directory Specification says.
 * `undefined` if there is no home folder.
 */
export function stateFolder(
  environment: Environment,
  platform: NodeJS.Platform,
  home: string | undefined,
): string | undefined {
  const absolute = (given: string | undefined) => {
    const path = inHome(given ?? "", home);
    return isAbsolute(path) ? path : undefined;
  };
  const chosen = absolute(environment.PANORAMA_STATE_DIR);
  if (chosen !== undefined) return chosen;
  const belowHome = (...path: string[]) => (home === undefined ? undefined : join(home, ...path));
  const usual =
    platform === "win32"
      ? (absolute(environment.LOCALAPPDATA) ?? belowHome("AppData", "Local"))
      : (absolute(environment.XDG_STATE_HOME) ?? belowHome(".local", "state"));
  return usual === undefined ? undefined : join(usual, "panorama");
}
