import { createHash } from "node:crypto";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { build } from "esbuild";
import sharp from "sharp";
import subsetFont from "subset-font";

/** A module that others load when they need it. */
const SPHERE = "viewer/sphere.ts";
const SOURCES = [
  "viewer/viewer.ts",
  "viewer/waiting.ts",
  "gallery.ts",
  "hero.ts",
  "works.ts",
  "account.ts",
  "docs.ts",
  "theme.ts",
  "styles/style.css",
  "styles/landing.css",
  "styles/gallery.css",
  "styles/viewer.css",
  "styles/works.css",
  "styles/account.css",
  "styles/docs.css",
];

/** The face of headings: its Latin characters in one weight. */
const DISPLAY_FONT = "@fontsource/bricolage-grotesque/files/bricolage-grotesque-latin-700-normal.woff2";
/**
 * The ranges of characters in each part of that face, as in style.css. Every page preloads the first part; browsers
 * load the second one where a heading has one of its characters.
 */
const FONT_PARTS = {
  "display.woff2": [
    [0x20, 0x7e],
    [0xb0],
    [0xb7],
    [0xd7],
    [0x2013, 0x2014],
    [0x2018, 0x2019],
    [0x201c, 0x201d],
    [0x2026],
  ],
  "display-more.woff2": [[0xa0, 0xff], [0x131], [0x152, 0x153], [0x2000, 0x206f], [0x20ac], [0x2122], [0x2212]],
};

/** The panorama of the landing page where there is no other: painted by the local provider, turned a little. */
const HERO = "hero.jpg";
/** For the first moment, magnified: the page is shown before the sharp picture is loaded. */
const HERO_SMALL_QUALITY = 40;

/** Files that are compressed already. */
const IS_COMPRESSED = new Set([".woff2", ".png", ".jpg", ".webp"]);

const source = (name) => fileURLToPath(new URL(name, import.meta.url));

/**
 * Builds the scripts, styles, fonts and icons of the web pages into `folder`. Each script and style is self-contained,
 * except for files that it references by their built name. The name of a file begins with a digest of its content. A
 * file that is not compressed already has compressed copies beside it, `.br` and `.gz`. The guides of `/docs` are in
 * `guides`, the text of `/providers` beside them.
 */
export const buildClient = async (folder) => {
  await mkdir(folder, { recursive: true });
  const hero = await readFile(source(`pictures/${HERO}`));
  const files = new Map([
    ...(await fontParts()),
    ["icon.svg", await readFile(source("pictures/icon.svg"))],
    // The same picture, for clients without SVG. Not made here: libvips may have been told to read no SVG in this
    // process.
    ["favicon.png", await readFile(source("pictures/favicon.png"))],
    ["touch-icon.png", await readFile(source("pictures/touch-icon.png"))],
    ["icon-512.png", await readFile(source("pictures/icon-512.png"))],
    [HERO, hero],
    ["hero-small.webp", await sharp(hero).resize(512).webp({ quality: HERO_SMALL_QUALITY }).toBuffer()],
  ]);
  const options = {
    outdir: folder,
    write: false,
    bundle: true,
    minify: true,
    target: "es2022",
    loader: { ".svg": "dataurl" },
    plugins: [builtFiles(files)],
    legalComments: "eof",
    logLevel: "warning",
  };
  const sphere = { format: "esm", entryPoints: [source(SPHERE)] };
  const others = { format: "iife", entryPoints: SOURCES.map(source) };
  for (const part of [sphere, others]) {
    const built = await build({ ...options, ...part });
    for (const { path, contents } of built.outputFiles) files.set(basename(path), contents);
  }
  await Promise.all([...files].map(([name, content]) => write(folder, name, content)));
  await cp(source("docs"), join(folder, "guides"), { recursive: true });
  await cp(source("../../../PROVIDERS.md"), join(folder, "PROVIDERS.md"));
};

const fontParts = async () => {
  const font = await readFile(createRequire(import.meta.url).resolve(DISPLAY_FONT));
  const part = ([name, ranges]) =>
    subsetFont(font, ranges.map(characters).join(""), { targetFormat: "woff2" }).then((content) => [name, content]);
  return Promise.all(Object.entries(FONT_PARTS).map(part));
};

const characters = ([first, last = first]) =>
  String.fromCharCode(...Array.from({ length: last - first + 1 }, (_, index) => first + index));

/** Resolves `url("/static/NAME")` in a style, and `import("./NAME")` in a script, to the built file of this name. */
const builtFiles = (files) => ({
  name: "built-files",
  setup: ({ onResolve }) =>
    onResolve({ filter: /./ }, ({ path, kind }) => {
      if (kind !== "dynamic-import" && !path.startsWith("/static/")) return undefined;
      const name = basename(path);
      const content = files.get(name);
      return content === undefined
        ? { errors: [{ text: `there is no built file ${name}` }] }
        : { path: `/static/${builtName(name, content)}`, external: true };
    }),
});

const builtName = (name, content) => `${createHash("sha256").update(content).digest("hex").slice(0, 12)}-${name}`;

const write = async (folder, name, content) => {
  const path = join(folder, builtName(name, content));
  await writeFile(path, content);
  if (IS_COMPRESSED.has(extname(name))) return;
  await writeFile(`${path}.br`, await promisify(brotliCompress)(content)); // with the highest quality
  await writeFile(`${path}.gz`, await promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }));
};

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildClient(process.argv[2]);
