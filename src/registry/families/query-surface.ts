import type { Surface } from './surface.ts'
import { queryFamily } from './query-family.ts'

/** The surface over queries (interface 13.4). */
export const querySurface: Surface = {
  path: 'queries',
  singular: 'query',
  plural: 'queries',
  family: queryFamily,
  fixedFlags: {},
  readFlags: [],
  isDeployable: false,
  hasCatalog: false,
  payload: 'document',
  example: {
    filtering: {
      operator: 'and',
      conditions: [
        { field: 'attributes', key: 'svc.type.trace', operator: 'is', value: 'invocation' },
        { field: 'span_name', operator: 'contains', value: 'support' },
      ],
    },
    windowing: { limit: 50, order: 'descending' },
  },
}
