/** Exit codes, as `git bisect run` reads them: good, bad, and what stops it. 128 is past what it takes for an answer. */
export const EXIT = { passed: 0, below: 1, cannot: 128 } as const
