export type { BuiltInSchemas } from './workflows/schemas/built-in.ts'
export { type SchemaCheck, compileSchema } from './workflows/schemas/compile-schema.ts'
export { DRAFT_2020_12, closedObject, openObject } from './workflows/schemas/object-schema.ts'
export { schemaProblems } from './workflows/schemas/schema-problems.ts'
export {
  type HandlerInterface,
  HandlerTable,
  acceptWorkflowData,
  handlerOf,
  isManaged,
  parseHandlerUri,
  presentWorkflow,
} from './workflows/workflow-data.ts'
export { cleanText, filesBesideWorkflow, workflowFamilyOf } from './workflows/workflow-family.ts'
export { workflowSurfacesOf } from './workflows/workflow-surfaces.ts'
export { WORKFLOW_DATA_FILE } from './workflows/workflow-texts.ts'
