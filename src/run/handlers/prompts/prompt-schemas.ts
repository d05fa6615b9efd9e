import type { PlainObject } from '../../../base/json.ts'
import { DRAFT_2020_12, openObject } from '../../../registry/workflows.ts'

/** The parameter or input that is a list of messages. */
export const messageList: PlainObject = { type: 'array', 'x-svc-type-ref': 'messages' }

/** An answer that is one message. */
export const oneMessage: PlainObject = { $schema: DRAFT_2020_12, type: 'object', 'x-svc-type-ref': 'message' }

/**
 * The schema of a prompt's parameters with a default prompt, which is committed to the user's repository and
 * must suit any use.
 */
export function promptParameters(...more: readonly PlainObject[]): PlainObject {
  const prompt = {
    type: 'object',
    'x-svc-type-ref': 'prompt-template',
    default: {
      messages: [{ role: 'system', content: 'You are a helpful assistant.' }, ...more],
      template_format: 'mustache',
      input_keys: null,
      llm_config: { model: 'gpt-4o-mini' },
    },
  }
  return openObject({ prompt })
}
