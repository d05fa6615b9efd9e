import type { Members, ModelDelta } from './state/model-data.ts'
import type { ModelFilter, QueryLevel } from './state/model-query.ts'
import type { SurfaceName } from './state/model-records.ts'
import type { ModelHeader } from './state/model-state.ts'

/** A number that picks one of whatever there is when the step runs, so that a shrunk history still makes sense. */
export type Pick = number

/** A payload as JSON text: `parameters` must come back letter for letter. */
export interface PayloadText {
  readonly text: string
  readonly parameters: string | undefined
}

/** How one reference is written, about the revision that its step is about or (`stray`) another one. */
export interface ReferenceStep {
  readonly by: 'id' | 'slug' | 'slug and version' | 'version' | 'nothing'
  readonly stray: boolean
  readonly pick: Pick
}

export interface ReferencesStep {
  readonly about: Pick
  readonly artifact: ReferenceStep | undefined
  readonly variant: ReferenceStep | undefined
  readonly revision: ReferenceStep | undefined
}

export interface WindowingStep {
  readonly limit: number | undefined
  readonly order: 'ascending' | 'descending' | undefined
  readonly next: Pick | undefined
  readonly newest: Pick | undefined
  readonly oldest: Pick | undefined
}

/** A filter; `ofRevision` is what only revisions have (and, of its flags, flat records), so that elsewhere it is refused. */
export type FilterStep = ModelFilter & {
  readonly ofRevision?: {
    readonly message?: string
    readonly author?: 'own' | 'others'
    /** The date of one of the revisions. */
    readonly date?: Pick
    readonly flags?: Readonly<Record<string, boolean>>
  }
}

/** Fields of an edit: null clears (interface 4.23). */
export interface EditFields {
  readonly name?: string | null
  readonly description?: string | null
  readonly tags?: Members | null
  readonly meta?: Members | null
  readonly flags?: Readonly<Record<string, boolean>> | null
}

export interface CreateStep {
  readonly kind: 'create'
  readonly simple: boolean
  readonly slug: string | undefined
  readonly header: ModelHeader
  readonly flags: Readonly<Record<string, boolean>> | undefined
  readonly data: PayloadText | undefined
  readonly message: string | undefined
}

export interface VariantStep {
  readonly kind: 'variant'
  readonly pick: Pick
  readonly slug: string | undefined
  readonly header: ModelHeader
}

export interface ForkStep {
  readonly kind: 'fork'
  readonly references: ReferencesStep
  readonly slug: string | undefined
  readonly header: ModelHeader
  /** Through `/variants/fork`, which takes the keys of any surface. */
  readonly shared: boolean
}

export interface CommitStep {
  readonly kind: 'commit'
  readonly pick: Pick
  readonly payload: PayloadText | ModelDelta | 'none' | 'both'
  readonly message: string | undefined
  readonly header: ModelHeader
  readonly slug: string | undefined
  readonly base: 'none' | 'latest' | 'other' | 'match latest' | 'match other' | 'match any'
  /** Through `POST …/revisions/`, which makes only a first revision without payload (interface 4.2). */
  readonly first: boolean
}

export interface ArchiveStep {
  readonly kind: 'archive'
  readonly level: QueryLevel
  readonly pick: Pick
  readonly undo: boolean
}

export interface EditStep {
  readonly kind: 'edit'
  readonly level: 'artifact' | 'variant' | 'flat'
  readonly pick: Pick
  readonly edit: EditFields
  /** Only at the flat level. */
  readonly data: PayloadText | undefined
}

export interface GetStep {
  readonly kind: 'get'
  readonly level: QueryLevel
  readonly pick: Pick
}

export interface RetrieveStep {
  readonly kind: 'retrieve'
  readonly references: ReferencesStep
  readonly method: 'GET' | 'POST'
}

export interface LogStep {
  readonly kind: 'log'
  readonly of: 'artifact' | 'variant' | 'revision'
  readonly pick: Pick
  readonly depth: number | undefined
  readonly includeData: boolean | undefined
  readonly includeArchived: boolean | undefined
  readonly windowing: WindowingStep | undefined
}

export interface QueryStep {
  readonly kind: 'query'
  readonly level: QueryLevel
  readonly pick: Pick
  readonly filter: FilterStep | undefined
  readonly artifacts: readonly ReferenceStep[] | undefined
  readonly variants: readonly ReferenceStep[] | undefined
  readonly revisions: readonly ReferenceStep[] | undefined
  readonly includeArchived: boolean | undefined
  readonly windowing: WindowingStep | undefined
  /** As much as can be in the query string (interface 2.15). */
  readonly inUrl: boolean
}

export type Action =
  | CreateStep
  | VariantStep
  | ForkStep
  | CommitStep
  | ArchiveStep
  | EditStep
  | GetStep
  | RetrieveStep
  | LogStep
  | QueryStep

/** One request of a history, on a surface, `wait` milliseconds after the one before. */
export type Step = Action & {
  readonly surface: SurfaceName
  readonly wait: number
  /** Which of the servers over the store is asked. */
  readonly server: Pick
  /** That server is stopped and started before it is asked. */
  readonly restart: boolean
  /** What the git program does to a repository before, where there is one on a disk. */
  readonly upkeep: Upkeep | undefined
}

/** What somebody's git may do to a repository while servers have it open; none of it changes an answer. */
export const UPKEEP = [
  'gc --quiet',
  'repack -a -d -f -q --depth=50',
  'pack-refs --all',
  'commit-graph write --reachable',
] as const

export type Upkeep = (typeof UPKEEP)[number]
