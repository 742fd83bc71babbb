/** `npm run verify NAME`: what takes minutes or needs more than Node.js, and so is not part of `npm test`. */

const BUILD = "npm run -s build";

export const VERIFICATIONS = {
  alerts: {
    about: "promtool checks the alert rules, and fires each alert on a planted series",
    steps: [BUILD, "tsx test/adapters/observability/check-alerts.ts"],
  },
  faults: { about: "every fault at every call of a port (minutes)", steps: ["tsx test/faults/run.ts"] },
  image: { about: "the steps of the Dockerfile, and the result (3 minutes)", steps: ["tsx test/deployment/image.ts"] },
  long: {
    about: "what kills processes, compares times, or takes each model and HTTP server (2 minutes)",
    steps: [BUILD, "env TESTS=long vitest run"],
  },
  mutation: {
    about: "mutation testing of domain and application, or of one file (hours)",
    steps: ["node test/mutation/run-mutation.mjs"],
  },
  nodes: {
    about: "the fast tests, and a start with the MCP server, on other versions of Node.js",
    steps: [BUILD, "node test/on-node-versions.mjs"],
  },
  packages: {
    about: "installs the packages with npm, pnpm and yarn, and runs the examples",
    steps: [BUILD, "tsx test/packages/install.ts"],
  },
  "packages-form": {
    about: "attw of each package, its size, and what it costs to import",
    steps: [BUILD, "tsx test/packages/check.ts"],
  },
  planted: { about: "the machines find each planted fault (hours)", steps: ["tsx test/faults/planted.ts"] },
  programs: {
    about: "what needs Chromium, Java, Python, nginx or the registry: pages, clients, packages",
    steps: [BUILD, "env TESTS=program vitest run"],
  },
  rolling: {
    about: "restarts three instances behind nginx under load (3 minutes)",
    steps: [BUILD, "tsx test/deployment/rolling.ts"],
  },
  runtimes: {
    about: "client, meter and fetchRoutes in Node.js, Deno, Bun and workerd",
    steps: [BUILD, "tsx test/packages/runtimes.ts"],
  },
  "supply-chain": {
    about: "integrity and licences of the packages, and npm audit",
    steps: ["tsx test/supply-chain/check.ts"],
  },
};
