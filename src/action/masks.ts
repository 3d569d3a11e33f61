/** GitHub's advice: a mask of a few letters would hide half of a log. */
const shortest = 4;

/**
 * What has to be masked so that a secret shows nowhere: the value, each of its lines where it has several, and what
 * JSON makes of it. Short values and addresses are left out, for masking them would make the log unreadable.
 */
export function masksOf(values: Iterable<string>): string[] {
  const masks = new Set<string>();
  for (const value of values) {
    const forms = [value, JSON.stringify(value).slice(1, -1), ...value.split(/\r?\n/)];
    for (const form of forms.map((each) => each.trim())) {
      if (form.length >= shortest && !/^https?:\/\/[^@]*$/i.test(form)) masks.add(form);
    }
  }
  return [...masks];
}
