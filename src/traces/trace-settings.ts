/** How long traces are kept. */
export interface TraceRetention {
  /** Traces that began longer ago are removed. */
  readonly maxAgeDays: number
  /** Past so many bytes of a project's traces, the oldest are removed. */
  readonly maxBytes: number
}

/** Something about traces that an operator should know of; requests go on. */
export interface TraceTrouble {
  /** The file of the project's traces, or what their place in a database is called. */
  readonly file: string
  /** A sentence. */
  readonly message: string
}

/** How traces are recorded, kept and asked for. */
export interface TraceSettings {
  /** Whether spans are recorded; what was recorded before can be read all the same. */
  readonly isRecording: boolean
  readonly retention: TraceRetention
  /** How long a question may take, in milliseconds. */
  readonly queryMs: number
  readonly now: () => Date
  readonly onTrouble: (trouble: TraceTrouble) => void
  /** Throws while the store is gone: threads go by the paths of files, and would make them anew. */
  readonly assertThere?: () => void
}
