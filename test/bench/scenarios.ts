/** `npm run bench NAME`: README.md in this folder says what each of them measures. */
const ABOUT = {
  fairness: "one hostile client beside another customer, for each resource (1 minute)",
  growth: "every route and command for an account with 50,000 tasks (1 minute)",
  overload: "the built service at ten times its capacity (4 minutes)",
  pages: "the landing page and the viewer on slow phones (6 minutes)",
  resources: "start, memory at rest and during uploads (4 minutes)",
  soak: "the built service for minutes under faults (--minutes N)",
  turns: "the longest turn of the event loop, for each route and for 128 of each form at once (10 minutes)",
  throughput: "requests per second in comparison with neighbours that do the same work",
};

export const SCENARIOS = Object.fromEntries(
  Object.entries(ABOUT).map(([name, about]) => [
    name,
    { about, steps: ["npm run -s build", `tsx test/bench/run.ts ${name}`] },
  ]),
);
