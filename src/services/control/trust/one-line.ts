/** A claim or a sentence of claims as one line: nothing in it breaks a line, or turns the direction of what follows. */
export const asOneLine = (text: string, length: number): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ')
    .slice(0, length)
    .toWellFormed();
