/** How often a cache had what was asked of it, and how often not. */
export interface Lookups {
  hits: number
  misses: number
}

/**
 * What this process has done since it started, for `GET /metrics`. Every room may count here what it does: adding one to a number is
 * all that it costs. Nothing reads these to decide anything.
 */
export const counts = {
  /** Commits that are on the disk: revisions, and records of what may change. */
  commits: 0,
  /** Writes that reached the disk, and in how many rounds of packs, journal and refs they did together. */
  writes: 0,
  writeRounds: 0,
  /** Writes that wait for those before them in the same repository: the one number here that also goes down. */
  waitingWrites: 0,
  pushes: 0,
  /** Rounds of upkeep through all repositories, and the repositories that were tidied up. */
  upkeepRounds: 0,
  tidied: 0,
  lookups: {
    /** Answers that were written before, whole. */
    answers: none(),
    /** Decoded revisions. */
    revisions: none(),
    /** Objects that this process wrote lately; others are read from the disk. */
    objects: none(),
  },
}

function none(): Lookups {
  return { hits: 0, misses: 0 }
}
