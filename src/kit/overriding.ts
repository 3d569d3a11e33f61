/** The same object with other methods in the place of some. */
export const overriding = <Methods extends object, T extends Methods>(original: T, methods: Partial<Methods>): T =>
  new Proxy(original, {
    get(target, name) {
      const member: unknown = Reflect.get(methods, name) ?? Reflect.get(target, name);
      // It may be an object of a class, whose methods need their own object.
      return typeof member === 'function'
        ? (...given: unknown[]): unknown => Reflect.apply(member, target, given)
        : member;
    },
  });
