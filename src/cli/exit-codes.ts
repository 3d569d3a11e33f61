/** The exit codes: 0 only if the outcome passes, 2 if the input is invalid and nothing was tried. */
export const exitCodes = { passes: 0, fails: 1, wrongUsage: 2 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
