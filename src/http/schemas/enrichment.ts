import type { z } from 'zod'
import type { PresentedPayload } from '../../registry/families.ts'
import type { Registry } from '../../registry/registries.ts'

/** Adds data that is not stored to a payload. */
export type Enrich = (registry: Registry, payload: PresentedPayload) => Promise<PresentedPayload>

/** What a retrieve of one surface may return besides stored data. */
export interface Enrichment {
  /** Its members of a request; `enrich` does what they request, if anything. */
  readonly input: z.ZodType<{ readonly enrich?: Enrich | undefined }>
  /** Its boolean members, for the GET form. */
  readonly booleans: readonly string[]
  /** Its members of an answer. */
  readonly output: Readonly<Record<string, z.ZodType>>
}
