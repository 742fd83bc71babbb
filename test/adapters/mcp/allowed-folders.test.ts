import { delimiter } from "node:path";
import { expect, it } from "vitest";
import { AllowedFolders } from "../../../adapters/mcp/allowed-folders.js";

it("AllowedFolders expands ~ and reports ignored folders", () => {
  const warned: string[] = [];
  const list = ["~/Pictures/panorama", " /b ", "~", "pictures", "$HOME/x", "~other/x", "", "/c,d", "/e,/f", "~/g, ~/h"];
  const folders = new AllowedFolders(list.join(delimiter), "/home/ann", (line) => warned.push(line));
  expect(folders.description).toBe(
    "Only files inside the folders that the person has allowed: /home/ann/Pictures/panorama, /b, /home/ann, /c,d.",
  );
  const absolute = "is ignored: it must be an absolute path, or begin with ~/ for the home folder.";
  const commas = "is ignored: separate folders with : instead of commas.";
  expect(warned).toEqual([
    `PANORAMA_UPLOAD_DIRS: "pictures" ${absolute}`,
    `PANORAMA_UPLOAD_DIRS: "$HOME/x" ${absolute}`,
    `PANORAMA_UPLOAD_DIRS: "~other/x" ${absolute}`,
    `PANORAMA_UPLOAD_DIRS: "/e,/f" ${commas}`,
    `PANORAMA_UPLOAD_DIRS: "/home/ann/g, ~/h" ${commas}`,
  ]);
  expect(new AllowedFolders("").whatToDo("/home/ann/harbour.jpg")).toMatch(
    /^Ask the person to set PANORAMA_UPLOAD_DIRS="\/home\/ann" in the configuration/,
  );
});
