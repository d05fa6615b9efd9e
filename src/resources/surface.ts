import type { Family } from '../versioning/family/family.ts'

/**
 * One set of routes over a family: `path` is its first segment (`/applications/…`, `/simple/applications/…`),
 * `singular` and `plural` its envelope keys. `fixedFlags` are the roles that an artifact created here always has and
 * that its lists select by; none means the whole family.
 */
export interface Surface {
  readonly path: string
  readonly singular: string
  readonly plural: string
  readonly family: Family
  readonly fixedFlags: Readonly<Record<string, boolean>>
  /** Flags by which a request says what of a payload it wants to see (`include_testcases`). */
  readonly readFlags: readonly string[]
  /** Whether revisions are deployed to environments under this surface's name. */
  readonly isDeployable: boolean
  /** Whether its artifacts can be made from templates of the catalog. */
  readonly hasCatalog: boolean
  /** What a payload is: one JSON document, or rows, which may be asked for in parts by a windowing. */
  readonly payload: 'document' | 'rows'
  /** A payload as a request may send it, for the documentation. */
  readonly example: object
}
