import type { Figure } from './figures/figure.ts'

/** How large the bench is, where it may write, and who takes its figures. */
export interface BenchSetting {
  /** A folder of this run alone. */
  readonly folder: string
  /** Rounds that count, of those that alternate. */
  readonly rounds: number
  /** How long a round of requests takes. */
  readonly seconds: number
  /** Artifacts of the large stores, from few to many. */
  readonly artifacts: readonly number[]
  /** Artifacts of the store whose index is measured, with three revisions each. */
  readonly indexed: number
  /** Rows of the large testset, and of the largest. */
  readonly rows: number
  readonly mostRows: number
  /** Rows of the testset that is evaluated. */
  readonly evaluatedRows: number
  /** Sizes of the bodies of hostile shapes, and rows of the testset beside them. */
  readonly turnBytes: readonly number[]
  readonly turnRows: number
  /** Only the routes that hold this text are asked. */
  readonly turnRoutes: string | undefined
  /** How long each setting of `felt` takes. */
  readonly feltSeconds: number
  /** Takes a figure, whose work no other has. */
  readonly add: (figure: Figure) => void
}
