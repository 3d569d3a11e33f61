/** A member of an object or a function of the agent's code, of any class; undefined for other values. */
export const memberOf = (value: unknown, name: PropertyKey): unknown =>
  (typeof value === 'object' && value !== null) || typeof value === 'function' ? Reflect.get(value, name) : undefined;

/** Whether an object has all these methods: the agent has its own copies of the libraries, with other classes. */
export const hasMethods = (value: unknown, ...names: PropertyKey[]): boolean =>
  typeof value === 'object' && names.every((name) => typeof memberOf(value, name) === 'function');
