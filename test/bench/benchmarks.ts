/** `npm run bench NAME`: README.md in this folder says what each of them measures. */

const BUILD = "npm run -s build";

export const BENCHMARKS = {
  busy: {
    about: "200 creations at once with a slow provider, and two kills (4 minutes)",
    steps: [BUILD, "tsx test/bench/busy.ts"],
  },
  deliveries: { about: "webhooks per second of one instance", steps: [BUILD, "tsx test/bench/deliveries.ts"] },
  growth: {
    about: "a million finished tasks in comparison with a thousand, on PostgreSQL",
    steps: ["tsx test/bench/growth.ts"],
  },
  "in-flight": {
    about: "one instance with 5,000 generations in progress (4 minutes)",
    steps: [BUILD, "tsx test/bench/in-flight.ts"],
  },
  pages: {
    about: "the landing page and the viewer on slow phones (6 minutes)",
    steps: [BUILD, "tsx test/bench/pages.ts"],
  },
  render: { about: "processor time of a 4k picture of the local provider", steps: ["tsx test/bench/render.ts"] },
  resources: {
    about: "start, memory at rest and during uploads (4 minutes)",
    steps: [BUILD, "tsx test/bench/resources.ts"],
  },
  signing: { about: "creations with signed pictures and without (4 minutes)", steps: ["tsx test/bench/signing.ts"] },
  throughput: {
    about: "requests per second in comparison with bare servers and databases",
    steps: [BUILD, "tsx test/bench/throughput.ts"],
  },
};
