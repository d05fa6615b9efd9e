import type { Json, JsonObject } from '../json/json.ts'
import { FALLBACK_POLICIES, type FallbackPolicy } from '../models/with-fallbacks.ts'
import { RETRY_POLICIES, type RetrySettings } from '../models/with-retries.ts'
import { Fields } from './fields.ts'
import { type LlmConfig, MOST_MODELS, readLlmConfig } from './llm-config.ts'
import { readMessages } from './prompt-messages.ts'
import { TEMPLATE_FORMATS, type TemplateFormat } from './templates/template-format.ts'

/** A prompt as `parameters.prompt` has it (interface 7.9), not rendered yet. */
export interface Prompt {
  readonly messages: readonly JsonObject[]
  readonly templateFormat: TemplateFormat
  /** What the inputs must have; undefined when nothing is said. */
  readonly inputKeys: readonly string[] | undefined
  readonly llmConfig: LlmConfig
  /** Tried after `llmConfig`, in this order, as far as the policy allows. */
  readonly fallbackConfigs: readonly LlmConfig[]
  readonly fallbackPolicy: FallbackPolicy
  readonly retries: RetrySettings
}

/**
 * Reads a prompt. Unknown keys are ignored at every level; `system_prompt` and `user_prompt` make the messages where there are none.
 * Throws a `PromptProblem` whose path begins with `path`.
 */
export function readPrompt(value: Json | undefined, path = 'prompt'): Prompt {
  const fields = new Fields(value, path)
  return {
    messages: messagesOf(fields),
    templateFormat: fields.choice('template_format', TEMPLATE_FORMATS) ?? 'curly',
    inputKeys: inputKeysOf(fields),
    llmConfig: readLlmConfig(fields.json('llm_config'), fields.pathOf('llm_config')),
    fallbackConfigs: (fields.list('fallback_configs', MOST_MODELS) ?? []).map((config, index) =>
      readLlmConfig(config, `${fields.pathOf('fallback_configs')}[${index}]`),
    ),
    fallbackPolicy: fields.choice('fallback_policy', FALLBACK_POLICIES) ?? 'off',
    retries: retriesOf(fields),
  }
}

function messagesOf(fields: Fields): readonly JsonObject[] {
  const messages = fields.list('messages')
  const system = fields.text('system_prompt') ?? ''
  const user = fields.text('user_prompt') ?? ''
  if (messages) return readMessages(messages, fields.pathOf('messages'))
  return [
    { role: 'system', content: system },
    { role: 'user', content: user },
  ]
}

function inputKeysOf(fields: Fields): readonly string[] | undefined {
  return fields
    .list('input_keys')
    ?.map((key) => (typeof key === 'string' ? key : fields.refuse('input_keys', 'list[str]')))
}

/** Contract/handlers 3.5: with a policy one retry after a second, unless the config says otherwise; without one, none. */
function retriesOf(fields: Fields): RetrySettings {
  const policy = fields.choice('retry_policy', RETRY_POLICIES) ?? 'off'
  const config = new Fields(fields.object('retry_config') ?? {}, fields.pathOf('retry_config'))
  const maxRetries = config.whole('max_retries', 0, 5)
  const baseDelayMs = config.number('base_delay', 100, 1000) ?? 1000
  return { policy, maxRetries: policy === 'off' ? 0 : (maxRetries ?? 1), baseDelayMs }
}
