/** What the machine or the installation lacks: what, why, and what to do. `undefined` for other errors. */
function lackOf(error: unknown): string | undefined {
  const problem = (error || {}) as { readonly code?: unknown; readonly message?: unknown };
  const code = String(problem.code);
  const [message = ""] = String(problem.message).split(/[.:]?\n/, 1);
  if (/^E[MN]FILE$/.test(code)) {
    return "The process may not open enough files. Allow 4096 or more: LimitNOFILE= of systemd, ulimit -n.";
  }
  if (/^(ENOMEM|ERR_WORKER_OUT_OF_MEMORY)$/.test(code) || /out of memory|memory allocation/i.test(message)) {
    return `The process gets too little memory: ${message}. Allow more, also of virtual memory: MemoryMax= of systemd, ulimit -v.`;
  }
  const isMissing = /^((ERR_)?MODULE_NOT_FOUND|ERR_DLOPEN_FAILED)$/.test(code);
  return isMissing || /could not load the .* module|\.node['":]/i.test(message)
    ? `A part of the program cannot be loaded: ${message}. Install it again, on this machine and with its Node.js: npm ci.`
    : undefined;
}

/** Prints the sentence as an error of the configuration, and ends the process with its status. */
function refuse(sentence: string): never {
  const isJson = process.argv.indexOf("--json") !== -1;
  console.error(isJson ? JSON.stringify({ error: { code: "configuration", message: sentence } }) : sentence);
  process.exit(6);
}

/**
 * Starts a program if this Node.js can run it; otherwise one sentence says what is needed. If an older version than
 * `minimum` `works` all the same, a line says so. Versions back to 10 must be able to read this file and those that
 * require it, so both use their syntax.
 */
function startOnNode(name: string, minimum: string, works: boolean, load: () => Promise<unknown>): void {
  const version = process.versions.node;
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [majorMin = 0, minorMin = 0] = minimum.split(".").map(Number);
  // What 20.19 has, 22 has since 22.3.
  const needs = `${name} needs Node.js ${major > majorMin ? "22.3" : minimum} or later; this is ${version}`;
  if (!works) refuse(`${needs}. Install a later version: https://nodejs.org`);
  if (major < majorMin || (major === majorMin && minor < minorMin)) {
    console.error(`${needs}, with which some of it may fail. Install a later version: https://nodejs.org`);
  }
  process.on("uncaughtException", (error) => {
    const lack = lackOf(error);
    // A restart helps a process that has run for long, but not with status 6.
    if (lack !== undefined && process.uptime() < 60) refuse(lack);
    console.error(error);
    process.exit(1);
  });
  void load(); // a rejection ends in the handler above
}

module.exports = { startOnNode };
