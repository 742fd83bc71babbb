/** Whether a file operation failed because the file exists already (`EEXIST`) or does not exist (`ENOENT`). */
export const isFileError = (error: unknown, code: "EEXIST" | "ENOENT"): boolean =>
  error instanceof Error && "code" in error && error.code === code;
