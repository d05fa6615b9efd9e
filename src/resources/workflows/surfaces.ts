import type { Family } from '../../versioning/family.ts'
import { workflowFamily } from './workflow-family.ts'

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
}

/** The three surfaces over workflows (interface 2.2, ruling 4); snippets have none of their own. */
export const workflowSurfaces: readonly Surface[] = [
  { path: 'workflows', singular: 'workflow', plural: 'workflows', family: workflowFamily, fixedFlags: {} },
  {
    path: 'applications',
    singular: 'application',
    plural: 'applications',
    family: workflowFamily,
    fixedFlags: { is_application: true },
  },
  {
    path: 'evaluators',
    singular: 'evaluator',
    plural: 'evaluators',
    family: workflowFamily,
    fixedFlags: { is_evaluator: true },
  },
]
