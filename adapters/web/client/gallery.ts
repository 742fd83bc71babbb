import { endlessList } from "./endless-list.js";
import { localTimes } from "./local-times.js";

localTimes(document);
void endlessList("gallery");
