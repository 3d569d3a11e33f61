/** The level prefix of warnings. */
const warns = /^warning: /;

/**
 * Matches log entries that are errors: failed runs and requests, and failures of this server. The matched part contains
 * no client input except ids, methods and paths (without blanks) and graph names in quotes.
 */
const errs = [
  /^Run \S+ of graph "[^"\n]*" failed: /,
  /^Run \S+ [^"{\n:]*; it ends as (error|timeout)\.$/,
  /^Run \S+ failed with an internal error: /,
  /^[A-Z]+ \S+ failed: /,
  /^[A-Z][a-z' -]* failed: /,
];

/**
 * Whether an entry of this server's log goes to standard error: errors, and warnings with the prefix `warning: `. The
 * agent's own output does not pass through here.
 */
export const isForStandardError = (text: string): boolean =>
  warns.test(text) || errs.some((begins) => begins.test(text)) || saysWhatFailed(text);

/** Matches `The run could not be ended: …` and similar. */
function saysWhatFailed(text: string): boolean {
  const [clause = ''] = text.split(': ', 1);
  return clause !== text && /^[A-Z][\w ,'-]*$/.test(clause) && / (?:can't|could not) be [a-z]/.test(clause);
}
