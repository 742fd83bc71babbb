import { statfs } from "node:fs/promises";

/** Facts of this machine for the checks. */
export type Machine = {
  readonly platform: NodeJS.Platform;
  /** Without `v`, such as `20.19.0`. */
  readonly nodeVersion: string;
  /** Absent on Linux with another C library, and on other systems. */
  readonly glibcVersion: string | undefined;
  /** Maximum number of open files and connections of the process. `Infinity`: no limit. Absent: unknown. */
  readonly openFilesMax: number | undefined;
  /** The file system of a folder that exists, for a user without special rights. */
  freeSpace(folder: string): Promise<{ readonly freeBytes: number; readonly freeFiles: number }>;
};

type Report = {
  readonly header: { readonly glibcVersionRuntime?: string };
  readonly userLimits?: { readonly open_files?: { readonly soft: number | "unlimited" } };
};

export const thisMachine = (): Machine => {
  // Without it, the report looks up the names of all connected machines.
  Object.assign(process.report, { excludeNetwork: true });
  const { header, userLimits } = process.report.getReport() as Report;
  const openFiles = userLimits?.open_files?.soft;
  return {
    platform: process.platform,
    nodeVersion: process.versions.node,
    glibcVersion: header.glibcVersionRuntime,
    openFilesMax: openFiles === "unlimited" ? Number.POSITIVE_INFINITY : openFiles,
    freeSpace: async (folder) => {
      const { bavail, bsize, ffree, files } = await statfs(folder);
      // Some file systems count no files.
      return { freeBytes: bavail * bsize, freeFiles: files === 0 ? Number.POSITIVE_INFINITY : ffree };
    },
  };
};
