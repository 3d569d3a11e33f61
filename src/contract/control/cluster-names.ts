import * as z from 'zod';

// The rules of a cluster for names: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/

const subdomain = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;
const maxSubdomainLength = 253;
const isSubdomain = (text: string): boolean => text.length <= maxSubdomainLength && subdomain.test(text);

/** The name of an object in a cluster, such as a service account or a secret. */
export const objectName = z
  .string()
  .min(1)
  .refine(isSubdomain, {
    error: `must be a DNS subdomain: at most ${maxSubdomainLength} lower-case letters, digits, hyphens and dots, with a letter or a digit at either end of each part`,
  });

/** The name of an entry of a secret. */
export const secretKey = z
  .string()
  .min(1)
  .regex(
    /^(?!\.$|\.\.)[-._a-zA-Z0-9]{1,253}$/,
    'must have at most 253 letters, digits, hyphens, underscores and dots, and neither be . nor begin with ..',
  );

const labelText = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
const isLabelKey = (key: string): boolean => {
  const [name = '', prefix, ...more] = key.split('/').reverse();
  return more.length === 0 && labelText.test(name) && (prefix === undefined || isSubdomain(prefix));
};
const labelRule = 'at most 63 letters, digits, hyphens, underscores and dots, with a letter or a digit at either end';

const recordWithKeys = (kind: string) =>
  z.record(z.string(), z.string()).superRefine((entries, context) => {
    for (const key of Object.keys(entries).filter((each) => !isLabelKey(each))) {
      const message = `is not a key of ${kind}: it must have ${labelRule}, after a DNS subdomain and a slash if it has a prefix`;
      context.addIssue({ code: 'custom', path: [key], message });
    }
  });

export const annotations = recordWithKeys('an annotation');
export const labels = recordWithKeys('a label').superRefine((entries, context) => {
  for (const [key, value] of Object.entries(entries)) {
    if (value === '' || labelText.test(value)) continue;
    context.addIssue({ code: 'custom', path: [key], message: `must be empty or have ${labelRule}` });
  }
});
