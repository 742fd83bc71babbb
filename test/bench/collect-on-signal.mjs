// Loaded into the service before its own code. SIGUSR2 runs a garbage collection: then the heap has live objects only.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

process.on("SIGUSR2", () => collect());
