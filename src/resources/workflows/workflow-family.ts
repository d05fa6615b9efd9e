import type { Json, JsonObject } from '../../json/json.ts'
import type { AcceptedDocument, DocumentDefinition } from '../../versioning/family/document-family.ts'
import { documentFamily } from '../../versioning/family/document-family.ts'
import type { Family, PayloadContext } from '../../versioning/family/family.ts'
import { threadOf } from '../documents/document-thread.ts'
import { mergeDelta } from '../documents/merge-delta.ts'
import type { HandlerTable } from './handler-table.ts'
import { handlerOf, isManaged } from './handler-uri.ts'
import { acceptWorkflowData } from './workflow-data.ts'
import {
  WORKFLOW_DATA_FILE,
  decodeWorkflow,
  encodeWorkflow,
  filesBesideWorkflow,
  isWorkflowFile,
  textWarnings,
} from './workflow-files.ts'
import { findTexts } from './texts/find-texts.ts'
import { workflowMergeRules } from './merge-rules.ts'
import { writeTexts } from './texts/write-texts.ts'
import { deriveFlags, derivedFlagNames } from './workflow-flags.ts'
import { presentWorkflow } from './workflow-url.ts'

/** What a workflow's payload is: its `data` object, and how it lies in files. */
export function workflowDocumentOf(handlers: HandlerTable): DocumentDefinition {
  return {
    name: 'workflow',
    folder: 'workflows',
    roles: ['is_application', 'is_evaluator', 'is_snippet'],
    aliases: ['application', 'evaluator'],
    mayEmbed: true,
    flagNames: derivedFlagNames,
    ownsFile: isWorkflowFile,
    file: WORKFLOW_DATA_FILE,
    setApart: (target, data, from) => writeTexts(target, data, WORKFLOW_DATA_FILE, from),
    encode: encodeWorkflow,
    decode: decodeWorkflow,
    filesBeside: filesBesideWorkflow,
    fileWarnings: textWarnings,
    thread: threadOf({ name: 'workflow', handlers: handlers.sent }),
    accept: (data, context) => acceptWorkflowData(data, context, handlers),
    applyDelta: (base, delta, context) => applyWorkflowDelta(base, delta, context, handlers),
    flags: deriveFlags,
    texts: findTexts,
    mergeRules: workflowMergeRules,
    present: presentWorkflow,
  }
}

/** Workflows, and so applications, evaluators and snippets, which are workflows by role (interface 1.1, 1.5). */
export function workflowFamilyOf(handlers: HandlerTable): Family {
  return documentFamily(workflowDocumentOf(handlers))
}

/**
 * The data that a delta `{set, remove}` makes of `base` (interface 4.4, legacy form): a null at the
 * top level of `set` unsets that field, a deeper one is stored. Refuses a delta of another shape with `invalid_delta`,
 * and a result that is no valid data with `invalid_request`.
 */
export function applyWorkflowDelta(
  base: JsonObject | undefined,
  delta: Json,
  context: PayloadContext,
  handlers: HandlerTable,
): AcceptedDocument {
  const derived = isManaged(base && handlerOf(base)) ? ['url'] : []
  const result = mergeDelta(base, delta, context, { examplePath: 'parameters.prompt', derived })
  // what is wrong with the result came in with `set`, save for the rare pushed base or half-removed schema
  return acceptWorkflowData(result, { ...context, loc: [...context.loc, 'set'] }, handlers)
}
