import type { z } from 'zod'
import type { PresentedPayload } from '../../versioning/family/family.ts'
import type { Registry } from '../../versioning/registry.ts'

/** Adds to a payload what is not stored in it. */
export type Enrich = (registry: Registry, payload: PresentedPayload) => Promise<PresentedPayload>

/** What a retrieve of one surface may be asked to answer beside what is stored. */
export interface Enrichment {
  /** Its members of a request; `enrich` is what they ask for, if anything. */
  readonly input: z.ZodType<{ readonly enrich?: Enrich | undefined }>
  /** Those of its members that are `true` or `false`, for the GET form. */
  readonly booleans: readonly string[]
  /** Its members of an answer. */
  readonly output: Readonly<Record<string, z.ZodType>>
}
