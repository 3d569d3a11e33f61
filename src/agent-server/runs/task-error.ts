/**
 * The error of a task as text: name and message. Accepts the engine's error objects and their stored form. Null if there
 * is none.
 */
export function taskError(error: unknown): string | null {
  if (error === undefined || error === null) return null;
  if (typeof error === 'string') return error;
  if (typeof error !== 'object') return JSON.stringify(error) ?? 'Error';
  const [name, message]: unknown[] = [Reflect.get(error, 'name'), Reflect.get(error, 'message')];
  const reported = [name, message].filter((part) => typeof part === 'string' && part !== '');
  return reported.length > 0 ? reported.join(': ') : 'Error';
}
