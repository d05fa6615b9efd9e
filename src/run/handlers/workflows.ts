import { HandlerTable, workflowFamilyOf, workflowSurfacesOf } from '../../registry/workflows.ts'
import { handlerDefinitions } from './built-in-handlers.ts'

export const handlerTable = new HandlerTable(handlerDefinitions)

/** The family of workflows (and applications, evaluators and snippets), with the handlers of this service. */
export const workflowFamily = workflowFamilyOf(handlerTable)

/** The three surfaces over workflows. */
export const workflowSurfaces = workflowSurfacesOf(workflowFamily)
