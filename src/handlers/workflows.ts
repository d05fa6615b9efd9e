import { HandlerTable } from '../resources/workflows/workflow-data.ts'
import { workflowFamilyOf } from '../resources/workflows/workflow-family.ts'
import { workflowSurfacesOf } from '../resources/workflows/workflow-surfaces.ts'
import { handlerDefinitions } from './built-in-handlers.ts'

/** The handlers of this service, as workflows know them. */
export const handlerTable = new HandlerTable(handlerDefinitions)

/** Workflows, and so applications, evaluators and snippets, whose handlers are those of this service. */
export const workflowFamily = workflowFamilyOf(handlerTable)

/** The three surfaces over them. */
export const workflowSurfaces = workflowSurfacesOf(workflowFamily)
