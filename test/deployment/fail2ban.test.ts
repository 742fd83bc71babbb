import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createLogger, withRequest } from "../../adapters/observability/logger.js";
import { Metrics } from "../../adapters/observability/metrics.js";
import { OperationalReporter } from "../../adapters/observability/reporter.js";
import { RequestObserver } from "../../adapters/observability/request-observer.js";

const FILE = join(import.meta.dirname, "../../bootstrap/deployment/fail2ban-panorama.conf");

/** As fail2ban reads it: continued lines are further expressions, and `<SUBNET>` is an address or a network. */
const filter = async () => {
  const text = await readFile(FILE, "utf8");
  const [, failregex = ""] = /^failregex = ((?:.*\n)(?:[ \t]+.*\n)*)/m.exec(text) ?? [];
  const [, prefix = ""] = /^prefregex = (.*)$/m.exec(text) ?? [];
  const [, date = ""] = /^datepattern = (.*)$/m.exec(text) ?? [];
  const digits = date.replace(/%%[YmdHMSf]/g, "[0-9]+").replace("%%z", "(?:Z|[+-][0-9:]+)");
  return {
    time: new RegExp(digits),
    prefix: new RegExp(prefix.replace("<F-CONTENT>", "(?<content>").replace("</F-CONTENT>", ")")),
    expressions: failregex
      .trim()
      .split("\n")
      .map((line) => new RegExp(line.trim().replace("<SUBNET>", "(?<subnet>[0-9a-fA-F.:]+(?:/[0-9]+)?)"))),
  };
};

/** The lines that the service writes. */
const written = (work: (reporter: OperationalReporter, observer: RequestObserver) => void): string[] => {
  const lines: string[] = [];
  const logger = createLogger("info", { write: (line) => lines.push(line.trim()) });
  const metrics = new Metrics({ version: "1", node: "20" });
  work(new OperationalReporter(logger, metrics), new RequestObserver(logger, metrics));
  return lines;
};

const request = { requestId: "one", method: "GET", route: "/x", seconds: 0.01, aborted: false };

describe("the filter for fail2ban", () => {
  const banned = async (lines: readonly string[]) => {
    const { time, prefix, expressions } = await filter();
    expect(expressions).toHaveLength(2);
    // What it compares: without the time, and from the journal with what systemd knows of the line.
    const subnetOf = (line: string) => {
      expect(line).toMatch(time);
      const content = prefix.exec(line.replace(time, ""))?.groups?.content ?? "";
      return expressions.map((one) => one.exec(content)?.groups?.subnet).find((subnet) => subnet !== undefined);
    };
    return lines.map((line) => {
      const subnet = subnetOf(line);
      expect(subnetOf(`host panorama[123]: ${line}`)).toBe(subnet);
      return subnet;
    });
  };

  it.each(["203.0.113.7", "2001:db8:1:2::/64"])("bans %s for refused logins and keys", async (network) => {
    const failed = (reason: "wrong_password" | "unknown_address") =>
      ({ kind: "login_failed", reason, network }) as const;
    const lines = written((reporter, observer) => {
      reporter.report(failed("wrong_password"));
      withRequest({ requestId: "one" }, () => reporter.report(failed("unknown_address")));
      observer.finished({ ...request, status: 401, network, error: "invalid_api_key" });
      observer.finished({ ...request, status: 401, network, traceId: "0".repeat(32), aborted: true });
    });
    expect(await banned(lines)).toEqual(Array(4).fill(network));
  });

  it("bans nobody for a busy service, other answers, or text written by a client", async () => {
    const network = "203.0.113.7";
    const lines = written((reporter, observer) => {
      reporter.report({ kind: "login_failed", reason: "hashing_busy", network });
      observer.finished({ ...request, status: 200, network });
      observer.finished({ ...request, status: 404, network });
      const requestId = '","event":"request","status":401,"seconds":0.1,"network":"198.51.100.1"';
      observer.finished({ ...request, requestId, status: 200, network });
    });
    expect(await banned(lines)).toEqual([undefined, undefined, undefined, undefined]);
  });
});
