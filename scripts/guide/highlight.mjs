// Not in TypeScript: the types of highlight.js bring those of browsers into every file of the project.
import { common, createLowlight } from 'lowlight';

const lowlight = createLowlight(common);

/** The parts of a code with their classes; undefined where the language is unknown. */
export const highlight = (language, code) =>
  lowlight.registered(language) ? lowlight.highlight(language, code) : undefined;
