/** A union of `{ code }` with the facts of each code. */
export type Coded<Facts, Code extends keyof Facts = keyof Facts> = {
  [Each in Code]: { code: Each } & Facts[Each];
}[Code];

/** What is said of each code and its facts. */
export type Sayings<Facts, Words = string> = { [Code in keyof Facts]: (facts: Coded<Facts, Code>) => Words };

export const say = <Facts, Words, Code extends keyof Facts>(
  sayings: Sayings<Facts, Words>,
  coded: Coded<Facts, Code>,
): Words => sayings[coded.code](coded);
