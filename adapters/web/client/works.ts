import { followCards } from "./card-updates.js";
import { creationForm } from "./creation-form.js";
import { endlessList } from "./endless-list.js";
import { selection } from "./selection.js";
import { undoableDelete } from "./undoable-delete.js";
import { visibilityChange } from "./visibility-change.js";
import { worksHead } from "./works-head.js";

followCards();
undoableDelete();
visibilityChange();
selection();
worksHead();
void endlessList("list");
if (document.getElementById("create") !== null) creationForm();
