import type { Family } from '../payload/family.ts'
import type { Surface } from '../families/surface.ts'

const common = {
  fixedFlags: {},
  readFlags: [],
  isDeployable: true,
  hasCatalog: true,
  payload: 'document',
  example: { parameters: { prompt: { messages: [{ role: 'system', content: 'Be brief.' }] } } },
} as const

/** The three surfaces over workflows (interface 1.5, 1.6); snippets have none of their own. */
export function workflowSurfacesOf(family: Family): readonly Surface[] {
  return [
    { ...common, family, path: 'workflows', singular: 'workflow', plural: 'workflows' },
    {
      ...common,
      family,
      path: 'applications',
      singular: 'application',
      plural: 'applications',
      fixedFlags: { is_application: true },
    },
    {
      ...common,
      family,
      path: 'evaluators',
      singular: 'evaluator',
      plural: 'evaluators',
      fixedFlags: { is_evaluator: true },
    },
  ]
}
