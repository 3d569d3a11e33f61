/** An error as its class and its message. The class `Error` says nothing, and some messages start with their class. */
export const errorText = ({ error, message }: { error: string; message: string }): string =>
  isPlainError(error) || message.startsWith(`${error}:`)
    ? message || error
    : message === ''
      ? error
      : `${error}: ${message}`;

/** Whether the class of an error is the general one. */
export const isPlainError = (name: string): boolean => name === 'Error' || name === '';
