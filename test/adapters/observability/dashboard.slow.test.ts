import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { Metrics } from "../../../adapters/observability/metrics.js";
import { type ObservedService, startObservedService } from "../../support/observed-service.js";
import { metricsIn, usesOf } from "./metric-names.js";

type Rule = {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
};

const read = (file: string) => readFile(`adapters/observability/${file}`, "utf8");
const rules = (parse(await read("alert-rules.yaml")) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);
const dashboard = JSON.parse(await read("grafana-dashboard.json"));
const panels = dashboard.panels.flatMap(({ title, targets }: { title: string; targets: { expr: string }[] }) =>
  targets.map(({ expr }) => [title, expr]),
) as [string, string][];
const expressions = [...rules.map(({ alert, expr }): [string, string] => [alert, expr]), ...panels];

/** Prometheus adds the first two to every sample, and makes the metric `up`. */
const OF_PROMETHEUS = { labels: ["instance", "job"], metrics: ["up"] };

const BUCKET: Readonly<Record<string, readonly string[]>> = { _bucket: ["le"] };

/** The labels of metrics that have no sample yet, such as those of failures. */
const declaredLabels = ({ registry }: Metrics): [string, readonly string[]][] =>
  (registry.getMetricsAsArray() as unknown as { name: string; labelNames: string[] }[]).flatMap(
    ({ name, labelNames }) =>
      ["", "_bucket", "_sum", "_count"].map((end): [string, string[]] => [
        name + end,
        [...labelNames, ...(BUCKET[end] ?? [])],
      ]),
  );

describe("the dashboard and the alert rules", () => {
  let service: ObservedService;
  let answer: Map<string, Set<string>>;

  beforeAll(async () => {
    service = await startObservedService();
    await service.generate();
    await service.request("/api/v1/panoramas", { method: "POST", body: "{}" });
    answer = metricsIn(await service.scrape());
    for (const [name, labels] of declaredLabels(service.metrics))
      for (const label of labels) answer.get(name)?.add(label);
  });
  afterAll(() => service.close());

  it.each(expressions)("%s: every metric is in the answer of the service: %s", (_, expression) => {
    const { metrics } = usesOf(expression);
    expect(metrics.length).toBeGreaterThan(0);
    expect(metrics.filter((name) => !answer.has(name) && !OF_PROMETHEUS.metrics.includes(name))).toEqual([]);
  });

  it.each(expressions)("%s: every label is one of its metrics: %s", (_, expression) => {
    const { metrics, labels } = usesOf(expression);
    const known = new Set([...OF_PROMETHEUS.labels, ...metrics.flatMap((name) => [...(answer.get(name) ?? [])])]);
    expect(labels.filter((label) => !known.has(label))).toEqual([]);
  });

  it("have a summary and a runbook for every alert", () => {
    for (const { labels, annotations } of rules) {
      expect(labels.severity).toMatch(/^(page|ticket)$/);
      expect([annotations.summary, annotations.runbook]).toEqual([
        expect.stringMatching(/\S\.$/),
        expect.stringMatching(/\S\.$/),
      ]);
    }
  });

  it("show at most twelve panels, in rows of three", () => {
    expect(dashboard.panels.length).toBeLessThanOrEqual(12);
    const places = dashboard.panels.map(({ gridPos }: { gridPos: object }) => gridPos);
    expect(places).toEqual(
      places.map((_: object, index: number) => ({ h: 8, w: 8, x: 8 * (index % 3), y: 8 * Math.floor(index / 3) })),
    );
  });
});
