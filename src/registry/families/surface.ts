import type { Family } from '../payload/family.ts'

/**
 * One set of routes over a family: `path` is its first segment (`/applications/…`, `/simple/applications/…`),
 * `singular` and `plural` are its envelope keys. `fixedFlags` are the roles that artifacts created here
 * always have and that its lists filter by; if empty, it shows the whole family.
 */
export interface Surface {
  readonly path: string
  readonly singular: string
  readonly plural: string
  readonly family: Family
  readonly fixedFlags: Readonly<Record<string, boolean>>
  /** Flags with which a request selects parts of a payload (`include_testcases`). */
  readonly readFlags: readonly string[]
  /** Whether revisions are deployed to environments under this surface's name. */
  readonly isDeployable: boolean
  /** Whether its artifacts can be made from catalog templates. */
  readonly hasCatalog: boolean
  /** The kind of payload: one JSON document, or rows, which a windowing can page. */
  readonly payload: 'document' | 'rows'
  /** An example payload in a request, for the documentation. */
  readonly example: object
}
