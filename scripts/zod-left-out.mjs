// In the place of what zod writes JSON schemas with (rolldown.config.ts): the Action reads by its schemas, and shows none.
const leftOut = () => {
  throw new Error('this part of zod is not in the bundle');
};
export const createToJSONSchemaMethod = () => leftOut;
export const createStandardJSONSchemaMethod = () => leftOut;
export const toJSONSchema = leftOut;
