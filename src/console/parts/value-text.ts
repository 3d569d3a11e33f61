/** An error as class and message. The class is left out if it is `Error`, or if the message starts with it. */
export const errorText = ({ error, message }: { error: string; message: string }): string =>
  isPlainError(error) || message.startsWith(`${error}:`)
    ? message || error
    : message === ''
      ? error
      : `${error}: ${message}`;

/** Whether the class of an error is the general one. */
export const isPlainError = (name: string): boolean => name === 'Error' || name === '';
const units = ['B', 'kB', 'MB', 'GB'] as const;
const digits = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

/** A size in bytes in words: `3.4 kB`. */
export function sizeText(size: number): string {
  const power = units.findLastIndex((_, index) => size >= 1_000 ** index);
  const at = Math.max(power, 0);
  return `${digits.format(size / 1_000 ** at)} ${units[at] ?? ''}`;
}
