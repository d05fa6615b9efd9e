/** What a server was like at one moment, and what happened since the sample before. */
export interface Sample {
  /** Seconds since the first look. */
  readonly at: number
  /** Bytes of resident memory, and of its JavaScript heap those in use. */
  readonly resident: number
  readonly heap: number
  /** Open file descriptors. */
  readonly descriptors: number
  /** Processes that it started, and theirs. */
  readonly children: number
  /** Processor time of the server itself, as a part of one core. */
  readonly processor: number
  /** Milliseconds by which a turn of the event loop came late: for 99 of 100, and at worst. */
  readonly delayP99: number
  readonly delayMax: number
  readonly requestsPerSecond: number
  /** Milliseconds until the clients had their answers; undefined if nobody asked. */
  readonly p50: number | undefined
  readonly p99: number | undefined
  /** Commits since the server started, of revisions and of records. */
  readonly commits: number
}
