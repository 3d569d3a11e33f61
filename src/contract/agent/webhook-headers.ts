/** Finds the names in the templates `${{ env.NAME }}` of a header's value. */
export const envTemplate = /\$\{\{\s*env\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g;

/** Headers that the sender sets itself: another value would break the request or its content type. */
const ours = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Why a header of `webhooks.headers` can't be sent (section "Webhook configuration"), phrased to follow its name, without
 * its value except for names of variables; undefined if it can.
 *
 * @param prefix the required prefix of variable names.
 */
export function webhookHeaderProblem(name: string, value: string, prefix: string): string | undefined {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return 'is no name that a header can have';
  if (ours.has(name.toLowerCase())) return 'is set by the server itself';
  if (!isHeaderText(value)) return 'holds a line break or a letter that no header may carry';
  for (const [, variable = ''] of value.matchAll(envTemplate)) {
    if (!variable.startsWith(prefix))
      return `names the variable ${variable}, and only names that begin with ${prefix} may stand there (webhooks.env_prefix)`;
  }
  if (value.replace(envTemplate, '').includes('${{')) return 'holds a template other than ${{ env.NAME }}';
  return undefined;
}

/** Why a header of `webhooks.headers` duplicates another one, phrased to follow its name; undefined if it doesn't. */
export function duplicateNameProblem(name: string, all: readonly string[]): string | undefined {
  const duplicateNames = all.filter((other) => other !== name && other.toLowerCase() === name.toLowerCase());
  if (duplicateNames.length === 0) return undefined;
  return `is the same header as ${duplicateNames.join(' and ')}, since case does not count in their names: write it once`;
}

/** Whether a text can be the value of a header. */
export const isHeaderText = (text: string): boolean => /^[\t\x20-\x7e]*$/.test(text);
