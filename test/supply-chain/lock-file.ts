/** An entry of `packages` in package-lock.json. */
export type LockedPackage = {
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly link?: boolean;
};

/** Licences that allow what this project does with the package: use, bundle, and pass on with its licence text. */
const ALLOWED = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "CC0-1.0",
  "ISC",
  "MIT",
  "MIT-0",
  "Unlicense",
  "Zlib",
]);

/** Packages with another licence, or without one in package.json. */
const EXCEPTIONS: readonly { readonly path: RegExp; readonly license: string | undefined; readonly reason: string }[] =
  [
    {
      path: /^node_modules\/(busboy|streamsearch)$/,
      license: undefined,
      reason: "MIT by its LICENSE file; its package.json has only the old field `licenses`",
    },
    {
      path: /^node_modules\/(humanize-number|only)$/,
      license: undefined,
      reason: "MIT by its Readme.md; used by the S3 server of tests only",
    },
    {
      path: /^node_modules\/@img\/sharp-/,
      license: "LGPL-3.0-or-later",
      reason: "libvips, a shared library of its own that is not bundled and can be replaced",
    },
    {
      path: /^node_modules\/(axe-core|lightningcss(-[\w-]+)?)$/,
      license: "MPL-2.0",
      reason: "used by tests only, and not changed",
    },
    {
      path: /^node_modules\/@fontsource\//,
      license: "OFL-1.1",
      reason: "a font, which the licence allows to bundle with software",
    },
    {
      path: /^node_modules\/wawoff2\/node_modules\/argparse$/,
      license: "Python-2.0",
      reason: "a permissive licence; used by the command of a library with which the web pages' font is built",
    },
    {
      path: /^node_modules\/caniuse-lite$/,
      license: "CC-BY-4.0",
      reason: "data about browsers, used by mutation testing only",
    },
  ];

/** The faults of the lock file's entries, one sentence each: no integrity, or a licence that is not allowed. */
export const lockFindings = (packages: Readonly<Record<string, LockedPackage>>): string[] =>
  Object.entries(packages).flatMap(([path, { integrity, license }]) => {
    if (path === "") return []; // this project
    return [
      ...(integrity?.startsWith("sha512-") ? [] : [`${path}: has no sha512 integrity`]),
      ...(isAllowed(path, license) ? [] : [`${path}: the licence ${license ?? "(none)"} is not allowed`]),
    ];
  });

const isAllowed = (path: string, license: string | undefined): boolean => {
  const excepted = EXCEPTIONS.filter((exception) => exception.path.test(path));
  if (license === undefined) return excepted.some((exception) => exception.license === undefined);
  const isFine = (one: string): boolean => ALLOWED.has(one) || excepted.some((exception) => exception.license === one);
  // SPDX: of alternatives one is enough, of a conjunction each counts.
  return license
    .replace(/^\((.*)\)$/, "$1")
    .split(" OR ")
    .some((alternative) => alternative.split(" AND ").every(isFine));
};
