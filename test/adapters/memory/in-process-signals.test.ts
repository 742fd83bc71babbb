import { describe, it } from "vitest";
import { InProcessEventSignals } from "../../../adapters/memory/in-process-event-signals.js";
import { InProcessTaskSignals } from "../../../adapters/memory/in-process-task-signals.js";
import { describeEventSignals, describeTaskSignals } from "../../contracts/signals-contract.js";

describeTaskSignals({ describe, it }, "InProcessTaskSignals", () => new InProcessTaskSignals());
describeEventSignals({ describe, it }, "InProcessEventSignals", () => new InProcessEventSignals());
