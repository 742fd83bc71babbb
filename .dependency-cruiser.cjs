/** The dependency rule: domain ← application ← adapters ← bootstrap. Each folder lists what it MAY import. */
module.exports = {
  forbidden: [
    {
      name: "domain-is-pure",
      severity: "error",
      from: { path: "^domain/" },
      to: { pathNot: "^(domain/|node_modules/(neverthrow|zod)/)" },
    },
    {
      name: "application-knows-the-domain-only",
      severity: "error",
      from: { path: "^application/" },
      to: { pathNot: "^(application/|domain/|node_modules/neverthrow/)" },
    },
    {
      name: "adapters-do-not-know-bootstrap-or-tests",
      severity: "error",
      from: { path: "^adapters/" },
      to: { path: "^(bootstrap|test)/" },
    },
    {
      name: "adapters-stay-apart",
      severity: "error",
      // The client is a library of its own: the MCP server and the terminal use it. system/, web-page/ and wording/ are shared.
      from: { path: "^adapters/([^/]+)/" },
      to: { path: "^adapters/", pathNot: ["^adapters/$1/", "^adapters/(client|system|web-page|wording)/"] },
    },
    {
      name: "only-bootstrap-knows-the-container",
      severity: "error",
      from: { pathNot: "^bootstrap/" },
      to: { path: "node_modules/(inversify|reflect-metadata)/" },
    },
    { name: "nothing-imports-tests", severity: "error", from: { pathNot: "^test/" }, to: { path: "^test/" } },
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    { name: "everything-resolves", severity: "error", from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^dist/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "types", "node", "default"],
    },
  },
};
