import { endlessList } from "./endless-list.js";
import { localTimes } from "./page.js";

localTimes(document);
void endlessList("gallery");
