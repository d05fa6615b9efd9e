/**
 * How long, for SQL, the journal tells what happened, a pack waits for somebody to name it, and one that the journal may name is left as it is.
 */
export const JOURNAL_KEPT = "interval '24 hours'"
