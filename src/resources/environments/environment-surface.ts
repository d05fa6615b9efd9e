import type { Surface } from '../surface.ts'
import { environmentFamily } from './environment-family.ts'

/** The surface over environments (interface 9.1). */
export const environmentSurface: Surface = {
  path: 'environments',
  singular: 'environment',
  plural: 'environments',
  family: environmentFamily,
  fixedFlags: {},
  readFlags: [],
  isDeployable: false,
  hasCatalog: false,
  payload: 'document',
  example: {
    references: {
      'support-bot.revision': {
        application: { slug: 'support-bot' },
        application_revision: { slug: 'support-bot', version: 3 },
      },
    },
  },
}
