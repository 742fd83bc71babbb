import { describe, it } from "vitest";
import { describeEventSignals, describeTaskSignals } from "../../../adapters/contracts/signals-contract.js";
import { InProcessEventSignals } from "../../../adapters/memory/in-process-event-signals.js";
import { InProcessTaskSignals } from "../../../adapters/memory/in-process-task-signals.js";

describeTaskSignals({ describe, it }, "InProcessTaskSignals", () => new InProcessTaskSignals());
describeEventSignals({ describe, it }, "InProcessEventSignals", () => new InProcessEventSignals());
