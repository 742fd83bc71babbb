/** The strip with the panoramas beside this one. It opens at this one; arrow keys go along it. */
export const connectFilm = (scene: HTMLElement): void => {
  // The strip is another one after each travel, and the event does not bubble.
  const onToggle = (event: Event): void => {
    const film = event.target as HTMLElement;
    if (film.id !== "film") return;
    scene.dataset.film = (event as ToggleEvent).newState;
    film.querySelector("[aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
  };
  scene.addEventListener("toggle", onToggle, true);
  scene.addEventListener("keydown", ({ key, target }) => {
    const link = (target as Element).closest("#film a");
    const beside =
      key === "ArrowRight" ? link?.nextElementSibling : key === "ArrowLeft" && link?.previousElementSibling;
    if (beside) (beside as HTMLElement).focus();
  });
};

/** While nothing happens, the strip goes, unless the pointer is on it or the keyboard in it. */
export const hideFilm = (): void => {
  const film = document.getElementById("film");
  if (film?.matches(":hover") === false && film.querySelector(":focus-visible") === null) film.hidePopover?.();
};
