/** The hits and misses of a cache. */
export interface Lookups {
  hits: number
  misses: number
}

/**
 * Counters of this process since its start, for `GET /metrics`. Any module may increment them, which costs
 * only an addition. Nothing bases decisions on them.
 */
export const counts = {
  /** Commits on the disk: revisions, and records of artifacts' states. */
  commits: 0,
  /** Writes that reached the disk, and the shared rounds of packs, journal and refs they took. */
  writes: 0,
  writeRounds: 0,
  /** Writes that wait for earlier ones in the same repository; the only value that also decreases. */
  waitingWrites: 0,
  pushes: 0,
  /** Maintenance rounds through all repositories, and the repositories cleaned up. */
  upkeepRounds: 0,
  tidied: 0,
  lookups: {
    /** Complete cached answers. */
    answers: none(),
    /** Decoded revisions. */
    revisions: none(),
    /** Objects that this process wrote recently; others are read from the disk. */
    objects: none(),
  },
}

function none(): Lookups {
  return { hits: 0, misses: 0 }
}
