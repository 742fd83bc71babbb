import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Makes the packages in `dist-packages/` once for all tests of them, from what `npm run build` has built. */
export default async (): Promise<void> => {
  await promisify(execFile)(process.execPath, ["--import", "tsx", "bootstrap/packages/build-packages.ts"]);
};
