/** One sentence for a folder that `serve` can neither make nor write to. */
export const unwritableDataDir = (dataDir: string, error: unknown): string => {
  const reason = error instanceof Error ? error.message : String(error);
  return `DATA_DIR ${dataDir} cannot be written: ${reason}. Give the user of the service the right to write there, or set another folder.`;
};
