import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AllowedFolders } from "../../../adapters/mcp/allowed-folders.js";
import { writtenPaths } from "../../../adapters/mcp/written-paths.js";

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

describe("a file in an allowed folder", () => {
  let home: string;
  const name = "Bildschirmfoto 1\u202fPM ’a’ Gebäude.png"; // as macOS writes it
  const decomposed = "Gru\u0308n";
  beforeAll(async () => {
    home = await realpath(await mkdtemp(join(tmpdir(), "panorama-home-")));
    const folder = join(home, "Pictures", decomposed);
    await mkdir(folder, { recursive: true });
    for (const file of ["a b.png", "50%.png", "c#d?.png", name.normalize("NFD")])
      await writeFile(join(folder, file), "picture");
    await writeFile(join(home, "secret.png"), "secret");
    await symlink(join(home, "secret.png"), join(folder, "link.png"));
  });
  afterAll(() => rm(home, { recursive: true }));

  const read = async (text: string) => {
    const folders = new AllowedFolders(join(home, "Pictures", decomposed), home);
    return (await folders.read(text.replaceAll("HOME", home), 100, new AbortController().signal)).isOk();
  };
  const P = `HOME/Pictures/${decomposed}`;

  it.each([
    `${P}/a b.png`,
    ` ${P}/a b.png \n`,
    `"${P}/a b.png"`,
    `'${P}/a b.png'`,
    `\`${P}/a b.png\``,
    `${P}/a\\ b.png`,
    `${P}/a%20b.png`,
    `file://${P}/a%20b.png`,
    `file://${P}/a b.png`,
    `FILE://localhost${P}/a%20b.png`,
    `file:${P}/a%20b.png`,
    `file://~/Pictures/${decomposed}/a%20b.png`,
    `~/Pictures/${decomposed}/a b.png`,
    `Pictures/${decomposed}/a b.png`,
    `${decomposed}/a b.png`,
    "a b.png",
    "./a b.png",
    `${P}//./a b.png`,
    `${P}/../${decomposed}/a b.png`,
    `${P}/50%.png`,
    `${P}/50%25.png`,
    `${P}/c#d?.png`,
    `file://${P}/c%23d%3F.png`,
    `${P.normalize("NFC")}/a b.png`,
    `file://${encodeURI(P.normalize("NFC"))}/a%20b.png`,
    `${P.normalize("NFC")}/${name.normalize("NFC").replace("\u202f", " ").replaceAll("’", "'")}`,
    name.normalize("NFC"),
  ])("is found as %j", async (text) => {
    expect(await read(text)).toBe(true);
  });

  it.each([
    "HOME/secret.png",
    "~/secret.png",
    "secret.png",
    "../../secret.png",
    `${P}/link.png`,
    `${P}/..%2f..%2fsecret.png`,
    `file://${P}/%2e%2e/%2e%2e/secret.png`,
    `${P}/*.png`,
    `${P}/a?b.png`,
    "$HOME/a b.png",
    `${P}/A B.png`,
    `${P}/a b.png\0`,
    "",
    "~",
    "file://",
  ])("is not found as %j", async (text) => {
    expect(await read(text)).toBe(false);
  });

  it.each([
    ["file:///C:/Users/Ann/a%20b.png", "win32", "C:/Users/Ann/a b.png"],
    ["file:///c%3A/Users/Ann/a.png", "win32", "c:/Users/Ann/a.png"],
    ["file:C:\\Users\\Ann\\a.png", "win32", "C:\\Users\\Ann\\a.png"],
    ["/c/Users/Ann/a.png", "win32", "c:/Users/Ann/a.png"],
    ["/mnt/c/Users/Ann/a.png", "win32", "c:/Users/Ann/a.png"],
    ['"C:\\Users\\Ann\\a.png"', "win32", "C:\\Users\\Ann\\a.png"],
    ["C:\\Users\\Ann\\a.png", "linux", "/mnt/c/Users/Ann/a.png"],
    ["\\\\wsl.localhost\\Ubuntu\\home\\ann\\a.png", "linux", "/home/ann/a.png"],
  ])("%j can mean on %s the path %j", (text, platform, path) => {
    expect(writtenPaths(text, undefined, platform)).toContain(path);
  });

  it("has its folder in the request to the person, also from a URL", () => {
    const url = pathToFileURL("/home/ann/my pictures/a.png").href;
    expect(new AllowedFolders("").whatToDo(url)).toContain('PANORAMA_UPLOAD_DIRS="/home/ann/my pictures"');
  });
});
