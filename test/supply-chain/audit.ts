/** The part of `npm audit --json` that counts. Without `vulnerabilities` the registry has not answered. */
export type AuditReport = {
  readonly vulnerabilities?: Readonly<
    Record<string, { readonly severity: string; readonly via: readonly (string | { readonly url: string })[] }>
  >;
};

/** A known vulnerability that does not concern this project. After `until` (a date) it is a finding again. */
export type AuditException = { readonly url: string; readonly until: string; readonly reason: string };

export const AUDIT_EXCEPTIONS: readonly AuditException[] = [];

const SEVERE = new Set(["high", "critical"]);

/** The severe advisories without an exception, one sentence each; `undefined` if the registry has not answered. */
export const auditFindings = (
  report: AuditReport,
  exceptions: readonly AuditException[],
  now: Date,
): string[] | undefined => {
  if (report.vulnerabilities === undefined) return undefined;
  const isExcepted = (url: string): boolean =>
    exceptions.some((exception) => exception.url === url && now < new Date(exception.until));
  return Object.entries(report.vulnerabilities).flatMap(([name, { severity, via }]) => {
    if (!SEVERE.has(severity)) return [];
    // A package that is only affected by another one has the name of that one, which has an entry of its own.
    const urls = via.flatMap((cause) => (typeof cause === "string" ? [] : [cause.url]));
    return urls.filter((url) => !isExcepted(url)).map((url) => `${name}: ${severity}, ${url}`);
  });
};
