import { parseArgs } from "node:util";
import { fuzz, KINDS, type Kind } from "./run-fuzz.js";

/*
 * `npm run verify fuzz -- --requests 5000`: that many random requests of each kind to the built service, and random
 * answers of providers to their adapters. Exits with 1 if anything is wrong. `--seed S` repeats a run, `--only
 * operations`, `malformed`, `webhooks` or `answers` a part of it, and `--first N --requests 1` one request.
 */

const { values } = parseArgs({
  options: {
    requests: { type: "string", default: "2000" },
    seed: { type: "string" },
    first: { type: "string", default: "0" },
    only: { type: "string", multiple: true, default: [...KINDS] },
  },
});
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
const unknown = values.only.find((kind) => !KINDS.some((known) => known === kind));
if (unknown !== undefined) {
  console.error(`--only ${unknown}: must be one of ${KINDS.join(", ")}`);
  process.exit(1);
}

console.log(`seed ${seed}`);
const { sent, answered, findings } = await fuzz({
  requests: Number(values.requests),
  seed,
  first: Number(values.first),
  kinds: values.only as Kind[],
});
for (const [kind, times] of sent) console.log(`sent ${times} ${kind}`);
for (const [answer, times] of [...answered].sort()) console.log(`  ${answer}: ${times}`);
for (const { kind, n, what, sent: request } of findings) {
  console.error(`\nWRONG ${kind} ${n}: ${what}`);
  if (request !== "") console.error(`  request: ${request}`);
  if (kind !== "service") {
    console.error(`  repeat: npm run verify fuzz -- --seed ${seed} --only ${kind} --first ${n} --requests 1`);
  }
}
console.log(findings.length === 0 ? "nothing is wrong" : `${findings.length} findings`);
process.exit(findings.length === 0 ? 0 : 1);
