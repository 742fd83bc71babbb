import type { Props as PropsOf, Scene } from "./scene.js";

export class Props {
  readonly heightMetres: number;
  constructor(_scene: Scene, props: PropsOf) {
    this.heightMetres = props.heightMetres;
  }
}
