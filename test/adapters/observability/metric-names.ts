import { parser } from "@prometheus-io/lezer-promql";

/** A selector of PromQL, and the labels that it or an aggregation around it names. */
export type PromqlUse = { readonly metrics: readonly string[]; readonly labels: readonly string[] };

/** Grafana's variables in places where PromQL has a duration or a text. */
const VARIABLES: readonly (readonly [RegExp, string])[] = [
  [/\$__rate_interval|\$__interval/g, "5m"],
  [/\$(instance|datasource)/g, "any"],
];

/**
 * The metrics and labels that an expression names. Throws if it is not PromQL. Labels that the expression itself makes
 * by `label_replace` do not count.
 */
export const usesOf = (expression: string): PromqlUse => {
  const text = VARIABLES.reduce((known, [pattern, value]) => known.replaceAll(pattern, value), expression);
  const metrics: string[] = [];
  const labels: string[] = [];
  parser.parse(text).iterate({
    enter: ({ type, name, from, to }) => {
      const written = text.slice(from, to);
      if (type.isError) throw new Error(`This is not PromQL at character ${from}: ${text}`);
      if (name === "Identifier") metrics.push(written);
      if (name === "LabelName") labels.push(written);
    },
  });
  const made = [...text.matchAll(/label_replace\(.*?, "(\w+)", "/g)].map(([, label]) => label);
  return { metrics, labels: labels.filter((label) => !made.includes(label)) };
};

/** The metrics of an answer to `GET /metrics`, each with the labels of its samples. */
export const metricsIn = (answer: string): Map<string, Set<string>> => {
  const metrics = new Map<string, Set<string>>();
  for (const line of answer.split("\n")) {
    const [, family = "", kind] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    const names = kind === "histogram" ? ["_bucket", "_sum", "_count"].map((end) => family + end) : [family];
    if (kind !== undefined) for (const name of names) metrics.set(name, new Set());
    const [, sample = "", labels = ""] = /^([a-z_]\w*)(?:\{(.*)\})? /.exec(line) ?? [];
    for (const [, label = ""] of labels.matchAll(/(\w+)="/g)) metrics.get(sample)?.add(label);
  }
  return metrics;
};
