import { err, ok } from "neverthrow";
import { misused } from "../command-error.js";
import { tokens } from "../tokens.js";
import { type Command, text } from "./common/command.js";

const MESSAGE_CHARACTERS_MAX = 300;

export const maintenanceOn: Command = {
  words: "maintenance on",
  about:
    "Refuses creations, uploads, orders and all other writes of customers on all instances, within a second or two. Reads go on, and pages show the message.",
  usage: "--message TEXT",
  options: { message: { type: "string", about: "a sentence for customers, such as when the service is back" } },
  required: ["message"],
  example: 'maintenance on --message "We are back at 14:00 UTC."',
  isRecorded: true,
  run: async (service, values) => {
    const message = text(values, "message").replace(/\s+/g, " ").trim();
    if (message === "" || message.length > MESSAGE_CHARACTERS_MAX) {
      return err(misused(`--message must have 1 to ${MESSAGE_CHARACTERS_MAX} characters.`));
    }
    const clock = await service.get(tokens.clock);
    await (await service.get(tokens.maintenance)).begin({ message, since: clock.now() });
    return ok({ json: { maintenance: true, message }, lines: [`Maintenance is on: ${message}`] });
  },
};

export const maintenanceOff: Command = {
  words: "maintenance off",
  about: "Ends the maintenance on all instances, within a second or two.",
  usage: "",
  options: {},
  required: [],
  example: "maintenance off",
  isRecorded: true,
  run: async (service) => {
    await (await service.get(tokens.maintenance)).end();
    return ok({ json: { maintenance: false }, lines: ["Maintenance is off."] });
  },
};
