import type { DocumentDefinition } from '../../versioning/family/document-family.ts'
import { documentFamily } from '../../versioning/family/document-family.ts'
import { acceptWorkflowData } from './workflow-data.ts'
import { applyWorkflowDelta } from './workflow-delta.ts'
import { DATA_FILE, decodeWorkflow, encodeWorkflow, isWorkflowFile } from './workflow-files.ts'
import { deriveFlags, derivedFlagNames } from './workflow-flags.ts'
import { presentWorkflow } from './workflow-url.ts'

/** What a workflow's payload is: its `data` object, and how it lies in files. */
export const workflowDocument: DocumentDefinition = {
  name: 'workflow',
  folder: 'workflows',
  roles: ['is_application', 'is_evaluator', 'is_snippet'],
  aliases: ['application', 'evaluator'],
  mayEmbed: true,
  flagNames: derivedFlagNames,
  ownsFile: isWorkflowFile,
  file: DATA_FILE,
  encode: encodeWorkflow,
  decode: decodeWorkflow,
  accept: acceptWorkflowData,
  applyDelta: applyWorkflowDelta,
  flags: deriveFlags,
  present: presentWorkflow,
}

/** Workflows, and so applications, evaluators and snippets, which are workflows by role (interface 1, 2.2). */
export const workflowFamily = documentFamily(workflowDocument)
