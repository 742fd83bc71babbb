import { followCards } from "./card-updates.js";
import { creationForm } from "./creation-form.js";
import { endlessList } from "./endless-list.js";
import { undoableDelete } from "./undoable-delete.js";
import { visibilityChange } from "./visibility-change.js";

followCards();
undoableDelete();
visibilityChange();
void endlessList("list");
if (document.getElementById("create") !== null) creationForm();
