import type { Config } from "../config.js";
import { broken, type Finding, fine, notChecked, warning } from "./finding.js";
import type { Machine } from "./machine.js";

/** As `engines` in package.json. */
const NODE_VERSION_MIN = "20.19";

/** The C library that the binaries of the native HTTP server need. */
const glibcNeededBy = (nodeMajor: number): string => (nodeMajor < 22 ? "2.29" : "2.38");

/** Each connection is one, and each image that is being read or written. */
const OPEN_FILES_NEEDED = 1024;
const OPEN_FILES_RECOMMENDED = 4096;

/** Node.js and the system below it. Without a configuration, if that is wrong. */
export const checkMachine = (machine: Machine, httpServer?: Config["httpServer"]): readonly Finding[] => [
  checkNode(machine),
  checkGlibc(machine, httpServer),
  checkOpenFiles(machine),
];

const checkNode = ({ nodeVersion }: Machine): Finding =>
  isBelow(nodeVersion, NODE_VERSION_MIN)
    ? broken(
        "Node.js",
        "failed",
        `This is Node.js ${nodeVersion}. Install ${NODE_VERSION_MIN} or later, or a later version of 22 or 24.`,
      )
    : fine("Node.js", `This is Node.js ${nodeVersion}.`);

const checkGlibc = (
  { platform, nodeVersion, glibcVersion }: Machine,
  httpServer: Config["httpServer"] | undefined,
): Finding => {
  if (platform !== "linux") return notChecked("glibc", `This is ${platform}, which has no glibc and needs none.`);
  const needed = glibcNeededBy(Number.parseInt(nodeVersion, 10));
  if (glibcVersion !== undefined && !isBelow(glibcVersion, needed))
    return fine("glibc", `This is glibc ${glibcVersion}.`);
  const found = glibcVersion === undefined ? "There is no glibc here" : `This is glibc ${glibcVersion}`;
  const lacks = `${found}, and the native HTTP server needs ${needed} with Node.js ${nodeVersion}`;
  if (httpServer === "native") {
    return broken("glibc", "configuration", `${lacks}. Set HTTP_SERVER=node, or update the system.`);
  }
  return httpServer === "node"
    ? fine("glibc", `${lacks}, which HTTP_SERVER=node does not use.`)
    : warning(
        "glibc",
        `${lacks}: node:http serves instead, with about half of the speed. To have both, update the system.`,
      );
};

const checkOpenFiles = ({ openFilesMax }: Machine): Finding => {
  const name = "open files";
  if (openFilesMax === undefined) return notChecked(name, "This system does not tell its limit of open files.");
  const says = `The process may have ${openFilesMax === Number.POSITIVE_INFINITY ? "any number of" : openFilesMax} open files`;
  const advice = `Allow ${OPEN_FILES_RECOMMENDED} or more (LimitNOFILE= of systemd, ulimit -n): each connection is one.`;
  if (openFilesMax < OPEN_FILES_NEEDED) return broken(name, "failed", `${says}. ${advice}`);
  return openFilesMax < OPEN_FILES_RECOMMENDED ? warning(name, `${says}. ${advice}`) : fine(name, `${says}.`);
};

/** Compares major and minor version. */
const isBelow = (version: string, minimum: string): boolean => {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [majorMin = 0, minorMin = 0] = minimum.split(".").map(Number);
  return major < majorMin || (major === majorMin && minor < minorMin);
};
