import { startCreationForm } from "./creation-form.js";
import { endlessList } from "./endless-list.js";
import { localTimes } from "./page.js";
import { followCards, visibilityChange } from "./works/card-updates.js";
import { selection } from "./works/selection.js";
import { undoableDelete } from "./works/undoable-delete.js";
import { worksHead } from "./works/works-head.js";

localTimes(document);
followCards();
undoableDelete();
visibilityChange();
selection();
worksHead();
void endlessList("list");
if (document.getElementById("create") !== null) startCreationForm();
