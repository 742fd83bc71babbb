import { describe, expect, it } from "vitest";
import { stateFolder } from "../../../adapters/mcp/state-folder.js";

describe("the state folder of the MCP server", () => {
  it("follows PANORAMA_STATE_DIR, by default the folder of the operating system", () => {
    expect(stateFolder({ PANORAMA_STATE_DIR: "/var/mine", XDG_STATE_HOME: "/x" }, "linux", "/home/p")).toBe(
      "/var/mine",
    );
    expect(stateFolder({ PANORAMA_STATE_DIR: "~/mine" }, "linux", "/home/p")).toBe("/home/p/mine");
    expect(stateFolder({ XDG_STATE_HOME: "/x/state" }, "linux", "/home/p")).toBe("/x/state/panorama");
    expect(stateFolder({}, "linux", "/home/p")).toBe("/home/p/.local/state/panorama");
    expect(stateFolder({}, "darwin", "/Users/p")).toBe("/Users/p/.local/state/panorama");
    expect(stateFolder({ LOCALAPPDATA: "/c/local", XDG_STATE_HOME: "/x" }, "win32", "/c/p")).toBe("/c/local/panorama");
    expect(stateFolder({}, "win32", "/c/p")).toBe("/c/p/AppData/Local/panorama");
  });

  it("ignores empty and relative paths, and is undefined without a home folder", () => {
    expect(stateFolder({ PANORAMA_STATE_DIR: "", XDG_STATE_HOME: "state" }, "linux", "/home/p")).toBe(
      "/home/p/.local/state/panorama",
    );
    expect(stateFolder({ PANORAMA_STATE_DIR: "relative" }, "linux", undefined)).toBeUndefined();
  });
});
