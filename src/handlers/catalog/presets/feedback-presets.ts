import { closedObject } from '../../../resources/workflows/schemas/object-schema.ts'
import type { CatalogPreset } from '../catalog-template.ts'

/** Forms that feedback is given in. */
export const feedbackPresets: readonly CatalogPreset[] = [
  {
    key: 'quality-rating',
    name: 'Quality Rating',
    description: 'Thumbs up or thumbs down.',
    categories: [],
    schemas: {
      outputs: closedObject(
        {
          approved: { type: 'boolean', title: 'Approved', description: 'Whether the output is good enough.' },
        },
        ['approved'],
      ),
    },
  },
]
