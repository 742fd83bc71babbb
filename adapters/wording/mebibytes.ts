/** A limit as people read it: "10 MiB". */
export const mebibytes = (bytes: number): string => `${bytes / (1024 * 1024)} MiB`;
