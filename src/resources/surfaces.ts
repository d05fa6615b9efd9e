import type { Surface } from './surface.ts'
import { workflowSurfaces } from './workflows/workflow-surfaces.ts'

/** Every surface of the service (interface 2, 4). */
export const surfaces: readonly Surface[] = [...workflowSurfaces]
