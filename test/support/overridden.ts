/** The same object with other methods. */
export const overridden = <Base extends object>(base: Base, methods: Partial<Base>): Base =>
  Object.assign(Object.create(base), methods);
