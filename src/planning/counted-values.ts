import { TooManySteps } from '../config/json-path.ts';

/**
 * Shows JSON values to a reader that others steer, and counts what it reads, within and again too.
 *
 * @returns the values, which throw `TooManySteps` as soon as they are read more than `most` times.
 */
export function countedValues<Value>(values: Value, most: number): Value {
  let left = most;
  const spend = (reads: number): void => {
    left -= reads;
    if (left < 0) throw new TooManySteps(`The values were read more than ${most} times.`);
  };
  const show = <Inner>(value: Inner): Inner =>
    typeof value === 'object' && value !== null ? new Proxy<Inner & object>(value, handler) : value;
  const handler: ProxyHandler<object> = {
    get(target, key, receiver) {
      spend(1);
      return show(Reflect.get(target, key, receiver));
    },
    has(target, key) {
      spend(1);
      return Reflect.has(target, key);
    },
    ownKeys(target) {
      const keys = Reflect.ownKeys(target);
      spend(1 + keys.length);
      return keys;
    },
    getOwnPropertyDescriptor(target, key) {
      spend(1);
      return Reflect.getOwnPropertyDescriptor(target, key);
    },
  };
  return show(values);
}
