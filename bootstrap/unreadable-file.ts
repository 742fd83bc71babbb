const RIGHTS = "the user of the service has no right to read it. Give it the right";
const NONE = "there is none. Correct the name";

/** Why a file cannot be read, by the code of the system, and what to do. */
const CAUSES: Readonly<Record<string, string>> = {
  ENOENT: NONE,
  ENOTDIR: NONE,
  EACCES: RIGHTS,
  EPERM: RIGHTS,
  EISDIR: "it is a folder. Name a file",
  ELOOP: "symbolic links lead to each other. Correct them",
  ENAMETOOLONG: "its name is too long. Correct the name",
};

/** Why a file that a variable names cannot be read, and what to do. Without the full stop at the end. */
export const unreadableFile = ({ code = "nothing" }: NodeJS.ErrnoException): string =>
  CAUSES[code] ?? `the system answers ${code}. Check the file and its disk`;
