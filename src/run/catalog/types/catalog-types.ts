import type { PlainObject } from '../../../base/json.ts'
import { agentTemplateType, runRequestType, runResultType, skillTemplateType } from './agent-types.ts'
import {
  contextType,
  llmsType,
  llmType,
  loopType,
  modelType,
  permissionsType,
  responseType,
  toolsType,
  toolType,
} from './llm-types.ts'
import { messagesType, messageType } from './message-type.ts'
import { promptTemplateType } from './prompt-template-type.ts'

/**
 * The JSON Schemas that workflow schemas refer to by `x-svc-type-ref`, by name, in catalog order (interface
 * 7.14). Each is self-contained except for `x-svc-type-ref`.
 */
export const catalogTypes: ReadonlyMap<string, PlainObject> = new Map([
  ['message', messageType],
  ['messages', messagesType],
  ['model', modelType],
  ['llm', llmType],
  ['llms', llmsType],
  ['loop', loopType],
  ['tool', toolType],
  ['tools', toolsType],
  ['context', contextType],
  ['permissions', permissionsType],
  ['response', responseType],
  ['prompt-template', promptTemplateType],
  ['agent-template', agentTemplateType],
  ['skill-template', skillTemplateType],
  ['run_request', runRequestType],
  ['run_result', runResultType],
])
