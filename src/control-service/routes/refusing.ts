import type { Context } from 'hono';

/** Answers a method that a path does not have, and names those that it has. */
export const onlyMethods =
  (...allowed: readonly string[]) =>
  (context: Context) => {
    context.header('Allow', allowed.join(', '));
    return context.json({ detail: `Method Not Allowed: this path takes ${allowed.join(' and ')}.` }, 405);
  };
