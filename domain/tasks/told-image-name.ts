import { type ObjectName, panoramaName } from "../images/object-name.js";
import type { SucceededTask } from "./task.js";

/**
 * The name of a stored image, for the permanent URL that its owner is told. Of a panorama that an operator has hidden,
 * a name under which nothing is ever stored: a bucket would serve its files to everybody to whom the owner passes it.
 */
export const toldImageName = ({ slug, image, withheldReason }: SucceededTask): ObjectName =>
  withheldReason === undefined ? image.imageName : panoramaName(`hidden-${slug}`);
