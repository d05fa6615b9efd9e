import type { Surface } from '../surface.ts'
import { workflowFamily } from './workflow-family.ts'

const common = {
  family: workflowFamily,
  fixedFlags: {},
  readFlags: [],
  isDeployable: true,
  hasCatalog: true,
  payload: 'document',
  example: { parameters: { prompt: { messages: [{ role: 'system', content: 'Be brief.' }] } } },
} as const

/** The three surfaces over workflows (interface 2.2, ruling 4); snippets have none of their own. */
export const workflowSurfaces: readonly Surface[] = [
  { ...common, path: 'workflows', singular: 'workflow', plural: 'workflows' },
  {
    ...common,
    path: 'applications',
    singular: 'application',
    plural: 'applications',
    fixedFlags: { is_application: true },
  },
  {
    ...common,
    path: 'evaluators',
    singular: 'evaluator',
    plural: 'evaluators',
    fixedFlags: { is_evaluator: true },
  },
]
